"""What attention heads do, as numbers: how much each looks at the token before, at itself, at the
first one, at an equal one; how spread out and how far it looks. Knows attention maps and token ids;
no trace, no figures.

A map is A[query, key] of one head: row i says how the token at position i shares out its attention,
and sums to 1. Definitions: previous token, current token and duplicate token as in TransformerLens'
head detector, over the rows that can score, so that a perfect head has exactly 1; first token as
the sink of Gu et al. 2025 (arXiv 2410.10781); entropy as in Clark et al. 2019; distance as in Vig &
Belinkov 2019. The induction score needs a text of its own: core.analyse.repeating.

In a layer with a window a row counts where it sees what it is asked about: of the first token, the
rows that the window still lets see it; of an equal token, the rows that have one in their window.
"""

from dataclasses import dataclass

import numpy as np

from .agreement import Agreement, compare, rounding
from .patterns import previous_token

TINY = np.finfo(np.float32).tiny
ROWS = 64  # of a map at a time: those before them see only the keys up to there


def previous(maps, ids, window=None):  # [head, query, key] -> [head]
    """The mean of A[i, i-1] over the rows that have a token before them."""
    return previous_token(maps) if maps.shape[1] > 1 else _nothing(maps)


def current(maps, ids, window=None):  # [head, query, key] -> [head]
    """The mean of A[i, i]."""
    return np.diagonal(maps, 0, 1, 2).mean(axis=1, dtype=np.float64)


def first(maps, ids, window=None):  # [head, query, key] -> [head]
    """The mean of A[i, 0] over the rows that see another token besides, i >= 1."""
    rows = maps[:, 1:window, 0]
    return rows.mean(axis=1, dtype=np.float64) if rows.shape[1] else _nothing(maps)


def duplicate(maps, ids, window=None):  # [head, query, key] -> [head]
    """The attention to earlier tokens equal to the row's own: the sum of A[i, j] with id j = id i
    and j < i, in the mean over the rows that have such a token. NaN where none has.
    """
    equal = _equal(ids, window)
    n_rows = equal.any(axis=1).sum()
    return _sum(maps, equal) / n_rows if n_rows else _nothing(maps)


def entropy(maps, ids, window=None):  # [head, query, key] -> [head]
    """How spread out the attention is, in nats: -sum of A ln A of a row, in the mean over the rows;
    0 where each row looks at one token only.
    """
    n, total = maps.shape[1], 0.0
    for start in range(0, n, ROWS):
        seen = maps[:, start : start + ROWS, : start + ROWS]
        logs = np.maximum(seen, TINY)  # a weight of 0 adds 0
        np.log(logs, out=logs)
        logs *= seen
        total = total - logs.sum(axis=2).sum(axis=1, dtype=np.float64)
    return total / n


def distance(maps, ids, window=None):  # [head, query, key] -> [head]
    """How far back a row looks in the mean, in tokens: sum of A[i, j] (i - j) / sum of A."""
    return _distance(maps, 0)


def distance_rest(maps, ids, window=None):  # [head, query, key] -> [head]
    """The same without what the first token gets (j >= 1): a sink makes every head look far."""
    return _distance(maps, 1)


MEASURES = {
    measure.__name__: measure
    for measure in (previous, current, first, duplicate, entropy, distance, distance_rest)
}


def of_layer(maps, ids, window=None) -> dict[str, np.ndarray]:
    """Every measure of a layer's heads: float64 [head], by name. maps: [head, query, key]; window:
    how many keys a query of this layer sees, None for all.
    """
    return {name: measure(maps, np.asarray(ids), window) for name, measure in MEASURES.items()}


def _equal(ids, window):
    """Which keys hold the token of the query, before it and in its window: bool [query, key]."""
    equal = np.tril(np.equal.outer(ids, ids), -1)
    return equal if window is None else np.triu(equal, 1 - window)


def _nothing(maps):
    return np.full(len(maps), np.nan)


def _sum(maps, factors):  # [head, query, key], [query, key] -> [head]
    """The sum of weight times factor over a whole map, as one product."""
    factors = np.ascontiguousarray(factors, np.float32).reshape(-1)
    return (maps.reshape(len(maps), -1) @ factors).astype(np.float64)


