"""One head: the maps are the recorded arrays, the chosen cell is said in words, and where a map is
shown in part the page says so.
"""

import re
from itertools import pairwise

import numpy as np
import pytest

import lessons
from core import RunSpec, run
from core.analyse import headmap
from tests import tiny
from tests.conftest import SMOLLM
from tests.families import WINDOW, build_gguf
from tests.pages import reader

PROMPT = "The capital of France is"
MARY = "When Mary and John went to the store, John gave a drink to"
LINK = {"op": "head", "layer": 23, "head": 4, "prompt": PROMPT}
KINDS = ("weights", "carried", "scores", "masked")


def open_view(**link):
    app = reader.open_page("atlas", **(LINK | link))
    assert not app.exception and not reader.notices(app, "error")
    return app


def put(app, **values):
    """What a callback does: plain values of the session, then the page runs again."""
    for name, value in (values | {"moved": True}).items():
        app.session_state[name] = value
    assert not app.run().exception
    return app


def maps(app):
    """The large maps by kind: what is said of each, and its arrays."""
    large = [each for each in reader.figures(app) if "_layer" in each[0].get("name", "")]
    return {meta["name"].split("_")[0]: (meta, each) for meta, each in large}


def whole(meta, arrays):
    """The cells of a map again, as the browser puts them: NaN where none was sent."""
    if not meta["packed"]:
        return arrays["values"]
    values = np.full(meta["packed"], np.nan, np.float32)
    values[np.tri(*meta["packed"], meta["first_row"], dtype=bool)] = arrays["values"]
    return values


def said(app):
    """The words for the chosen cell, and which cell they are about."""
    (body,) = [part for part in reader.html(app) if "tw-cell-words" in part]
    return reader.plain(body), re.search(r'data-cell="(\d+,\d+)"', body)[1]


@pytest.fixture(scope="module")
def found(smollm):
    trace = run(RunSpec(SMOLLM, prompt=PROMPT))
    return headmap.head_map(trace, 23, 4)


def test_each_kind_of_map_is_what_was_recorded(found):
    app = open_view(lang="zh")
    for kind in KINDS:
        put(app, kind=kind)
        shown = maps(app)
        assert set(shown) == ({"weights", "carried"} if kind == "carried" else {kind})
        for name, (meta, arrays) in shown.items():
            recorded = getattr(found, name)
            seen = np.isfinite(found.masked) | (name == "scores")
            np.testing.assert_array_equal(whole(meta, arrays)[seen], recorded[seen])
            assert not np.isfinite(whole(meta, arrays)[~seen]).any()
            assert meta["selected"] == [4, 3] and meta["column_step"] == 1
        assert reader.verdict(app) == "equal"
    assert app.query_params["kind"] in ("masked", ["masked"])


def test_the_colours_follow_the_scale_and_the_numbers_do_not(found):
    app, weights = open_view(), []
    for scale in (None, "log", "row", "rest"):
        meta, arrays = maps(put(app, scale=scale))["weights"]
        weights.append(arrays["values"].tobytes())
        caption = lessons.loader._table("en", "ui")[f"atlas.head.colours_{scale or 'fixed'}"]
        assert not reader.missing(app, caption)
        assert meta["limit"] == 1 and meta["low"] == (headmap.FAINTEST if scale == "log" else None)
        assert ("row_limits" in arrays) == (scale in ("row", "rest"))
        assert meta["left_out"] == (0 if scale == "rest" else None)
        if scale in ("row", "rest"):
            np.testing.assert_array_equal(arrays["row_limits"], found.fullest(scale))
    assert all(a == b for a, b in pairwise(weights))


def test_the_default_cell_is_said_in_words_and_another_one_is_explained(found):
    app = open_view()
    text, cell = said(app)
    assert cell == "4,3" and text.startswith("␣is (4) looks at ␣France (3): 0.9033, which is 90.3%")
    carried = f"{found.weights[4, 3] * found.lengths[3]:.2f}"
    assert "Place 1 among the 5 tokens" in text and carried in text
    text, cell = said(put(app, pos=2, key_at=2))
    assert cell == "2,2" and text.startswith("␣of (2) looks at itself")
    text, cell = said(put(app, pos=2, key_at=4))
    assert (
        cell == "2,4"
        and "does not see" in text
        and f"{found.scores[2, 4]:.3f}" in text.replace("−", "-")
    )
    assert said(put(app, pos=0, key_at=None))[1] == "0,0"
    assert said(put(app, key_at=99))[1] == "0,0" and app.session_state["key_at"] is None


