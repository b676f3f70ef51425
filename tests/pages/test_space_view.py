"""A space at the end of the text, on the page: its numbers against runs made here.

Knows the view; computes ranks and probabilities by itself.
"""

import json
import re

import numpy as np
import pytest

import lessons
from core import RunSpec, open_model, run
from pages.parts.html import percent
from tests.conftest import SMOLLM
from tests.pages import reader

pytestmark = pytest.mark.usefixtures("smollm")
FRANCE = "The capital of France is"
MODELS = pytest.mark.parametrize("model", [SMOLLM, "nano"])
LANGUAGES = pytest.mark.parametrize("language", lessons.LANGUAGES)


def visit(**link):
    app = reader.open_page("tokens", op="space", **link)
    assert not app.exception
    return app


def bars(app):
    """(tick texts, values) of both charts."""
    figures = [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")]
    return [(f["layout"]["yaxis"]["ticktext"], f["data"][0]["customdata"]) for f in figures]


def last_chips(app):
    """The ids of the last tokens of both texts, and which the other has not."""
    blocks = [part for part in reader.html(app) if 'class="tw-ends"' in part]
    return [
        [(int(id), bool(own)) for own, id in re.findall(r'"tw-end( own)?">.*?<small>(\d+)', block)]
        for block in blocks
    ]


@MODELS
def test_both_charts_show_the_most_probable_tokens(model):
    charts = bars(visit(model=model, prompt=FRANCE))
    assert len(charts) == 2
    for text, (ticks, _) in zip((FRANCE, FRANCE + " "), charts, strict=True):
        trace = run(RunSpec(model, prompt=text))
        best = np.argsort(-trace.logits(), kind="stable")[:7]
        assert ticks == [trace.model.tokenizer.display(int(id)) for id in best]


@MODELS
def test_the_bars_of_both_charts_begin_at_the_same_place(model):
    app = visit(model=model, prompt=FRANCE)
    layouts = [json.loads(chart.proto.spec)["layout"] for chart in app.get("plotly_chart")]
    first, second = ((each["margin"]["l"], each["xaxis"]["range"]) for each in layouts)
    assert first == second and first[0] > 40
    assert not any(each["yaxis"]["automargin"] for each in layouts)


@LANGUAGES
@MODELS
def test_places_in_the_other_ranking(language, model):
    shown = reader.text(visit(model=model, prompt=FRANCE, lang=language))
    without, spaced = (run(RunSpec(model, prompt=text)).probs() for text in (FRANCE, FRANCE + " "))
    for here, there in ((without, spaced), (spaced, without)):
        id = int(here.argmax())
        rank = 1 + int((there > there[id]).sum())
        words = open_model(model).tokenizer
        key = "falls" if here is without else "back"
        values = {"token": words.display(id), "rank": f"{rank:,}"}
        values |= {"prob": percent(here[id]), "there": percent(there[id])}
        assert lessons.text(language, f"tokens.space.{key}", **values).replace("**", "") in shown


def test_the_ends_of_the_texts():
    assert last_chips(visit(prompt=FRANCE)) == [
        [(id, False) for id in (504, 3575, 282, 4649, 314)],
        [(id, False) for id in (504, 3575, 282, 4649, 314)] + [(216, True)],
    ]
    joined = last_chips(visit(prompt="x\n"))
    assert [[own for _, own in text] for text in joined] == [[False, True]] * 2


def test_the_guess_before_the_space_is_checked():
    assert reader.verdict(visit(prompt=FRANCE)) == "equal"
    assert reader.verdict(visit(prompt="x\n")) is None  # the space is part of that token


@LANGUAGES
def test_a_text_that_ends_in_spaces_is_compared_with_itself_without(language):
    app = visit(prompt=FRANCE + "   ", lang=language)
    assert bars(app)[0] == bars(visit(prompt=FRANCE))[0]
    said = lessons.text(language, "tokens.space.several", n=3)
    assert said in reader.text(app)


@LANGUAGES
def test_nothing_but_spaces(language):
    app = visit(prompt="   ", lang=language)
    assert lessons.text(language, "tokens.space.only_spaces") in reader.notices(app)
    assert not app.get("plotly_chart")
    app.session_state["reveal"] = True
    app.run()
    assert lessons.text(language, "tokens.space.answer_none") in reader.text(app)


@LANGUAGES
def test_the_answer_is_summed_over_the_vocabulary(smollm, language):
    app = visit(prompt=FRANCE, lang=language)
    app.session_state["reveal"] = True
    app.run()
    begins = [smollm.tokenizer.token_bytes(id)[:1] == b" " for id in range(smollm.config.vocab)]
    for text in (FRANCE, FRANCE + " "):
        share = run(RunSpec(SMOLLM, prompt=text)).probs()[begins].sum(dtype=float)
        assert f"{share:.1%}" in reader.text(app)


def test_a_chat_is_compared_as_plain_text_too():
    assert bars(visit(prompt=FRANCE, mode="chat")) == bars(visit(prompt=FRANCE))


@pytest.mark.parametrize("prompt", ["<b>x</b>$y$", "🦙", "no no no", "<|im_end|>", "a\u202eb"])
def test_any_text_is_shown_as_it_is(prompt):
    app = visit(prompt=prompt)
    assert not reader.notices(app, "error") and len(app.get("plotly_chart")) == 2
    assert "<b>x" not in "".join(reader.html(app))
