"""Positions, distance: the numbers on the page are those of the run, turned again here by hand."""

import base64
import json
import math
import os
import re

import numpy as np
import pytest

import lessons
from core import RunSpec, open_model, run
from core.analyse.distance import falling_heads
from pages.parts.html import number
from tests.families import CLASSES, SCALINGS, build_gguf
from tests.pages import reader

MARY = "When Mary and John went to the store, John gave a drink to"
LINK = dict(op="distance", prompt=MARY, layer=24, head=4)
TINY = "the cat and the other cat"


def texts(key, language="en"):
    return lessons.text(language, f"positions.distance.{key}")


def turned_score(q, k, at, key_at, theta, scale):
    """The score of two vectors at two positions, number by number."""
    n, total = len(q) // 2, 0.0
    for i in range(n):
        angle = (at - key_at) * theta ** (-i / n)
        same, cross = q[i] * k[i] + q[i + n] * k[i + n], q[i] * k[i + n] - q[i + n] * k[i]
        total += same * math.cos(angle) + cross * math.sin(angle)
    return total * scale


@pytest.fixture(scope="module")
def mary(smollm):
    trace = run(RunSpec(str(smollm.source.path), prompt=MARY))
    return trace, trace.read("attn.q", 24)[13, 4], trace.read("attn.k", 24)[1, 1]


def sums(app):
    """The lines of the sums: what it is, the number."""
    lines = r"<div><span>(.*?)</span><span>(.*?)</span></div>"
    found = re.findall(lines, "".join(reader.html(app)))
    return [(reader.plain(left), reader.plain(right)) for left, right in found]


def curve(app):
    """Distances and scores of the figure."""
    (chart,) = app.get("plotly_chart")
    line = json.loads(chart.proto.spec)["data"][0]
    return [np.array(_values(line[axis])) for axis in "xy"]


def _values(column):
    """Plotly writes long columns as base64."""
    if isinstance(column, dict):
        return np.frombuffer(base64.b64decode(column["bdata"]), column["dtype"])
    return column


@pytest.mark.parametrize("language", lessons.LANGUAGES)
def test_the_score_of_the_text_is_the_recorded_one(language, mary):
    trace, q, k = mary
    app = reader.open_page("positions", lang=language, **LINK)
    assert not app.exception
    recorded = float(trace.read("attn.scores", 24)[4, 13, 1])
    assert [right for _, right in sums(app)[:2]] == [number(recorded)] * 2
    assert reader.verdict(app) == "equal"
    assert turned_score(q, k, 13, 1, 1e5, 0.125) == pytest.approx(recorded, abs=1e-4)
    distances, scores = curve(app)
    assert distances.tolist() == list(range(33))
    wanted = [turned_score(q, k, d, 0, 1e5, 0.125) for d in distances]
    np.testing.assert_allclose(scores, wanted, atol=1e-5)


def test_both_moved_the_score_stays_one_moved_it_changes(mary):
    _, q, k = mary
    app = reader.open_page("positions", at=212, key_at=200, **LINK)
    assert not app.exception and reader.verdict(app) == "equal"
    assert sums(app)[0] == ("query at 212, key at 200: distance 12", "3.5330")
    assert reader.plain(texts("same")) in reader.text(app)
    app = reader.open_page("positions", at=212, key_at=209, **LINK)
    assert reader.verdict(app) is None
    wanted = turned_score(q, k, 212, 209, 1e5, 0.125)
    assert sums(app)[0] == ("query at 212, key at 209: distance 3", number(wanted))
    assert sums(app)[1][1] == "3.5330"
    change = float(sums(app)[2][1].replace("−", "-"))
    assert change == pytest.approx(wanted - 3.5330, abs=2e-4)
    assert reader.plain(texts("other")) in reader.text(app)


