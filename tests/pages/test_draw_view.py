"""The draw: the line, u and the counts on the page equal what NumPy finds alone."""

import json
import re

import numpy as np
import pytest

import lessons
from core import RunSpec, open_model, run
from tests.conftest import SMOLLM
from tests.pages import reader
from tests.pages.test_neighbours_view import number_list

EACH_LANGUAGE = pytest.mark.parametrize("lang", lessons.LANGUAGES)
PROMPT = "The capital of France is"


def open_view(**link):
    app = reader.open_page("sampling", **({"op": "draw"} | link))
    assert not app.exception and not reader.notices(app, "error")
    return app


def charts(app):
    """The traces of each Plotly figure on the page."""
    return [json.loads(each.proto.spec)["data"] for each in app.get("plotly_chart")]


def walk(model, temperature=1.0, prompt=PROMPT):
    """Ids from the most probable to the least, and their probabilities, by NumPy alone."""
    scores = run(RunSpec(model, prompt=prompt)).logits(-1).astype(np.float64) / temperature
    probs = np.exp(scores - scores.max())
    probs /= probs.sum()
    order = np.lexsort((np.arange(len(probs)), -probs))
    return order, probs[order]


def rows(app, name="draw"):
    """The cells of the table: [place, token, probability, from, to, ...] each, as text."""
    body = "".join(reader.html(app))
    found = re.findall(rf'<tr data-{name}="\d+"[^>]*>(.*?)</tr>', body, re.DOTALL)
    return [
        [reader.plain(cell) for cell in re.findall(r"<td>(.*?)</td>", row, re.DOTALL)]
        for row in found
    ]


@pytest.mark.parametrize("model", [SMOLLM, "nano"])
@EACH_LANGUAGE
def test_the_line_and_the_table_are_the_distribution_in_its_order(smollm, model, lang):
    prompt = PROMPT if model == SMOLLM else "The cat"
    app = open_view(model=model, lang=lang, prompt=prompt, seed=5, temperature=1.5)
    order, probs = walk(model, 1.5, prompt)
    ends = np.append(0, np.cumsum(probs))
    u = np.random.default_rng([5, 0]).random()
    place = int(np.searchsorted(ends[1:], u, "right"))
    display = open_model(model).tokenizer.display
    table = rows(app)
    assert [row[1] for row in table[:10]] == [display(int(id)) for id in order[:10]]
    for n, row in enumerate(table[:10]):
        assert [float(cell.replace("−", "-")) for cell in row[2:5]] == pytest.approx(
            [probs[n], ends[n], ends[n + 1]], abs=1e-4
        )
    shown = reader.text(app)
    assert repr(float(u)) in shown and reader.verdict(app) == "equal"
    line = charts(app)[0][0]
    assert number_list(line["base"])[:10] == pytest.approx(ends[:10], abs=1e-4)
    widths = number_list(line["x"])
    assert sum(widths) == pytest.approx(1, abs=1e-9)
    (drawn,) = [n for n, color in enumerate(line["marker"]["color"]) if color.endswith(" 1)")]
    start = number_list(line["base"])[drawn]
    assert start <= u < start + widths[drawn]
    token = display(int(order[place]))
    said = lessons.text(lang, "sampling.draw.said", token=token, seed=5, step=0, u="[[u]]", code="",
                        share="[[s]]", n=f"{len(probs):,}")  # fmt: skip
    assert reader.pieces(said)[-1] in shown and token in shown


def test_a_thin_piece_is_shown_larger_and_a_click_explains_another(smollm):
    app = open_view(temperature=1.5)  # u = 0.637 falls far behind the first tokens
    order, probs = walk(SMOLLM, 1.5)
    ends = np.append(0, np.cumsum(probs))
    place = int(np.searchsorted(ends[1:], 0.6369616873214543, "right"))
    assert place > 100
    whole, near = (trace[0] for trace in charts(app))
    assert len(whole["text"]) == 13 and len(near["text"]) == 7
    assert number_list(near["base"]) == pytest.approx(ends[place - 3 : place + 4], abs=1e-5)
    assert rows(app)[-1][0] == f"{place + 1:,}"
    app.session_state["cell"], app.session_state["moved"] = int(order[0]), True
    shown = reader.text(app.run())
    assert lessons.text("en", "sampling.draw.no") in shown
    assert lessons.text("en", "sampling.draw.yes") not in shown
    assert (
        len(charts(app)) == 1 and f"{probs[0]:.12f}"[:9] in shown
    )  # a wide piece needs no second line


@EACH_LANGUAGE
def test_rolls_are_counted_beside_what_is_to_be_expected(smollm, lang):
    app = open_view(lang=lang, kind="thousand", seed=7)
    order, probs = walk(SMOLLM)
    u = np.random.default_rng([7, 0]).random(1000)
    counts = np.bincount(np.searchsorted(np.cumsum(probs), u, "right"), minlength=len(probs))
    bars, marks = charts(app)[-1]
    assert number_list(bars["x"]) == [*counts[:10], counts[10:].sum()]
    expected = np.append(probs[:10], probs[10:].sum()) * 1000
    assert number_list(marks["x"]) == pytest.approx(expected, rel=1e-3)
    spread = np.sqrt(expected * (1 - expected / 1000))
    away = np.where(expected >= 5, (number_list(bars["x"]) - expected) / spread, 0)
    worst = away[np.argmax(np.abs(away))]
    assert f"{worst:.2f}".replace("-", "−") in reader.text(app)
    shown = {row[0]: int(row[5].replace(",", "")) for row in rows(app)}
    assert shown == {n: counts[int(n.replace(",", "")) - 1] for n in shown}
    app.session_state["reveal"] = True
    app.run()
    assert not reader.missing(app, lessons.view(lang, "sampling.draw").reveal)
    assert f"{counts[0]:,}" in reader.text(app)


@EACH_LANGUAGE
def test_at_temperature_0_there_are_no_dice(smollm, lang):
    app = open_view(lang=lang, temperature=0)
    (notice,) = reader.notices(app)
    assert "␣Paris" in notice and lessons.text(lang, "sampling.draw.not_tied") in notice
    assert not charts(app) and rows(app)[0][1] == "␣Paris"
    app.session_state["reveal"] = True
    assert not app.run().exception


def test_another_seed_moves_u_and_the_link_holds_it(smollm):
    app = open_view(seed=2)
    app.button(key="draw_another").click().run()
    assert app.query_params["seed"] in ("3", ["3"])
    assert repr(float(np.random.default_rng([3, 0]).random())) in reader.text(app)


@pytest.mark.parametrize(
    "link",
    [
        {"top_p": 0},
        {"cell": 999_999_999},
        {"kind": "often"},
        {"temperature": -1},
        {"temperature": 1e-300},
        {"seed": 2**31, "top_k": 3},
        {"prompt": "<b>x</b> 🙂\n", "control": 1},
        {"prompt": "a", "pos": 0},
    ],
)
def test_what_a_link_asks_for_is_shown_or_put_right(link):
    app = open_view(**({"model": "nano", "prompt": "The cat"} | link))
    assert not any("<b>x" in part for part in reader.html(app))
    assert reader.verdict(app) == "equal"
    assert app.session_state["cell"] is None


def test_one_token_left_owns_the_whole_line(smollm):
    app = open_view(top_p=0, kind="hundred")
    (line,), (bars, marks) = charts(app)
    assert number_list(line["x"]) == [1.0]
    assert number_list(bars["x"]) == number_list(marks["x"]) == [100]
    assert lessons.text("en", "sampling.draw.none_told", fewest=5) in reader.text(app)
