"""What attention heads do, as numbers: how much each looks at the token before, at itself, at the
first one, at an equal one; how spread out and how far it looks. Knows attention maps and token ids;
no trace, no figures.

A map is A[query, key] of one head: row i says how the token at position i shares out its attention,
and sums to 1. Definitions: previous token, current token and duplicate token as in TransformerLens'
head detector, over the rows that can score; first token as the sink of Gu et al. 2025
(arXiv 2410.10781); entropy as in Clark et al. 2019; distance as in Vig & Belinkov 2019.
"""

import numpy as np


def previous(maps, ids):  # [head, query, key] -> [head]
    """The mean of A[i, i-1] over the rows that have a token before them."""
    return _mean(np.diagonal(maps, -1, 1, 2))


def current(maps, ids):  # [head, query, key] -> [head]
    """The mean of A[i, i]."""
    return _mean(np.diagonal(maps, 0, 1, 2))


def first(maps, ids):  # [head, query, key] -> [head]
    """The mean of A[i, 0] over the rows that see another token besides, i >= 1."""
    return _mean(maps[:, 1:, 0])


def duplicate(maps, ids):  # [head, query, key] -> [head]
    """The attention to earlier tokens equal to the row's own: the sum of A[i, j] with id j = id i
    and j < i, in the mean over the rows that have such a token. NaN where none has.
    """
    equal = np.tril(np.equal.outer(ids, ids), -1)
    rows = equal.any(axis=1)
    return _mean((maps[:, rows] * equal[rows]).sum(axis=2, dtype=np.float64))


def entropy(maps, ids):  # [head, query, key] -> [head]
    """How spread out the attention is, in nats: -sum of A ln A of a row, in the mean over the rows;
    0 where each row looks at one token only.
    """
    logs = np.log(maps, out=np.zeros_like(maps), where=maps > 0)
    return _mean(-np.einsum("hqk,hqk->hq", maps, logs))


def distance(maps, ids):  # [head, query, key] -> [head]
    """How far back a row looks in the mean, in tokens: sum of A[i, j] (i - j) / sum of A."""
    return _distance(maps, 0)


def distance_rest(maps, ids):  # [head, query, key] -> [head]
    """The same without what the first token gets (j >= 1): a sink makes every head look far."""
    return _distance(maps, 1)


MEASURES = {
    measure.__name__: measure
    for measure in (previous, current, first, duplicate, entropy, distance, distance_rest)
}


def of_layer(maps, ids) -> dict[str, np.ndarray]:
    """Every measure of a layer's heads: float64 [head], by name. maps: [head, query, key]."""
    return {name: measure(maps, np.asarray(ids)) for name, measure in MEASURES.items()}


def _mean(rows):  # [head, row] -> [head]
    """The mean over rows; NaN of none."""
    if rows.shape[1] == 0:
        return np.full(len(rows), np.nan)
    return rows.mean(axis=1, dtype=np.float64)


def _distance(maps, least):
    n = maps.shape[1]
    ago = np.subtract.outer(np.arange(n), np.arange(n)).clip(0)[:, least:].astype(maps.dtype)
    looked = maps[:, :, least:]
    far = np.einsum("hqk,qk->h", looked, ago, dtype=np.float64)
    whole = looked.sum(axis=(1, 2), dtype=np.float64)
    return np.divide(far, whole, out=np.full(len(maps), np.nan), where=whole != 0)
