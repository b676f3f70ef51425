"""Numbers computed again beside the record: which one is told of, and what counts as equal."""

import math

import numpy as np
import pytest

from core.analyse.agreement import compare, rounding

NONE = -math.inf


def test_the_number_that_takes_most_of_its_tolerance_is_told_of():
    found = compare([10.0, 1.0, 5.0], [10.5, 0.75, 5.0], np.array([2.0, 0.5, 1.0]))
    assert (found.difference, found.tolerance, found.equal) == (0.25, 0.5, True)
    found = compare([10.0, 1.0], [10.5, 0.25], np.array([2.0, 0.5]))
    assert (found.difference, found.tolerance, found.equal) == (0.75, 0.5, False)
    assert compare(np.eye(2), [[1, 0], [3, 1]], 2.5).difference == 3


def test_a_number_may_be_as_far_off_as_is_allowed():
    assert compare(1.5, 1.0, 0.5).equal and not compare(1.5, 1.0, 0.25).equal
    assert compare([1.0, 2.0], [1, 2]).equal
    found = compare([1.0, 2.0, 3.0], [1, 2.25, 3.5])  # nothing is allowed: the furthest
    assert (found.difference, found.tolerance, found.equal) == (0.5, 0, False)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("recorded, difference", [(NONE, 0), (2.0, math.inf)])
def test_infinities(recorded, difference):
    found = compare([1.0, NONE], [1.0, recorded])
    assert found.difference == difference and found.equal == (difference == 0)


def test_nan_is_equal_to_nothing():
    assert not compare([1.0, math.nan], [1.0, 0.0], 10.0).equal
    assert not compare([1.0], [math.nan], 10.0).equal


def test_the_distance_of_float32_numbers_is_taken_in_float64():
    assert compare(np.float32([1]), np.float32([1e-9])).difference < 1


def test_rounding_goes_by_the_size():
    assert rounding(np.array([0.0, 2.0])).tolist() == pytest.approx([1e-36, 2e-5])
