"""Lengths, angles and quotients by hand; what is not defined is NaN."""

import numpy as np
import pytest

from core.analyse.vectors import cosine, length, quotient


def test_lengths_by_hand():
    assert length(np.float32([3, 4])) == 5
    assert length([[[3, 4]], [[0, 0]]]).tolist() == [[5], [0]]
    assert length(np.float32([3e30, 4e30])) == pytest.approx(5e30)  # squares beyond float32


@pytest.mark.filterwarnings("error")
def test_cosines_by_hand():
    x = np.float32([[1, 0], [1, 1], [3, 0], [0, 0]])
    y = np.float32([[0, 2], [2, 0], [-1, 0], [1, 1]])
    np.testing.assert_allclose(cosine(x, y), [0, 0.5**0.5, -1, np.nan])


@pytest.mark.filterwarnings("error")
def test_a_quotient_by_nothing_is_not_defined():
    np.testing.assert_array_equal(quotient(np.array([6, -1, 1]), [4, 2, 0]), [1.5, -0.5, np.nan])
    np.testing.assert_array_equal(quotient(2.0, np.array([4, 0])), [0.5, np.nan])
    assert np.isnan(quotient(0.0, 0.0))
