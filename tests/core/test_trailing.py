"""A space at the end of a text: both runs against runs made by hand, and the known case."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from core import PromptError, RunSpec, run
from core.analyse.trailing import TOLERANCE, TOP, _drift, own_space, trailing
from tests.conftest import SMOLLM

FRANCE = "The capital of France is"


def two(model, text, **more):
    return trailing(RunSpec(model, prompt=text, **more))


@pytest.fixture(scope="module")
def france(smollm):
    return two(SMOLLM, FRANCE)


def test_the_space_takes_the_answer_away(france):
    assert [(c.text, round(c.prob, 3)) for c in france.unspaced.top[:3]] == [
        ("␣Paris", 0.773),
        ("␣the", 0.065),
        ("␣London", 0.012),
    ]
    assert [(c.text, round(c.prob, 3)) for c in france.spaced.top[:3]] == [
        ("2", 0.326),
        ("1", 0.245),
        ("3", 0.107),
    ]
    assert france.unspaced.ids == (504, 3575, 282, 4649, 314)
    assert france.spaced.ids == (504, 3575, 282, 4649, 314, 216)
    assert (france.n_shared, france.n_spaces) == (5, 0)


@pytest.mark.parametrize("model", [SMOLLM, "nano"])
def test_places_in_the_other_ranking_are_counted_by_hand(smollm, model):
    found = two(model, FRANCE)
    for text, placed in ((FRANCE + " ", found.best_spaced), (FRANCE, found.best_unspaced)):
        probs = run(RunSpec(model, prompt=text)).probs()
        assert placed.rank == 1 + int(np.sum(probs > probs[placed.id]))
        assert placed.prob == probs[placed.id]
    assert found.best_spaced.id == found.unspaced.top[0].id
    assert found.best_unspaced.id == found.spaced.top[0].id
    assert len(found.unspaced.top) == len(found.spaced.top) == TOP


def test_the_same_word_without_its_space(france, smollm):
    assert france.bare.text == "Paris"
    assert smollm.tokenizer.encode("Paris") == [france.bare.id]


def test_a_token_without_a_space_or_without_another_spelling_has_no_bare_form(smollm):
    assert two(SMOLLM, "Hi").unspaced.top[0].text == "-" and two(SMOLLM, "Hi").bare is None
    assert two("nano", FRANCE).bare is None  # Nano puts a space before every word


def test_spaces_that_are_there_are_the_spaced_text(smollm):
    given, added = two(SMOLLM, FRANCE + " "), two(SMOLLM, FRANCE)
    assert given.n_spaces == 1 and replace(given, n_spaces=0) == added
    several = two(SMOLLM, FRANCE + "   ")
    assert several.n_spaces == 3 and several.unspaced == added.unspaced
    assert several.spaced.ids == tuple(smollm.tokenizer.encode(FRANCE + "   "))


def test_the_guess_before_the_space_is_the_same(france):
    assert france.drift is not None and france.drift <= TOLERANCE


def test_a_space_that_joins_the_last_token(smollm):
    found = two(SMOLLM, "x\n")
    assert found.spaced.tokens == ("x", "⏎␣")
    assert found.n_shared == 1 and found.drift is None


def test_the_drift_would_notice_other_tokens(smollm):
    """Where the second run is that of another text with the same ids said of it, the guesses
    before the space differ far more than rounding does.
    """
    first, second = (run(RunSpec(SMOLLM, prompt=text)) for text in (FRANCE, "A" + FRANCE[3:] + " "))
    same = SimpleNamespace(ids=(*first.ids, second.ids[-1]), logits=second.logits)
    assert second.ids[1:5] == first.ids[1:5] and _drift(first, same) > 100 * TOLERANCE


@pytest.mark.parametrize("text", [" ", "   ", ""])
def test_nothing_but_spaces_cannot_be_compared(text):
    assert two("nano", text) is None


def test_other_white_space_is_no_space():
    found = two("nano", "The cat \t")
    assert found.n_spaces == 0 and len(found.spaced.ids) > len(found.unspaced.ids)


def test_a_marker_stays_text_unless_it_is_switched_on(smollm):
    literal, obeyed = (two(SMOLLM, "Hi<|im_end|>", control=on) for on in (False, True))
    assert 2 not in literal.unspaced.ids and obeyed.unspaced.ids[-1] == 2
    assert obeyed.spaced.ids == (*obeyed.unspaced.ids, 216)


def test_a_text_that_is_too_long_is_refused(tiny, tiny_name):
    with pytest.raises(PromptError):
        two(tiny_name, "the" + " the" * tiny.config.context)


@pytest.mark.parametrize("model", [SMOLLM, "nano"])
def test_the_share_of_tokens_with_a_space_is_summed_by_hand(smollm, model):
    for text, share in zip(
        (FRANCE, FRANCE + " "), own_space(RunSpec(model, prompt=FRANCE)), strict=True
    ):
        trace = run(RunSpec(model, prompt=text))
        words, probs = trace.model.tokenizer, trace.probs().astype(float)
        shown = (p for id, p in enumerate(probs) if words.display(id).startswith("␣"))
        assert share == pytest.approx(sum(shown), abs=1e-9)
    assert own_space(RunSpec(model, prompt=FRANCE + " ")) == own_space(
        RunSpec(model, prompt=FRANCE)
    )
