"""The line of a draw and the counts of many draws: by hand."""

from math import isnan, sqrt

import numpy as np
import pytest

from core import RunSpec
from core.decode.line import (
    Piece,
    around,
    counted,
    counted_at,
    farthest,
    pieces,
    times_larger,
    walked,
)
from core.decode.sampling import Draw, rolls

PROBS = (0.4, 0.3, 0.2, 0.05, 0.03, 0.02)


def drawn(u, probs=PROBS):
    """A draw among tokens with these probabilities; ids run backwards."""
    return Draw(np.log(np.array(probs[::-1])), u)


def told(found):
    return [(p.place, p.n, round(p.start, 9), round(p.stop, 9)) for p in found]


def test_the_line_has_the_first_tokens_and_the_rest_as_one():
    assert told(pieces(drawn(0.5), 2)) == [(0, 1, 0, 0.4), (1, 1, 0.4, 0.7), (2, 4, 0.7, 1)]
    assert told(pieces(drawn(0.5), 9)) == [
        (n, 1, round(sum(PROBS[:n]), 9), round(sum(PROBS[: n + 1]), 9)) for n in range(6)
    ]


@pytest.mark.parametrize(
    "u, rest",
    [
        (0.8, [(2, 1), (3, 3)]),
        (0.96, [(2, 2), (4, 1), (5, 1)]),
        (0.99, [(2, 3), (5, 1)]),
    ],
)
def test_a_token_that_was_drawn_behind_the_first_has_a_piece_of_its_own(u, rest):
    found = pieces(drawn(u), 2)
    assert [(p.place, p.n) for p in found[2:]] == rest
    (own,) = (p for p in found if p.start <= u < p.stop)
    assert own.n == 1
    assert [p.stop for p in found[:-1]] == [p.start for p in found[1:]]


@pytest.mark.parametrize(
    "place, places", [(0, [0, 1, 2, 3]), (3, [0, 1, 2, 3, 4, 5]), (5, [2, 3, 4, 5])]
)
def test_neighbours_of_a_token(place, places):
    assert [p.place for p in around(drawn(0.5), place)] == places
    assert all(p.n == 1 for p in around(drawn(0.5), place))


@pytest.mark.parametrize("u", [0.0, 0.39, 0.41, 0.69, 0.9499, 0.999999])
def test_adding_by_hand_finds_the_token(u):
    made = drawn(u)
    place, before, after = walked(made)
    assert (place, before <= u < after) == (made.place, True)
    assert (before, after) == (made.cumulative[place], made.cumulative[place + 1])


def test_u_beyond_a_sum_that_rounding_left_below_1_takes_the_last_that_adds():
    made = drawn(np.nextafter(1, 0), (0.1,) * 10)
    assert made.cumulative[-1] < 1 and walked(made)[0] == made.place == 9


def test_counts_are_measured_in_standard_deviations():
    counts = np.array([46, 24, 20, 5, 3, 2])
    first, second, rest = counted(drawn(0.5), counts, 2)
    assert (first.count, first.expected) == (46, pytest.approx(40))
    assert first.spread == pytest.approx(sqrt(100 * 0.4 * 0.6))
    assert first.deviation == pytest.approx(6 / sqrt(24))
    assert second.deviation == pytest.approx(-6 / sqrt(21))
    assert (rest.count, rest.piece.n, rest.deviation) == (30, 4, pytest.approx(0))
    assert farthest((first, second, rest)) is second
    third = counted_at(drawn(0.5), counts, 2)
    assert (third.count, third.expected, third.piece.n) == (20, pytest.approx(20), 1)


def test_where_few_hits_or_misses_are_to_be_expected_none_is_told():
    sure, rest = counted(drawn(0.5, (0.96, 0.02, 0.02)), np.array([95, 5, 0]), 1)
    assert isnan(sure.deviation) and isnan(rest.deviation) and farthest((sure, rest)) is None
    (alone,) = counted(drawn(0.5, (1.0,)), np.array([100]), 3)
    assert (alone.count, alone.expected, alone.spread) == (100, 100, 0) and isnan(alone.deviation)


def test_many_rolls_spread_as_the_binomial_distribution_says():
    """Over 400 seeds the deviations have mean 0 and variance 1, and the first roll is the draw."""
    scores, found = np.log(np.array(PROBS)), []
    for seed in range(400):
        spec = RunSpec("model", ids=(0,), temperature=1, seed=seed)
        made = Draw(scores, float(np.random.default_rng([seed, 0]).random()))
        (first, *_) = counted(made, rolls(made, spec, 0, 100), 3)
        found.append(first.deviation)
        assert rolls(made, spec, 0, 1)[made.place] == 1
    assert abs(np.mean(found)) < 4 / sqrt(400) and 0.75 < np.var(found) < 1.3


def test_a_count_is_as_far_off_on_either_side():
    for counts in ([50, 50, 0, 0, 0, 0], [30, 70, 0, 0, 0, 0]):
        assert counted_at(drawn(0.5), np.array(counts), 0).apart == pytest.approx(10)


def test_a_part_of_the_line_is_drawn_as_wide_as_the_whole():
    """Two pieces from 0.5 to 0.75 are a quarter of it; one of no width still has a number."""
    part = Piece(2, 1, 0.5, 0.6), Piece(3, 1, 0.6, 0.75)
    assert times_larger(part) == 4
    assert 0 < times_larger((Piece(9, 1, 1.0, 1.0),)) < float("inf")