def _distance(maps, least):
    place = np.arange(maps.shape[1], dtype=np.float32)
    counted = np.broadcast_to(place >= least, maps.shape[1:])
    far, whole = _sum(maps, np.subtract.outer(place, place) * counted), _sum(maps, counted)
    return np.divide(far, whole, out=_nothing(maps), where=whole != 0)


# ---- all heads beside each other -----------------------------------------------------------------

SHARES = ("previous", "current", "first")  # of all attention: what every text has
ORDERS = ("largest", "smallest", "place")


def order(scores, how: str = "largest") -> list[tuple[int, int]]:  # [layer, head]
    """All heads, (layer, head): by their score, or by their place in the model. Those without a
    number come last, equal ones in the order of the model.
    """
    flat = scores.reshape(-1) * (-1.0 if how == "largest" else 1.0)
    sorted_ = range(flat.size) if how == "place" else np.argsort(flat, kind="stable").tolist()
    return [divmod(n, scores.shape[1]) for n in sorted_]


def ranked(scores, how: str = "largest") -> list[tuple[int, int]]:  # [layer, head]
    """The heads in `order`, without those that have no number."""
    return [head for head in order(scores, how) if defined(scores[head])]


def at_least(scores, heads, limit: float) -> list[tuple[int, int]]:  # [layer, head]
    """Those of some heads whose score is not below a limit, in their order."""
    return [head for head in heads if scores[head] >= limit]


def rank(scores, layer: int, head: int) -> int | None:  # [layer, head]
    """The place of a head's score among all, 1 for the largest; None without a number."""
    mine = scores[layer, head]
    return 1 + int((scores > mine).sum()) if defined(mine) else None


def defined(scores) -> bool:
    """Whether any head has a number."""
    return not np.isnan(scores).all()


def most(scores: dict[str, np.ndarray]) -> dict[str, int]:
    """How many heads give most to the token before, to themselves, to the first one; "none": how
    many give none of the three more than half.
    """
    three = np.nan_to_num(np.stack([scores[name] for name in SHARES]), nan=-1)
    best = three.argmax(axis=0)
    found = {name: int((best == n).sum()) for n, name in enumerate(SHARES)}
    return found | {"none": int((three.max(axis=0) <= 0.5).sum())}


# ---- one head, row by row ------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Rows:
    """What each row of a map adds to a measure, float64 [query]; NaN where a row does not count.

    Attributes:
        values: what is added up. counted: what the sum is divided by, row by row: 1, or of a
        distance the attention that was counted.
    """

    values: np.ndarray
    counted: np.ndarray

    @property
    def total(self) -> float:
        """The sum of the values."""
        return float(np.nansum(self.values))

    @property
    def whole(self) -> float:
        """What it is divided by."""
        return float(np.nansum(self.counted))

    @property
    def score(self) -> float:
        """The measure; NaN where no row counts."""
        return self.total / self.whole if self.whole else np.nan

    def agreement(self, recorded: float) -> Agreement:
        """Whether the measure is the recorded one."""
        return compare(self.score, recorded, rounding(abs(recorded)))


def by_row(name: str, weights, ids, window=None) -> Rows:  # weights [query, key]
    """A measure of MEASURES of one head, row by row in double precision, each from its definition
    and not as `of_layer` adds it up.
    """
    a, n = weights.astype(np.float64), len(weights)
    values, counted, place = np.full(n, np.nan), np.ones(n), np.arange(n)
    if name == "previous":
        values[1:] = a[place[1:], place[:-1]]
    elif name == "current":
        values[:] = a[place, place]
    elif name == "first":
        values[1:window] = a[1:window, 0]
    elif name == "duplicate":
        equal = _equal(np.asarray(ids), window)
        values = np.where(equal.any(axis=1), (a * equal).sum(axis=1), np.nan)
    elif name == "entropy":
        values = np.array([-(row[row > 0] * np.log(row[row > 0])).sum() + 0.0 for row in a])
    else:
        least = int(name == "distance_rest")
        ago = np.subtract.outer(place, place)[:, least:]
        values, counted = (a[:, least:] * ago).sum(axis=1), a[:, least:].sum(axis=1)
    return Rows(values, np.where(np.isnan(values), np.nan, counted))