def test_the_sliders_move_both_or_one():
    app = reader.open_page("positions", **LINK)
    assert app.slider(key="distance_both").value == 13 and app.slider(key="distance_one").value == 1
    app.slider(key="distance_both").set_value(60).run()
    assert (app.session_state["at"], app.session_state["key_at"]) == (60, 48)
    assert app.session_state["cell"] == 1  # the key that is moved stays the key in other heads
    assert sums(app)[0] == ("query at 60, key at 48: distance 12", "3.5330")
    app.slider(key="distance_one").set_value(60).run()
    assert (app.session_state["at"], app.session_state["key_at"]) == (60, 60)
    assert app.query_params["key_at"] in ("60", ["60"])
    app.button(key="distance_back").click().run()
    assert app.session_state["at"] is None and sums(app)[0][0].startswith("query at 13, key at 1:")


def test_the_score_stands_at_its_point_on_the_curve(mary):
    _, q, k = mary
    for at, key_at in ((13, 1), (60, 48), (60, 40)):
        wanted = number(turned_score(q, k, at, key_at, 1e5, 0.125))
        app = reader.open_page("positions", **LINK | dict(at=at, key_at=key_at))
        assert f"distance {at - key_at}: {wanted}" in _figure(app)


def test_the_other_heads_of_the_layer_are_drawn_when_asked_for(mary):
    trace, *_ = mary
    app = reader.open_page("positions", **LINK)
    assert "head 3" not in _figure(app)
    app.toggle(key="distance_others").set_value(True).run()
    drawn = json.loads(_figure(app))["data"]
    assert not app.exception and len(drawn) == 2 + 8  # the curve, its point, eight other heads
    for head, line in zip([0, 1, 2, 3, 5, 6, 7, 8], drawn[2:], strict=True):
        assert line["hovertemplate"].startswith(f"head {head}<br>")
        q, k = trace.read("attn.q", 24)[13, head], trace.read("attn.k", 24)[1, head // 3]
        wanted = [turned_score(q, k, d, 0, 1e5, 0.125) for d in range(33)]
        np.testing.assert_allclose(_values(line["y"]), wanted, atol=1e-5)


def test_the_pairs_add_up_to_the_score(mary):
    app = reader.open_page("positions", at=20, key_at=17, **LINK)
    rest, total = (float(right.replace("−", "-")) for _, right in sums(app)[-2:])
    table = next(part for part in reader.html(app) if "<table" in part)
    rows = [re.findall(r"<td>(.*?)</td>", row) for row in re.findall(r"<tr>(.*?)</tr>", table)][1:]
    rows = [[float(cell.replace("−", "-").replace(",", "")) for cell in row] for row in rows]
    for pair, wavelength, size, cosine, value, _ in rows:
        assert wavelength == pytest.approx(2 * math.pi * 1e5 ** (pair / 32), abs=0.6)
        assert size * cosine == pytest.approx(value, abs=0.01)
    assert np.cumsum([row[4] for row in rows]) == pytest.approx([r[5] for r in rows], abs=0.01)
    assert rows[-1][5] + rest == pytest.approx(total, abs=0.002)
    assert total == pytest.approx(4.355, abs=1e-3)
    heads = ("col_size", "col_cosine", "col_value")
    assert texts("product") in reader.text(app)
    assert texts("product") == "{} {} = {}".format(*map(texts, heads))


@pytest.mark.parametrize("language", lessons.LANGUAGES)
def test_the_answer_counts_the_heads(language):
    app = reader.open_page("positions", lang=language, **LINK)
    assert "270" not in reader.text(app)
    app.session_state["reveal"] = True
    shown = reader.text(app.run())
    assert re.search(r"\b30\b", shown) and "270" in shown and "4.3550" in shown


def test_a_falling_head_is_called_one(mary):
    layer, head = next(place for place, falls in falling_heads(mary[0], 13, 1).items() if falls)
    app = reader.open_page("positions", **LINK | dict(layer=layer, head=head, cell=1))
    assert "it falls with every step" in reader.text(app)
    assert "does not fall with every step" in reader.text(reader.open_page("positions", **LINK))


def test_the_key_may_be_any_token_up_to_the_query():
    app = reader.open_page("positions", **LINK | dict(pos=5, cell=5))
    assert "distance 0" in sums(app)[0][0] and reader.verdict(app) == "equal"
    strips = [meta for meta in reader.canvases(app) if "tokens" in meta]
    assert [len(strip["tokens"]) for strip in strips] == [14, 6]
    assert [strip["selected"] for strip in strips] == [5, 5]


@pytest.mark.parametrize(
    "link",
    [dict(cell=9, pos=4), dict(at=3), dict(at=3, key_at=9), dict(at=99999, key_at=2), dict(cell=77)]
    + [dict(at="x", key_at="-1"), dict(at=256, key_at=250)],
)
def test_what_cannot_be_falls_back_to_the_text(link):
    app = reader.open_page("positions", **LINK | link)
    assert not app.exception and reader.verdict(app) == "equal"
    assert app.session_state["at"] is None and app.session_state["cell"] is None
    place = f"query at {link.get('pos', 13)}, "
    assert sums(app)[0][0].startswith(place)


@pytest.mark.parametrize("prompt", ["a", "🙂", "one\ntwo", "no no no no", "<b>$x$</b> [[n]] *y*"])
def test_any_text(prompt, smollm):
    app = reader.open_page("positions", **LINK | dict(prompt=prompt))
    assert not app.exception and not reader.notices(app) and reader.verdict(app) == "equal"
    assert "[[" not in reader.text(app).replace("[[n", "")


def test_nano():
    nano = open_model("nano")
    app = reader.open_page("positions", model="nano", op="distance", prompt="The capital of France")
    trace = run(RunSpec("nano", prompt="The capital of France"))
    n = len(trace.ids)
    assert reader.verdict(app) == "equal" and f"query at {n - 1}" in sums(app)[0][0]
    assert app.slider(key="distance_both").max == nano.config.context - 1


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    folder = tmp_path_factory.mktemp("families")
    found = {family: build_gguf(folder / f"{family}.gguf", family) for family in CLASSES}
    yarn = build_gguf(folder / "yarn.gguf", "llama", **SCALINGS["yarn"])
    return found | {"yarn": yarn}


@pytest.fixture
def opened(paths, monkeypatch):
    monkeypatch.setenv("TOKENWALK_MODELS", os.pathsep.join(paths.values()))

    def page(family, **link):
        link = dict(op="distance", prompt=TINY) | link
        return reader.open_page("positions", model=family, **link)

    return page


@pytest.mark.parametrize("family", [*CLASSES, "yarn"])
@pytest.mark.parametrize("layer", [0, 3])
def test_every_family(family, layer, opened):
    app = opened(family, layer=layer, head=3, lang="zh")
    assert not app.exception, app.exception[0].value
    app.session_state["reveal"] = app.session_state["distance_others"] = True
    app.run()
    assert not app.exception and "[[" not in reader.text(app)
    learned = family == "gpt2"
    assert reader.verdict(app) == (None if learned else "equal")
    assert bool(app.get("plotly_chart")) != learned


def test_a_layer_that_does_not_turn_has_a_flat_line_and_says_so(opened):
    app = opened("smollm3", layer=3, at=50, key_at=1)
    _, scores = curve(app)
    assert len(set(scores)) == 1 and len(scores) > 32
    assert texts("unturned") in reader.text(app) and texts("flat") in reader.text(app)
    assert sums(app)[0][1] == sums(app)[1][1]
    _, turned = curve(opened("smollm3", layer=0))
    assert len(set(turned)) > 1


def test_learned_positions_are_said_in_one_sentence(opened):
    app = opened("gpt2")
    assert reader.notices(app) == [texts("learned")]
    assert not app.slider and not app.get("plotly_chart")


def test_what_lies_outside_a_window_is_said(opened, paths):
    window = open_model(paths["gemma2"]).config.windows[0]
    said = lessons.text("en", "positions.distance.hidden", window=window)
    assert said in _figure(opened("gemma2", layer=0))
    assert "hidden" not in _figure(opened("llama", layer=0))


def _figure(app):
    return app.get("plotly_chart")[0].proto.spec
