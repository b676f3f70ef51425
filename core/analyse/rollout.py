"""Attention rollout: the mean map of every layer, multiplied through the layers, as if a token were
handed on along the weights alone. Reads a trace once, and knows maps after that; no figures.

Abnar & Zuidema 2020 (arXiv 2005.00928), section 3, for encoders: A_l is the mean over the heads of
layer l, Â_l = ½ A_l + ½ I stands for attention and the residual stream beside it, and R_l = Â_l
R_{l-1} with R_{-1} = I, layers counted from 0. Row i of R_l says how the token at i, after layer l,
is made of the tokens of the text. Values, the output projection and the MLP are left out.

Two variants of ours for causal models with a sink. "rest": in each A_l the column of the first
token is left out and every row divided by what is left; row 0 stays itself. Then the second token
sees nobody else, so everything flows to that one instead. `since`: the layers before it are passed
over, as if R were I up to there. Less flows to the first token then, but the stream that goes into
that layer is a mixture already, and counts as its own token alone.
"""

from dataclasses import dataclass

import numpy as np

from core.record.trace import freeze

from .agreement import Agreement, compare
from .derived import kept

KINDS = ("whole", "rest")
CLOSE = 2e-5  # what rounding in float32 through many layers may make of a share


def means(trace) -> np.ndarray:
    """The mean map of each layer: float32 [layer, query, key], read-only. The attention of each
    layer is run again once.
    """

    def made():
        maps = trace.each_layer("attn.weights")
        return freeze(np.stack([weights.mean(axis=0) for weights in maps]))

    return kept(trace, ("mean maps",), made)


def first_share(means, position: int) -> float:
    """What a token gives to the first one: the mean over all layers. means: [layer, query, key]."""
    return float(means[:, position, 0].mean())


def without_first(mean: np.ndarray) -> np.ndarray:  # [query, key] -> [query, key]
    """A mean map without what the first token gets: every row divided by the rest. A row with
    nothing left looks at itself.
    """
    rest = mean.copy()
    rest[:, 0] = 0
    left = rest.sum(axis=1, keepdims=True)
    nothing = left[:, 0] == 0
    rest[nothing, nothing] = 1  # row i, key i
    return np.divide(rest, np.where(left == 0, 1, left), out=rest)


def _step(mean, kind):
    """A_l as the variant has it."""
    return without_first(mean) if kind == "rest" else mean


def rollout(means, kind: str = "whole", since: int = 0) -> np.ndarray:  # -> [query, key]
    """R of the last layer, all rows. means: [layer, query, key]. since: the first layer that
    counts.
    """
    found = np.eye(means.shape[1], dtype=np.float32)
    for mean in means[since:]:
        found = (_step(mean, kind) @ found + found) / 2
    return found


def rows(means, position: int, kind: str = "whole", since: int = 0) -> np.ndarray:
    """Row `position` of R_{-1}, R_0, ...: what the token is made of before the first layer and
    after each, float32 [layer + 1, key]. Up to layer `since` it is itself alone. Keys after the
    position are left out: a token is made of none of them.

    Found without a whole R: for each layer a row of I goes through its Â and those before it.
    """
    n = position + 1
    found = np.zeros((len(means) + 1, n), np.float32)
    found[:, position] = 1
    for layer in range(len(means) - 1, since - 1, -1):
        below = found[layer + 1 :]
        below[:] = (below @ _step(means[layer, :n, :n], kind) + below) / 2
    return found


def column(means, layer: int, key: int, n: int, kind: str = "whole", since: int = 0) -> np.ndarray:
    """How much of `key` is in each of the first n tokens after `layer` layers: [query], a column
    of R.
    """
    found = np.zeros(n, np.float32)
    found[key] = 1
    for mean in means[since:layer]:
        found = (_step(mean[:n, :n], kind) @ found + found) / 2
    return found


@dataclass(frozen=True, eq=False)
class Terms:
    """One number of R_l as the sum that makes it, over the tokens k up to the row's own.

    Attributes:
        step: Â_l[i, k]. before: R_{l-1}[k, j]. products: of both, float64 [key]. share: the number
        as `rows` has it. agreement: of the sum with it.
    """

    step: np.ndarray
    before: np.ndarray
    products: np.ndarray
    share: float
    agreement: Agreement

    @property
    def total(self) -> float:
        """The sum of all products."""
        return float(self.products.sum())


def terms(means, share, layer: int, position: int, key: int, kind="whole", since=0) -> Terms:
    """What made R_layer[position, key]: the way through every token between.

    share: the same number, found by `rows`. The factors before come down the column of `key`, so
    nothing is used twice. layer: counts from 0.
    """
    n = position + 1
    step = np.zeros(n, np.float32)
    if layer >= since:
        step = _step(means[layer, :n, :n], kind)[position] / 2
    step[position] += 0.5 if layer >= since else 1
    before = column(means, layer, key, n, kind, since)
    products = step.astype(np.float64) * before
    return Terms(step, before, products, share, compare(products.sum(), share, CLOSE))


def together(row, keys) -> float:  # [key]
    """The sum of a row's numbers at these keys."""
    return float(np.asarray(row)[list(keys)].sum(dtype=np.float64))


def sums(found) -> Agreement:  # [layer + 1, key]
    """Whether every row of shares sums to 1."""
    return compare(found.sum(axis=1, dtype=np.float64), np.ones(len(found)), CLOSE)


def first_above(shares, least: float = 0.5) -> int | None:  # [layer + 1] -> layer
    """After how many layers a share is above `least` for the first time; None where it never is."""
    above = np.flatnonzero(shares > least)
    return int(above[0]) if len(above) else None


def telling_key(shares) -> int:  # [key]
    """The token that a row is most made of besides itself and the two that all flows to, with the
    first token (0) or without it (1); itself where there is no other.
    """
    between = shares[2:-1]
    return 2 + int(between.argmax()) if len(between) else len(shares) - 1
