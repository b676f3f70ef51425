"""Scores, cap, mask, softmax and mix on the block page: for one position every key by name, with
the numbers of the run; for all positions the map alone.
"""

import os
import re
from html import unescape

import numpy as np
import pytest

import lessons
from core import RunSpec, run
from pages.parts.html import number
from tests.conftest import SMOLLM
from tests.families import build_gguf
from tests.pages import reader

PROMPT = "The capital of France is"
AGAIN = "the cat 🦙\nthe cat the cat the"
LONG = "the cat and the dog " * 6
EACH_LANGUAGE = pytest.mark.parametrize("language", lessons.LANGUAGES)
OPS = ("attn.scores", "attn.masked", "attn.weights", "attn.mix")


def block(op, **link):
    app = reader.open_page("block", **{"op": op, "prompt": PROMPT, "layer": 23, "head": 4} | link)
    assert not app.exception
    verdicts = re.findall(r'data-verdict="(\w+)"', "".join(reader.html(app)))
    checked = not link.get("together")  # the row, and the chosen number
    assert verdicts == ["equal"] * (1 + checked)
    return app


def listed(app) -> dict[int, list[str]]:
    """The rows of the table of keys: the texts of each key's cells."""
    (table,) = [part for part in reader.html(app) if "data-key=" in part]
    rows = re.findall(r'<tr data-key="(\d+)"[^>]*>(.*?)</tr>', table)
    cells = {int(key): re.findall("<td>(.*?)</td>", row) for key, row in rows}
    return {
        key: [unescape(re.sub("<[^>]+>", "", c)).strip() for c in row] for key, row in cells.items()
    }


def marked(app, name) -> list[int]:
    """The keys whose rows have a class."""
    row = r'<tr data-key="(\d+)" tabindex="0" class="([^"]*)"'
    found = re.findall(row, "".join(reader.html(app)))
    return [int(key) for key, classes in found if name in classes.split()]


def says(app, language, key, **values) -> bool:
    """Whether the page shows a text of the figures with these values."""
    return lessons.text(language, f"block.{key}", **values).replace("**", "") in reader.text(app)


@pytest.fixture(scope="module")
def trace(smollm):
    return run(RunSpec(SMOLLM, prompt=PROMPT))


@EACH_LANGUAGE
def test_every_key_is_compared_later_ones_too(trace, language):
    app = block("attn.scores", pos=2, cell=3, lang=language)
    q, k = trace.read("attn.q_rot", 23)[2, 4], trace.read("attn.k_rot", 23)[:, 1]
    dots, rows = k.astype(float) @ q.astype(float), listed(app)
    names = [f"{token} ({n})" for n, token in enumerate(trace.tokens)]
    assert [row[0] for row in rows.values()] == names
    assert [row[1] for row in rows.values()] == ["2", "1", "0", "−1", "−2"]
    assert [row[2] for row in rows.values()] == [number(dot, 3) for dot in dots]
    assert [row[3] for row in rows.values()] == [number(dot / 8, 3) for dot in dots]
    assert marked(app, "tw-faint") == [3, 4] and marked(app, "tw-here") == [3]
    assert says(app, language, "scores.later", n=2)
    assert says(app, language, "scores.shared", head=4, kv_head=1, first=3, last=5)
    sums = {"n": 64, "dot": number(dots[3]), "scale": "0.125", "score": number(dots[3] / 8)}
    assert says(app, language, "scores.sum", **sums)
    (products,) = [c for c in reader.canvases(app) if reader.shown(c) == "query_times_key"]
    assert products["selected"] == [0, int(np.abs(q * k[3]).argmax())]


def test_a_group_of_three_query_heads_reads_one_head(trace):
    assert says(
        block("attn.mix", head=7), "en", "scores.shared", head=7, kv_head=2, first=6, last=8
    )


@EACH_LANGUAGE
def test_the_mask_says_what_is_left(trace, language):
    app = block("attn.masked", pos=1, lang=language)
    scores = trace.read("attn.scores", 23)[4, 1]
    shown = [row[1:3] for row in listed(app).values()]
    after = [number(score, 3) for score in scores[:2]] + ["−∞"] * 3
    assert shown == [[number(s, 3), a] for s, a in zip(scores, after, strict=True)]
    assert marked(app, "tw-faint") == [2, 3, 4]
    assert says(app, language, "mask.later", later=3)
    assert says(app, language, "mask.why_later", distance=3)
    before, masked = [c for c in reader.canvases(app) if c.get("name", "").startswith("attn.")][:2]
    assert before["limit"] == masked["limit"]  # one scale for both


@EACH_LANGUAGE
def test_the_softmax_step_by_step(trace, language):
    app = block("attn.weights", pos=3, lang=language)
    scores = trace.read("attn.scores", 23)[4, 3, :4].astype(float)
    powers = np.exp(scores - scores.max())
    rows = listed(app)
    for key in range(4):
        steps = (number(scores[key], 3), number(scores[key] - scores.max(), 3))
        last = (number(powers[key]), number(powers[key] / powers.sum()))
        assert rows[key][1:5] == [*steps, *last]
    assert rows[4][1:5] == ["−∞", "−∞", "0.0000", "0.0000"]
    assert says(app, language, "softmax.masked", n=1)
    said = {"largest": number(scores.max(), 3), "total": number(powers.sum())}
    assert says(app, language, "softmax.caption", **said)


