"""What an attention map does, as one number per head: definitions that others use, so that figures
can be compared. Knows maps of attention weights; no model, no page.
"""

import numpy as np


def previous_token(weights):  # [head, query, key] -> [head]
    """How much of its attention a token gives to the one before it: the mean of A[i, i-1] over all
    tokens but the first. 1 for a perfect previous-token head.
    """
    return _diagonal(weights, 1)


def induction(weights, period: int):  # [head, query, key] -> [head]
    """How much of its attention a token of a second copy gives to the token that came after the
    same one in the first copy.

    weights: of a text [BOS] + R + R, where R has `period` tokens; period: at least 2. The mean of
    A[i, i - (period - 1)] over the tokens i of the second copy. 1 for a perfect induction head.
    Source: Olsson et al. 2022, on repeated random tokens; here only the rows of the second copy.
    """
    first = weights.shape[1] - period
    return _diagonal(weights[:, first:, :], period - 1, first)


def _diagonal(weights, back, first=0):
    """Mean weight of the key `back` places before each query; rows count from `first`."""
    queries = np.arange(max(first, back), first + weights.shape[1])
    return weights[:, queries - first, queries - back].mean(axis=-1)
