"""The way from a number back to what made it: its crumbs, and the line with the numbers put in."""

import html
import math
import re

import numpy as np
import pytest

import lessons
from core import RunSpec, run
from core.analyse import follow
from core.analyse.explain import explain
from pages.parts import equation
from pages.parts.html import number
from tests.core.conftest import EACH_FAMILY, name_of, places, trace_of  # noqa: F401 (fixtures)
from tests.core.test_explain import cells
from tests.pages import reader

LINK = {"model": "nano", "prompt": "the red box", "pos": 2}

# ---- the numbers put in --------------------------------------------------------------------------

MEANING = {"√": "root", "σ": "sigma", "Φ": "phi", "·": "*", "−": "-", "∞": "inf"}
FUNCTIONS = {
    "root": math.sqrt,
    "exp": math.exp,
    "tanh": math.tanh,
    "sigma": lambda x: 1 / (1 + math.exp(-x)),
    "phi": lambda x: math.erfc(-x / math.sqrt(2)) / 2,
    "inf": math.inf,
}


def worked_out(side):
    """What a side of the line comes to, and how large the numbers in it are."""
    side = re.sub(r"√(\d+)", r"√(\1)", re.sub(r" \(s = .*", "", side))
    for sign, meaning in MEANING.items():
        side = side.replace(sign, meaning)
    numbers = [abs(float(n)) for n in re.findall(r"\d+\.\d+(?:e-?\d+)?", side)]
    return eval(side, {"__builtins__": {}}, FUNCTIONS), max(numbers, default=1)


@EACH_FAMILY
def test_the_line_with_the_numbers_comes_to_the_number(case, trace_of):  # noqa: F811
    trace = trace_of(case)
    for op, layer in places(trace):
        window = None if layer is None else trace.config.windows[layer]
        for index in cells(trace, op, layer, 4):
            e = explain(trace, op, layer, index)
            letter, *sides = html.unescape(equation.line(e, window)).split(" = ", 1)
            sides = sides[0].split(" = ") if e.kind != "mask" else sides
            assert letter in e.formula, op
            if op != "embed":
                sums = [side for side in sides if "…" not in side]
                for side in sums:
                    value, size = worked_out(side)
                    near = value == pytest.approx(e.recorded, rel=0.02, abs=2e-3 * max(size, 1))
                    assert near, (op, side, e.recorded)


def test_a_long_sum_begins_with_its_largest_terms(trace_of):  # noqa: F811
    trace = trace_of("gpt2")
    e = explain(trace, "attn.q", 1, (3, 1, 2))
    said = html.unescape(equation.line(e))
    numbers = [float(n.replace("− ", "-").replace("−", "-")) for n in NUMBER.findall(said)]
    products = sorted(e.values, key=abs, reverse=True)[:3]
    bias = trace.model.weights.get("attn_q_bias", 1)[1 * 8 + 2]
    assert "+ … " in said
    assert numbers == pytest.approx([*products, bias, e.value], abs=6e-5, rel=6e-3)


NUMBER = re.compile(r"(?:− ?)?\d+\.\d+(?:e−?\d+)?")


@pytest.mark.parametrize(
    "index, said",
    [
        ((0, 2, 5), "M = −∞ (s = 5 > t = 2)"),
        ((0, 20, 3), "M = −∞ (s = 3 ≤ t − w = 12)"),
    ],
)
def test_why_a_score_is_masked(index, said, trace_of):  # noqa: F811
    e = explain(trace_of("gemma2"), "attn.masked", 0, index)
    assert html.unescape(equation.line(e, 8)) == said.replace("M", e.formula[0])


# ---- crumbs --------------------------------------------------------------------------------------


def opened(**link):
    return reader.open_page("block", **(LINK | link))


def crumbs(app):
    """(what the crumbs say, in order, without the way back; where each leads)."""
    (nav,) = (part for part in reader.html(app) if '<nav class="tw-trail"' in part)
    found = re.findall(r'<button[^>]*tw-to "[^>]*data-crumb="(\d+)">(.*?)</button>', nav)
    (here,) = re.findall(r'<b aria-current="true">(.*?)</b></nav>', nav)
    return [reader.plain(said) for _, said in found] + [reader.plain(here)], nav


