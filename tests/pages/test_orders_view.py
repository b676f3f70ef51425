"""Two orders: both columns, who is kept by which, the token of each, and the example."""

import re

import pytest

import lessons
from core import RunSpec
from core.decode.sampling import draw
from core.run import run
from tests.conftest import SMOLLM
from tests.pages import reader

EACH_LANGUAGE = pytest.mark.parametrize("lang", lessons.LANGUAGES)
PROMPT = "The capital of France is"


def open_view(**link):
    app = reader.open_page("sampling", op="orders", **link)
    assert not app.exception and not reader.notices(app, "error")
    return app


def tables(app):
    """The rows of each table on the page, as lists of texts."""
    parts = [part for part in reader.html(app) if "<table" in part]
    rows = [re.findall("<tr>(.*?)</tr>", part) for part in parts]
    return [
        [[reader.plain(cell) for cell in re.findall("<td>(.*?)</td>", row)] for row in each[1:]]
        for each in rows
    ]


@EACH_LANGUAGE
def test_the_example_makes_them_differ(smollm, lang):
    app = open_view(lang=lang, min_p=0.5)
    same = lessons.text(lang, "sampling.orders.same", n_first="[[n]]").split("**")[1]
    assert same in reader.notices(app)[0]
    app.button(key="orders_example").click().run()
    assert not app.exception and same not in reader.notices(app)[0]
    first, second, sets = tables(app)
    assert [row[1] for row in first] == ["49,152", "49,152", "13,307"]
    assert [row[1] for row in second] == ["49,152", "10", "10"]
    assert [row[1] for row in sets] == ["10", "13,297", "0"]
    assert "␣Paris" in sets[0][2] and "␣Paris" not in sets[1][2]
    assert app.query_params["temperature"] == "2.0" and "min_p" not in app.query_params
    why = lessons.text(lang, "sampling.orders.why_hot", temperature="2")
    assert why in reader.notices(app)[0]


@pytest.mark.parametrize("seed", [0, 3])
def test_each_draws_with_the_same_u(smollm, seed):
    app = open_view(temperature=2, top_p=0.9, seed=seed)
    trace = run(RunSpec(SMOLLM, prompt=PROMPT))
    said = reader.notices(app)[0]
    for order in ("transformers", "llama.cpp"):
        settings = {"temperature": 2.0, "top_p": 0.9, "seed": seed, "order": order}
        made = draw(trace.logits(), trace.ids, RunSpec(SMOLLM, prompt=PROMPT, **settings), 0)
        assert trace.model.tokenizer.display(made.id) in said and f"{made.u:.6f}" in said


@pytest.mark.parametrize(
    ("link", "why"),
    [
        ({}, "off"),
        ({"top_p": 0.5}, "one"),
        ({"temperature": 0.5, "top_k": 3}, "rank"),
        ({"temperature": 0, "top_p": 0.5}, "greedy"),
    ],
)
def test_why_nothing_differs_is_said(link, why):
    app = open_view(model="nano", prompt="The cat", **link)
    (said,) = reader.notices(app)
    assert lessons.text("en", f"sampling.orders.why_{why}") in said
    assert lessons.text("en", "sampling.orders.could") not in said
    assert [row[1] for row in tables(app)[2]][1:] == ["0", "0"]


@EACH_LANGUAGE
def test_the_answer_counts_both(smollm, lang):
    app = open_view(lang=lang)
    app.session_state["reveal"] = True
    shown = reader.text(app.run())
    assert "13,307" in shown and re.search(r"\b10\b", shown)
    for name in ("only_order",):
        assert lessons.text(lang, f"sampling.orders.{name}") in shown


@pytest.mark.parametrize("prompt", ["the", "🙂\n<b>x</b>"])
def test_any_text_is_shown(prompt):
    link = {"temperature": 1.7, "typical_p": 0.4, "repetition_penalty": 1.3, "min_p": 0.01}
    app = open_view(model="nano", prompt=prompt, mode="plain", cell=999_999_999, **link)
    assert not any("<b>x" in part for part in reader.html(app))
