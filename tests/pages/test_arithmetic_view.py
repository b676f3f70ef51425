"""Word arithmetic: both rules side by side, words without a row, what was expected."""

import json

import numpy as np
import pytest

import lessons
from core.analyse import near
from core.analyse.near import word
from tests import tiny
from tests.pages import reader

EACH_LANGUAGE = pytest.mark.parametrize("lang", lessons.LANGUAGES)
HERE = "embedding.arithmetic"


def open_view(**link):
    app = reader.open_page("embedding", op="arithmetic", **link)
    assert not app.exception
    return app


def bars(app):
    """What the bars are called, of each rule."""
    return [
        json.loads(each.proto.spec)["data"][0]["customdata"] for each in app.get("plotly_chart")
    ]


def said(lang, key, **values):
    return reader.pieces(lessons.text(lang, f"{HERE}.{key}", **values))


def assert_said(app, lang, key, **values):
    """A short text is on the page, its values too."""
    shown = reader.text(app)
    missing = [part for part in said(lang, key, **values) if part not in shown]
    assert not missing


@EACH_LANGUAGE
def test_both_rules_side_by_side(smollm, lang):
    app = open_view(ask="Paris - France + Germany = Berlin", lang=lang)
    mark = lessons.text(lang, f"{HERE}.input")
    every, others = bars(app)
    assert every[:3] == [f"␣Paris{mark}", "␣Berlin", f"␣Germany{mark}"]
    assert others[0] == "␣Berlin" and not [name for name in others if mark in name]
    assert_said(app, lang, "input_first", first="␣Paris", other="␣Berlin")
    assert_said(app, lang, "expected", word="␣Berlin", all=2, left_out=1)
    assert reader.verdict(app) == "equal"


@EACH_LANGUAGE
def test_a_success_without_leaving_anything_out_is_called_one(smollm, lang):
    app = open_view(lang=lang)  # the first example
    assert app.text_input(key="arithmetic_ask").value == "king - man + woman = queen"
    assert_said(app, lang, "new_first", first="␣queen")
    assert_said(app, lang, "expected", word="␣queen", all=1, left_out=1)


def test_the_numbers_are_those_of_numpy_alone(smollm):
    app = open_view(ask="king - man + woman")
    king, man, woman, queen = (
        smollm.weights.embed[word(smollm.tokenizer, w).id].astype(np.float64)
        for w in ("king", "man", "woman", "queen")
    )
    total = king - man + woman
    length, other, dot = np.linalg.norm(total), np.linalg.norm(queen), total @ queen
    shown = reader.text(app)
    for value in (length, other, dot, dot / length / other):
        assert f"{value:.4f}" in shown
    heaviest = int(np.argmax(abs(total * queen)))
    for value in (king, man, woman, total):
        assert f"{value[heaviest]:.3f}".replace("-", "−") in shown


@EACH_LANGUAGE
def test_a_word_of_several_tokens_is_named_with_them(smollm, lang):
    app = open_view(ask="king + xylophone", lang=lang)
    (notice,) = reader.notices(app, "error")
    assert "xylophone" in notice and "yl" in notice and "king" not in notice
    assert not bars(app)


def test_an_expected_word_without_a_row_stops_nothing(smollm):
    app = open_view(ask="king - man = xylophone")
    assert len(bars(app)) == 2 and "yl" in "".join(reader.notices(app))


def test_the_examples_of_each_model_work_and_name_what_they_expect(smollm):
    for of, lang in (("smollm2-135m-instruct", "en"), ("nano", "zh")):
        app = open_view(model=of, lang=lang)
        labels = [button.label for button in app.button if (button.key or "").startswith("sum_")]
        assert len(labels) == 5
        for n, label in enumerate(labels, 1):
            app.button(key=f"sum_{n}").click().run()
            assert app.session_state["ask"] == label and not reader.notices(app, "error")
            assert len(bars(app)) == 2 and reader.verdict(app) == "equal"


@EACH_LANGUAGE
def test_the_answer_tells_where_the_result_stood_before(smollm, lang):
    app = open_view(lang=lang, ask="king - man + woman")
    app.session_state["reveal"] = True
    app.run()
    king, man, woman, queen = (word(smollm.tokenizer, w).id for w in "king man woman queen".split())
    before = near.cosines(smollm, smollm.weights.embed[king])
    place, value = near.rank(before, queen, [king, man, woman]), f"{before[queen]:.4f}"
    assert place > 1
    lesson = lessons.view(lang, HERE).reveal
    assert not reader.missing(app, lesson)
    shown = reader.text(app)
    assert value in shown and f" {place}" in shown


@pytest.mark.parametrize(
    "ask", ["cat cat", "+", "=", "a -", "<b>cat</b>", "+".join("abcdefghij"), "x" * 9999, "[[n]]"]
)
def test_what_is_no_sum_is_one_sentence(ask):
    app = open_view(model="nano", ask=ask)
    app.session_state["reveal"] = True
    app.run()
    assert not app.exception and len(reader.notices(app, "error")) == 1 and not bars(app)
    assert not any("<b>cat" in part for part in reader.html(app))
    assert len(app.session_state["ask"]) <= 120


@EACH_LANGUAGE
@pytest.mark.parametrize(
    ("prompt", "example"), [("the cat and the cat", "the - cat + and"), ("the cat", None)]
)
def test_a_vocabulary_without_the_words_of_the_examples(
    prompt, example, lang, tmp_path, monkeypatch
):
    """The text offers a sum of its own words; where it has too few, a calm sentence says so."""
    monkeypatch.setenv("TOKENWALK_MODELS", tiny.build(tmp_path / "own.gguf"))
    app = open_view(model="own", prompt=prompt, lang=lang)
    assert (app.text_input(key="arithmetic_ask").value or None) == example
    assert app.session_state["ask"] is None and not reader.notices(app, "error")
    assert len(bars(app)) == (2 if example else 0)
    assert bool(reader.missing(app, lessons.text(lang, f"{HERE}.no_words"))) == bool(example)
    app.session_state["reveal"] = True
    assert not app.run().exception


def test_what_cancels_is_said():
    app = open_view(model="nano", ask="cat - cat")
    assert len(reader.notices(app, "error")) == 1 and not bars(app)


@pytest.mark.parametrize("cell", [999_999_999, 0])
def test_a_result_that_is_not_shown_is_not_explained(cell):
    app = open_view(model="nano", cell=cell)
    assert app.session_state["cell"] is None and reader.verdict(app) == "equal"