def way_to(app, *before):
    """The page again, with a way that leads to what it shows."""
    (at,) = app.session_state["trail"]
    app.session_state["trail"] = [*before, at]
    return app.run()


def place(op, layer, *index):
    page = "output" if layer is None else "block"
    return follow.Place(page, op, op, layer, index)


def test_crumbs_name_op_layer_head_cell_and_a_new_position():
    app = opened(op="attn.v", layer=1, head=1, cell=5, pos=1)
    assert "tw-trail" not in "".join(reader.html(app))
    app = way_to(app, place("logits", None, 2, 20), place("attn.weights", 1, 1, 2, 0))
    said, nav = crumbs(app)
    tokens = next(meta["tokens"] for meta in reader.canvases(app) if "tokens" in meta)
    named = [token if isinstance(token, str) else token["text"] for token in tokens]
    assert said[0].startswith("logits") and said[0].endswith(f"{named[2]} (2)")
    assert said[1] == f"weights, layer 1 head 1 {named[0]} (0)"
    assert said[2] == f"v, layer 1 KV head 0 [5] {named[1]} (1)"
    assert 'class="tw-to back" data-crumb="1"' in nav and reader.verdict(app) == "equal"


def test_of_a_long_way_the_middle_is_folded_away_and_said_so():
    app = opened(op="mlp.up", layer=1, cell=7)
    app = way_to(app, *(place("mlp_norm", 1, 2, dim) for dim in range(11)))
    said, nav = crumbs(app)
    assert len(said) == 12 and "… 6 more …" in nav
    folded = re.search("<details>.*</details>", nav)[0]
    assert re.findall(r'data-crumb="(\d+)"', folded) == [str(n) for n in range(2, 8)]


def test_who_goes_elsewhere_begins_a_new_way():
    app = opened(op="mlp.up", layer=1, cell=7)
    app = way_to(app, place("mlp.hidden", 1, 2, 7))
    assert len(app.session_state["trail"]) == 2 and crumbs(app)
    app.session_state["cell"], app.session_state["moved"] = 8, True
    app.run()
    assert [at.index for at in app.session_state["trail"]] == [(2, 8)]
    assert "tw-trail" not in "".join(reader.html(app))


def test_another_run_has_another_way():
    app = opened(op="mlp.up", layer=1, cell=7)
    app = way_to(app, place("mlp.hidden", 1, 2, 7))
    app.text_area(key="prompt").set_value("the red cup").run()
    assert len(app.session_state["trail"]) == 1


def test_a_difference_is_explained_and_no_difference_too():
    assert "Equal in every digit." in reader.text(opened(op="resid_pre", layer=1))
    said = reader.text(opened(op="attn.q", layer=1))
    assert "in another order" in said and "part of a larger one" in said and "neighbouring" in said
    assert "part of a larger one" not in reader.text(opened(op="attn.out", layer=1))


def test_the_picture_of_the_sum_so_far_is_told_in_words():
    app = opened(op="mlp.up", layer=1, cell=7)
    trace = run(RunSpec("nano", prompt=LINK["prompt"]))
    row = trace.model.weights.get("mlp_up", 1)[7].astype(float)
    products = row * trace.read("mlp_norm", 1)[LINK["pos"]]
    sums = np.cumsum(products[np.argsort(-abs(products))])
    n = len(sums)
    values = {"first": sums[0], "half": sums[n // 2 - 1], "last": sums[-1]}
    shown = {name: number(value) for name, value in values.items()}
    assert lessons.text("en", "explain.running", n=n, **shown) in "".join(reader.html(app))


def test_gaps_are_between_neighbouring_float32_numbers(trace_of):  # noqa: F811
    e = explain(trace_of("llama"), "resid_mid", 1, (4, 2))
    up = float(np.nextafter(np.float32(abs(e.recorded)), np.float32(np.inf)))
    assert e.gaps == pytest.approx(abs(e.value - e.recorded) / (up - abs(e.recorded)))
    assert 0 < e.gaps <= 0.5  # one sum, rounded once
