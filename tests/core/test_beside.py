"""Texts beside each other: hand-made events, and the sums of one pass beside those of the loop."""

from math import isnan

import pytest

from core import RunSpec, generate, run
from core.decode.beam import beam_search
from core.decode.beside import by_one_pass, continued, n_alike, times
from core.decode.generate import Event
from core.decode.tree import score
from tests import families

IDS = (5, 9, 5, 60, 61, 62, 5, 9, 33)


def event(id, text, logprob, stop=None):
    stop_id = id if stop == "end" else None
    return Event(0, id, text, n_cached=1, stop=stop, stop_id=stop_id, logprob=logprob)


def test_a_text_counts_its_end_token():
    made = continued([event(5, " a", -0.5), event(6, "b", -0.25), event(2, "", -1.0, "end")])
    assert (made.ids, made.text, made.sum, made.is_end, made.n) == (
        (5, 6, 2),
        " ab",
        -1.75,
        True,
        3,
    )
    assert made.score(1) == -1.75 / 3 and made.score(0) == -1.75 and made.score(-1) == -1.75 * 3


def test_no_tokens_are_worth_nothing_that_can_be_told():
    broken = event(None, "", float("nan"), "nonfinite")
    for events in ([], [broken]):
        made = continued(events)
        assert (made.ids, made.sum, made.is_end) == ((), 0, False) and isnan(made.score(1))


@pytest.mark.parametrize(
    "a, b, n", [((1, 2, 3), (1, 2, 4), 2), ((1, 2), (1, 2, 3), 2), ((9,), (1,), 0), ((), (1,), 0)]
)
def test_how_long_two_texts_agree(a, b, n):
    assert n_alike(a, b) == n_alike(b, a) == n


def test_how_many_times_as_probable():
    assert times(-1.0, -1.0) == 1 and times(-1.0, -3.0) == pytest.approx(7.389056)
    assert times(0.0, -1e9) > 1e300


@pytest.mark.parametrize("family", ["gemma2", "gpt_neox", "phi3"])
def test_one_pass_gives_the_sums_of_the_loop_and_of_the_beams(family, tmp_path):
    name = families.build_folder(tmp_path / family, family)
    spec = RunSpec(name, ids=IDS, max_new_tokens=6)
    trace, events = run(spec), list(generate(spec))
    again = by_one_pass(trace, [each.id for each in events])
    assert again == pytest.approx([each.logprob for each in events], abs=1e-4)
    made, last = continued(events), list(beam_search(spec, 2))[-1]
    assert made.sum == pytest.approx(sum(again), abs=1e-4)
    for text in last.finished:
        assert sum(by_one_pass(trace, text.ids)) == pytest.approx(text.sum, abs=1e-4)
        assert text.score == score(text.sum, text.n, 1)
