"""Scores of heads, on maps made by hand."""

import numpy as np
import pytest

from core.analyse.patterns import induction, previous_token


def attending(n, target):
    """A map in which token i gives all its attention to target(i)."""
    weights = np.zeros((1, n, n), np.float32)
    for i in range(n):
        weights[0, i, target(i)] = 1
    return weights


def test_a_perfect_previous_token_head_scores_1():
    assert previous_token(attending(6, lambda i: max(i - 1, 0))).tolist() == [1]
    assert previous_token(attending(6, lambda i: i)).tolist() == [0]


def test_a_perfect_induction_head_scores_1():
    # BOS a b c a b c: the second a (row 4) looks at b (2), the last c (row 6) at the second a (4)
    perfect = attending(7, lambda i: i - 2 if i > 3 else 0)
    assert induction(perfect, 3).tolist() == [1]
    assert induction(attending(7, lambda i: max(i - 3, 0)), 3).tolist() == [0]  # at the same token


def test_scores_by_hand():
    weights = np.float32([[[1, 0, 0, 0, 0], [0.5, 0.5, 0, 0, 0], [0.2, 0.3, 0.5, 0, 0],
                           [0.1, 0.2, 0.3, 0.4, 0], [0.1, 0.1, 0.2, 0.2, 0.4]]])  # fmt: skip
    assert previous_token(weights)[0] == pytest.approx((0.5 + 0.3 + 0.3 + 0.2) / 4)
    assert induction(weights, 2)[0] == pytest.approx((0.3 + 0.2) / 2)  # rows 3 and 4, one back


def test_heads_are_scored_one_by_one():
    both = np.concatenate([attending(5, lambda i: max(i - 1, 0)), attending(5, lambda i: 0)])
    assert previous_token(both).tolist() == [1, 0.25]
