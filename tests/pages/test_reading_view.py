"""In the text: what the figure gets is the recorded map, and the pair that is opened is worked out
again here from the recorded vectors.
"""

import os
import re

import numpy as np
import pytest

import lessons
from core import RunSpec, open_model, run
from pages.parts.html import number
from tests.conftest import SMOLLM
from tests.families import build_gguf
from tests.pages import reader

MARY = "When Mary and John went to the store, John gave a drink to"
LINK = dict(op="reading", prompt=MARY, layer=24, head=4)
EACH_LANGUAGE = pytest.mark.parametrize("language", lessons.LANGUAGES)


def opened(**link):
    app = reader.open_page("atlas", **(LINK | link))
    assert not app.exception and not reader.notices(app, "error")
    assert reader.verdict(app) == "equal"
    return app


def figure(app):
    """What the figure of the text gets: words and arrays."""
    (found,) = [each for each in reader.figures(app) if "whole" in each[0]]
    return found


def texts(key, language="en", /, **values):
    return reader.plain(lessons.text(language, f"atlas.reading.{key}", **values).replace("**", ""))


def listed(app):
    """The table of tokens: position and weight of each row, and the row that is chosen."""
    table = "".join(part for part in reader.html(app) if "data-other=" in part)
    rows = re.findall(r'<tr data-other="(\d+)"([^>]*)>.*?<b><span title="([^"]+)"', table)
    here = [int(at) for at, marks, _ in rows if "tw-here" in marks]
    return {int(at): float(weight) for at, _, weight in rows}, here


@pytest.fixture(scope="module")
def trace(smollm):
    return run(RunSpec(SMOLLM, prompt=MARY))


@pytest.fixture(scope="module")
def weights(trace):
    return trace.read("attn.weights", 24)[4]


@EACH_LANGUAGE
def test_looking_back_shows_the_recorded_row_and_opens_its_strongest_pair(language, trace, weights):
    app = opened(lang=language)
    meta, arrays = figure(app)
    assert (meta["selected"], meta["other"], meta["back"], meta["first"]) == (13, 1, True, True)
    assert meta["tokens"] == list(trace.tokens) and meta["variant"] == "row"
    np.testing.assert_array_equal(arrays["weights"], weights[np.tril_indices(14)])
    rows, here = listed(app)
    largest = np.argsort(-weights[13], kind="stable")[:8]
    assert [*rows] == largest.tolist() and here == [1]
    np.testing.assert_allclose([*rows.values()], weights[13][largest], rtol=1e-8)
    shown = reader.text(app)
    sum_of_row = number(float(weights[13].sum(dtype=float)))
    assert texts("sum_back", language, token="␣to", n=14, sum=sum_of_row) in shown
    pair = dict(query="␣to", query_at=13, key="␣Mary", key_at=1)
    assert texts("opened", language, **pair, weight=number(float(weights[13, 1]))) in shown
    # 14 numbers of the row from the recorded vectors alone
    q = trace.read("attn.q_rot", 24)[13, 4].astype(float)
    k = trace.read("attn.k_rot", 24)[:14, 1].astype(float)
    scores = k @ q / 8
    assert (
        number(scores[1]) in shown and number(float(np.exp(scores - scores.max()).sum())) in shown
    )
    v = trace.read("attn.v", 24)[1, 1].astype(float)
    length = np.sqrt(v @ v)
    assert f"{length:.2f}" in shown and f"{length * weights[13, 1]:.2f}" in shown
    pairs = (q * k[1])[:32] + (q * k[1])[32:]
    fast, slow = number(pairs[:16].sum(), 2), number(pairs[16:].sum(), 2)
    longest = 2 * np.pi * 100_000 ** (15 / 32)
    values = dict(n_fast=16, n_slow=16, fast=fast, slow=slow, longest=f"{longest:,.0f}")
    assert texts("speeds_caption", language, **values) in shown


def test_looking_forward_shows_a_column_and_the_pair_turns_round(weights):
    app = opened(by="forward", pos=3, scale="rest", kind="arcs")
    meta, arrays = figure(app)
    best = 4 + int(np.argmax(weights[4:, 3]))
    assert (meta["selected"], meta["other"], meta["back"], meta["first"]) == (3, best, False, True)
    rows, here = listed(app)
    assert here == [best] and rows[best] == pytest.approx(float(weights[best, 3]), rel=1e-8)
    shown, total = reader.text(app), number(float(weights[3:, 3].sum(dtype=float)))
    assert texts("sum_forward", token="␣John", n=11, sum=total) in shown
    assert f"({best}) looks at ␣John (3)" in shown
    table = next(part for part in reader.html(app) if "data-other=" in part)
    assert table.count("tw-share") == len(rows) > 0  # the rest is no share of 1: no bar
    below = np.tril(weights, -1)
    n = int((below >= 0.05).sum())
    assert len(arrays["pairs"]) == n and texts("arcs_all", n=n, least=0.05) in shown
    # the direction is turned: the other token of the old pair is forgotten
    app.session_state["key_at"] = 9
    app.button_group(key="reading_by").set_value("back").run()
    assert app.session_state["key_at"] is None and figure(app)[0]["back"]
    # the first token is left out of what is looked at, and the page says what it gets
    meta, arrays = figure(app)
    assert meta["first"] is False and not set(arrays["pairs"][:, 1]) & {0}
    said = texts("rest", first="When", weight=number(float(weights[3, 0])))
    assert said in reader.text(app)