@pytest.mark.parametrize("layer, head, parked", [(18, 7, True), (23, 4, False)])
def test_a_row_that_parks_on_the_first_token_is_shown_without_it_too(layer, head, parked, smollm):
    app = block("attn.weights", layer=layer, head=head)
    others = [c for c in reader.canvases(app) if reader.shown(c) == "without_first"]
    assert (
        len(others) == parked == (lessons.text("en", "block.softmax.without") in reader.text(app))
    )
    assert not parked or "> 99.9%" in reader.text(app)  # not 100%, which would be all


@EACH_LANGUAGE
def test_the_mix_says_from_whom(trace, language):
    app = block("attn.mix", layer=18, head=7, lang=language)
    weights = trace.read("attn.weights", 18)[7, 4].astype(float)
    values = trace.read("attn.v", 18)[:, 2].astype(float)
    mix = weights @ values
    rows = listed(app)
    assert list(rows) == np.argsort(-weights).tolist()
    for key, (name, weight, _, length, size, along) in rows.items():
        assert name == f"{trace.tokens[key]} ({key})" and weight == number(weights[key])
        norm = np.linalg.norm(values[key])
        assert (length, size) == (number(norm, 3), number(weights[key] * norm, 3))
        share = weights[key] * (values[key] @ mix) / (mix @ mix)
        assert float(along.replace("−", "-").rstrip("%")) == pytest.approx(100 * share, abs=0.051)
    sheets = {reader.shown(c): c for c in reader.canvases(app) if "name" in c}
    for name in ("values", "weight_times_value"):
        assert sheets[name]["rows"] == [f"({key}) {trace.tokens[key]}" for key in rows]
    assert sheets["weight_times_value"]["limit"] == sheets["attn.mix"]["limit"]


def test_tokens_that_come_again_stay_apart(smollm):
    for op in OPS:
        rows = listed(block(op, prompt=AGAIN))
        names = [row[0] for row in rows.values()]
        assert len(names) == len(set(names)) == len(rows) > 8


def test_of_many_keys_the_largest_are_listed_and_the_rest_in_one_line(smollm):
    trace = run(RunSpec(SMOLLM, prompt=LONG))
    weights = trace.read("attn.weights", 23)[4, -1].astype(float)
    n, smallest = len(weights), int(weights.argmin())
    app = block("attn.weights", prompt=LONG, cell=smallest)
    largest = np.argsort(-weights, kind="stable")[:12].tolist()
    assert list(listed(app)) == [*largest, smallest] and marked(app, "tw-here") == [smallest]
    assert says(app, "en", "softmax.rest", n=n - 13)
    others = weights.sum() - weights[[*listed(app)]].sum()
    assert others > 0.01 and number(others) in reader.text(app)
    app.session_state["all_keys"] = app.session_state["moved"] = True
    assert list(listed(app.run())) == list(range(n))
    app.session_state["op"] = "attn.mix"  # there all are listed by size, and few are drawn
    assert list(listed(app.run())) == np.argsort(-weights, kind="stable").tolist()
    (drawn,) = [c for c in reader.canvases(app) if reader.shown(c) == "weight_times_value"]
    assert drawn["rows"][-1] == f"{n - len(drawn['rows']) + 1} others" and len(drawn["rows"]) < 15


@pytest.mark.parametrize("op", OPS)
def test_all_positions_at_once_are_the_map_alone(op, smollm):
    app = block(op, together=1)
    assert "data-key" not in "".join(reader.html(app))
    (shown,) = [c for c in reader.canvases(app) if reader.shown(c) == op]
    assert len(shown["rows"]) == 5


@pytest.mark.parametrize("op", OPS)
def test_a_single_token_looks_at_itself(op, smollm):
    assert list(listed(block(op, prompt="Hi"))) == [0]


def test_a_cap_and_a_window(tmp_path, monkeypatch):
    path = build_gguf(tmp_path / "gemma2.gguf", "gemma2")
    monkeypatch.setenv("TOKENWALK_MODELS", os.fspath(path))
    link = {"model": "gemma2", "prompt": AGAIN, "layer": 0, "head": 3}
    trace = run(RunSpec(path, prompt=AGAIN))
    scores = trace.read("attn.scores", 0)[3, 10].astype(float)
    for key, row in listed(block("attn.softcap", **link, pos=10)).items():
        bent = np.tanh(scores[key] / 5)
        expected = [number(scores[key], 3), number(bent, 3), number(5 * bent, 3)]
        assert [row[1], row[3], row[4]] == expected
    app = block("attn.masked", **link, pos=10, cell=2)
    assert says(app, "en", "mask.outside", window="8", outside=3)
    assert says(app, "en", "mask.why_outside", distance=8) and marked(app, "tw-here") == [2]
    early = [0, 1, 2]  # no query at 10 sees them
    app = block("attn.scores", **link, pos=10)
    assert says(app, "en", "scores.outside", window="8", n=3)
    app.session_state["all_keys"] = app.session_state["moved"] = True
    n = len(trace.ids)
    assert marked(app.run(), "tw-faint") == early + list(range(11, n))
    app = block("attn.mix", **link, pos=10)
    assert sorted(marked(app, "tw-faint")) == early and says(app, "en", "mix.later", n=n - 11)
    (drawn,) = [part for part in reader.html(app) if "data-key=" in part]
    assert drawn.count("tw-share") == 8 + 1  # and one of all together: nothing for a weight of 0
    assert says(block("attn.masked", **link, pos=7), "en", "mask.inside", window="8")


def test_a_hostile_prompt_stays_text(smollm):
    for op in OPS:
        app = block(op, prompt="<b>bold</b> <script>x()</script> **y**")
        assert "<script" not in "".join(reader.html(app))
        assert not any("bold" in said for said in reader.streamlit_texts(app))