def test_the_answer_names_what_is_read_most(found):
    app = put(open_view(), reveal=True)
    lesson = lessons.view("en", "atlas.head")
    assert not reader.missing(app, lesson.reveal)
    part = found.carried[4] / found.carried[4].sum()
    shown = reader.text(put(app, kind="carried"))
    assert f"reads most from ␣France (3): {part.max():.1%}" in shown
    here = headmap.row(run(RunSpec(SMOLLM, prompt=PROMPT)), found, 4)
    pair = f"added as vectors{here.written:.4f}what the head wrote, from its recorded mix"
    assert pair + f"{here.recorded:.4f}" in shown.replace("\n", "")
    assert f"add up to {here.added:.2f}" in shown and f"{found.worst_sum:.7f}" in shown


def test_a_head_is_muted_here_and_says_what_it_writes(smollm):
    app = open_view(prompt=MARY, layer=24, head=4)
    assert "writes −1.31 towards the logit of ␣Mary: place 269 of 270" in reader.text(app)
    said = "choose the logarithmic colours"  # of a map that has hardly a colour
    assert said not in reader.text(app)
    assert "In 13 of the 13 rows" in reader.text(put(app, at_layer=26, at_head=1))
    assert said in reader.text(app) and said not in reader.text(put(app, scale="log"))
    put(app, at_layer=24, at_head=4)
    app.button(key="mute_head").click().run()
    assert app.query_params["by"] in ("muted", ["muted"])
    assert "92.3% → 97.8%" in reader.text(app)
    app.button(key="head_to_effect").click().run()
    assert app.session_state["op"] == "effect" and not app.exception


def test_a_sibling_is_one_click_away(smollm):
    app = open_view()
    assert "Query heads 3 to 5 share" in reader.text(app)
    app.button(key="head_shared_5").click().run()
    assert app.session_state["at_head"] == 5 and maps(app)["weights"][0]["name"].endswith("head5")


@pytest.mark.parametrize("door, op", [("score", "attn.scores"), ("softmax", "attn.weights")])
def test_a_door_leads_to_the_same_cell_of_the_block(smollm, door, op):
    app = open_view(pos=3, key_at=1)
    app.button(key=f"head_to_{door}").click().run()
    state = app.session_state
    assert not app.exception and (state["page"], state["op"], state["cell"]) == ("block", op, 1)
    assert (state["at_layer"], state["at_head"], state["pos"]) == (23, 4, 3)


def test_the_head_in_the_text_opens_at_the_same_cell(smollm):
    app = open_view(pos=3, key_at=1)
    app.button(key="head_to_text").click().run()
    assert not app.exception
    state = app.session_state
    assert (state["op"], state["pos"], state["key_at"]) == ("reading", 3, 1)


def test_a_long_text_is_shown_around_the_query_and_the_page_says_so(tmp_path, monkeypatch):
    monkeypatch.setenv("TOKENWALK_MODELS", tiny.build(tmp_path / "long.gguf"))
    own = {"model": "long", "prompt": " the cat" * 280, "layer": 0, "head": 0}
    app = open_view(**own, kind="carried", pos=300)
    n = len(maps(app)["weights"][0]["columns"])
    assert n > 512
    for meta, arrays in maps(app).values():
        rows, first = len(meta["rows"]), meta["first_row"]
        assert rows < n and first <= 300 < first + rows and meta["selected"][0] == 300 - first
        assert arrays["values"].nbytes < 600_000
        values = {"first": first, "last": first + rows - 1, "n": n, "largest": 512}
        note = lessons.text("en", "atlas.head.window", **values)
        assert note in reader.text(app)


def test_a_window_and_a_cap_are_explained(tmp_path, monkeypatch):
    monkeypatch.setenv("TOKENWALK_MODELS", build_gguf(tmp_path / "gemma2.gguf", "gemma2"))
    link = {"model": "gemma2", "prompt": "the cat and the other cat", "layer": 0, "head": 3}
    app = open_view(**link, pos=15, key_at=2, kind="capped")
    text, cell = said(app)
    assert cell == "15,2" and f"no further back than {WINDOW} tokens" in text
    assert np.isfinite(whole(*maps(app)["capped"])).all()
    text, _ = said(put(app, key_at=14, kind="masked"))
    assert "before the cap" in text
    assert np.isfinite(whole(*maps(app)["masked"])[15]).sum() == WINDOW
    assert "capped scores" in reader.text(app)