def test_a_row_of_the_table_opens_another_pair_and_a_link_keeps_it(weights):
    app = opened(key_at=9)
    assert figure(app)[0]["other"] == 9 and listed(app)[1] == [9]
    assert f"␣John (9) with the weight {number(float(weights[13, 9]))}" in reader.text(app)
    app.session_state["key_at"], app.session_state["moved"] = 2, True
    app.run()
    assert figure(app)[0]["other"] == 2 and app.query_params["key_at"] in ("2", ["2"])
    app.session_state["pos"], app.session_state["moved"] = 1, True  # a key behind the query
    app.run()
    assert app.session_state["key_at"] is None and figure(app)[0]["other"] == 1
    # the way back to a number of this view says its key as a cell
    app.session_state["cell"], app.session_state["moved"] = 0, True
    app.run()
    assert figure(app)[0]["other"] == 0 and app.session_state["key_at"] == 0
    # one key gives more than all of them together: the page says how that can be
    assert texts("fetched_over") not in reader.text(app)
    app.session_state["pos"], app.session_state["moved"] = 4, True
    app.run()
    assert texts("fetched_over") in reader.text(app) and "102.4%" in reader.text(app)


def test_vectors_before_the_rotation_are_shown_where_they_are_asked_for():
    app = opened()
    before = [reader.shown(meta) for meta in reader.canvases(app)]
    app.toggle(key="reading_unturned").set_value(True).run()
    after = [reader.shown(meta) for meta in reader.canvases(app)]
    assert {"attn.q", "attn.k"} == {*after} - {*before}
    assert {"attn.q_rot", "attn.k_rot", "query_times_key", "attn.v"} <= {*before}


@pytest.mark.parametrize(
    "prompt, link",
    [
        ("the", {"by": "forward", "pos": 0}),
        ("<b>the</b>\n🙂 the the", {"by": "back", "mode": "chat"}),
        ("<b>the</b>\n🙂 the the", {"by": "back", "kind": "arcs", "scale": "rest", "key_at": 77}),
        ("a\n\n", {"by": "forward", "kind": "arcs", "scale": "rest", "key_at": 77}),
    ],
)
def test_any_text_in_any_direction(prompt, link):
    app = opened(model="nano", prompt=prompt, layer=0, head=0, **link)
    meta, _ = figure(app)
    assert not any("<b>the" in part for part in reader.html(app))
    assert not lessons.loader.PLACEHOLDER.search(reader.text(app) + str(meta))
    tokenizer = open_model("nano").tokenizer
    ends = [tokenizer.token_bytes(id)[-1:] == b"\n" for id in meta["ids"]]
    assert meta["ends"] == ends


@pytest.mark.parametrize(
    "family, unturned, capped",
    [("gpt2", True, False), ("gemma2", False, True), ("phi3", False, False)],
)
def test_other_families(family, unturned, capped, tmp_path, monkeypatch):
    path = build_gguf(tmp_path / f"{family}.gguf", family)
    monkeypatch.setenv("TOKENWALK_MODELS", os.fspath(path))
    app = opened(model=family, prompt="the cat and the other cat", layer=0, head=3)
    shown, model = reader.text(app), open_model(path)
    assert (texts("no_speeds") in shown) == unturned
    assert (texts("step_capped") in shown) == capped
    still = model.config.head_dim - (0 if unturned else model.config.ropes[0].dim)
    assert ("do not turn add" in shown) == (not unturned and still > 0)
    assert figure(app)[0]["window"] == model.config.windows[0]


def test_the_arrays_to_take_along(trace, weights):
    from core.analyse.looking import looking
    from pages.views.atlas.reading import _data

    found = _data(trace, looking(trace, 24, 4), 13, (24, 4, 13, 1))
    assert found["weights_back"].tolist() == weights[13].tolist()
    assert found["weights_forward"].tolist() == [weights[13, 13]]
    assert found["positions_back"] == [*range(14)] and found["positions_forward"] == [13]
    score = float((found["q"].astype(float) * found["k"]).sum()) / 8
    assert score == pytest.approx(float(found["score"]), rel=1e-5)
    assert found["weight"] == weights[13, 1] and found["v"].shape == (64,)
