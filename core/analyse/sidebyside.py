"""Two attention maps side by side: their difference cell by cell, how far apart each row is, and
how alike the maps are. Reads maps from a trace; no figures.

A map is A[query, key]: row i says how the token at position i shares out its attention, and sums to
1. A cell that the mask hides holds NaN here, and counts as the 0 that it is. The mean over the
heads of a layer is such a map, too.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .agreement import Agreement, compare, rounding

LARGEST = 192  # cells a side of a figure; longer maps are reduced to blocks


def of_head(trace, layer: int, head: int) -> np.ndarray:  # [query, key]
    """The map of one head, NaN where a key is hidden."""
    return _masked(trace, layer, trace.read("attn.weights", layer)[head])


def of_layer(trace, layer: int) -> np.ndarray:  # [query, key]
    """The mean map of a layer's heads, NaN where a key is hidden."""
    mean = trace.read("attn.weights", layer).mean(axis=0, dtype=np.float64)
    return _masked(trace, layer, mean.astype(np.float32))


def of_heads(trace, layer: int, query: int, key: int) -> list[float]:  # [head]
    """What every head of a layer gives at one cell: the mean map holds the mean of these."""
    return trace.read("attn.weights", layer)[:, query, key].tolist()


def _masked(trace, layer, weights):
    """A copy of a map with NaN for later keys and for those outside the layer's window."""
    n, window = len(trace.ids), trace.config.windows[layer]
    ago = np.subtract.outer(np.arange(n), np.arange(n))
    return np.where((ago >= 0) & (ago < (window or n)), weights, np.float32(np.nan))


def partner(trace, layer: int, head: int) -> int:
    """The head to lay beside a head: of those that read the same KV head, or of the whole layer
    where no other does, the one whose rows differ most from its own; itself where it is alone.
    """
    group, weights = trace.config.group, trace.read("attn.weights", layer)
    same = [h for h in range(len(weights)) if h // group == head // group and h != head]
    others = same or [h for h in range(len(weights)) if h != head]
    return max(others, default=head, key=lambda h: float(_apart(weights[head], weights[h]).mean()))


def _apart(first, second):  # [query, key] -> [query]
    return 0.5 * np.abs(np.subtract(first, second, dtype=np.float64)).sum(axis=1)


# ---- which tokens belong together ----------------------------------------------------------------


def paired(first, second) -> tuple[np.ndarray, np.ndarray]:
    """Which positions of two token sequences are compared: (in the first, in the second).

    Of equal length: each position with the same one, whatever stands there. Otherwise the tokens
    that both begin with and those that both end with; what lies between has no partner.
    """
    if len(first) == len(second):
        return np.arange(len(first)), np.arange(len(second))
    shorter = min(len(first), len(second))
    begin = _common(first, second, shorter)
    end = _common(first[::-1], second[::-1], shorter - begin)
    return tuple(np.r_[:begin, len(ids) - end : len(ids)] for ids in (first, second))


def _common(first, second, most):
    """How many tokens two sequences begin with alike, at most `most`."""
    pairs = zip(first[:most], second[:most], strict=True)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), most)


# ---- the comparison ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cell:
    """A compared cell: its row and column, the weights in A and in B, and A - B. hidden: whether
    the mask hides its key in both.
    """

    row: int
    column: int
    first: float
    second: float
    difference: float
    hidden: bool


@dataclass(frozen=True)
class Beside:
    """Two maps A and B beside each other.

    Attributes:
        first, second: the maps, float32 [query, key], NaN where hidden; of two texts each has the
        size of its own. at_first, at_second: the positions that are compared, in each: [row].
    """

    first: np.ndarray
    second: np.ndarray
    at_first: np.ndarray
    at_second: np.ndarray

    @cached_property
    def pair(self) -> tuple[np.ndarray, np.ndarray]:
        """The parts of A and B that are compared, float32 [row, column], 0 where hidden."""
        return tuple(
            np.nan_to_num(map_[np.ix_(at, at)], nan=0.0)
            for map_, at in ((self.first, self.at_first), (self.second, self.at_second))
        )

    @cached_property
    def difference(self) -> np.ndarray:
        """A - B, float32 [row, column]; NaN where the mask hides the key in both."""
        a, b = self.pair
        hidden = np.isnan(self.first[np.ix_(self.at_first, self.at_first)])
        hidden = hidden & np.isnan(self.second[np.ix_(self.at_second, self.at_second)])
        return np.where(hidden, np.float32(np.nan), a - b)

    @cached_property
    def sums(self) -> tuple[np.ndarray, np.ndarray]:
        """How much more A gives in each row, summed over the keys that get more from A, and the
        same for B: float64 [row] each. What goes to a token without a partner counts whole.
        """
        a, b = self.pair
        gap, alone = np.subtract(a, b, dtype=np.float64), self.alone
        return gap.clip(0).sum(axis=1) + alone[0], (-gap).clip(0).sum(axis=1) + alone[1]

    @cached_property
    def alone(self) -> tuple[np.ndarray, np.ndarray]:
        """What A gives in each row to tokens without a partner, and B: float64 [row] each."""
        return _rest(self.first, self.at_first), _rest(self.second, self.at_second)

    @cached_property
    def distances(self) -> np.ndarray:
        """The total variation distance of each row, 1/2 sum |A - B|: 0 for equal rows, 1 for rows
        that share no key; float64 [row].
        """
        return 0.5 * (self.sums[0] + self.sums[1])

    def balance(self, row: int) -> Agreement:
        """Both rows sum to 1, so what A gives more in some keys B gives more in others: the two
        sums beside each other.
        """
        return compare(self.sums[0][row], self.sums[1][row], rounding(2.0))

    def cosine(self, first_key: int = 0) -> float:
        """How alike the maps are: sum AB / sqrt(sum A^2 sum B^2) over all compared cells; NaN of
        nothing. first_key 1 leaves out what the first token gets, which makes most heads look
        alike.
        """
        kept = np.minimum(self.at_first, self.at_second) >= first_key
        a, b = (part[:, kept].astype(np.float64) for part in self.pair)
        size = np.sqrt((a * a).sum() * (b * b).sum())
        return float((a * b).sum() / size) if size > 0 else float("nan")

    @property
    def largest(self) -> tuple[int, int]:
        """Row and column of the difference of largest magnitude."""
        return strongest(self.difference)

    @property
    def limit(self) -> float:
        """The largest magnitude of a difference."""
        return abs(self.cell(*self.largest).difference)

    def column(self, row: int) -> int:
        """The column of a row's difference of largest magnitude."""
        return strongest(self.difference[row : row + 1])[1]

    def cell(self, row: int, column: int) -> "Cell":
        """One compared cell in numbers."""
        a, b = (float(part[row, column]) for part in self.pair)
        hidden = bool(np.isnan(self.difference[row, column]))
        return Cell(row, column, a, b, a - b, hidden)

    def ranked(self) -> list["Cell"]:
        """The cell of largest difference of each row; the row that is furthest apart first."""
        order = np.argsort(-self.distances, kind="stable").tolist()
        return [self.cell(row, self.column(row)) for row in order]

    def row(self, position: int) -> int | None:
        """The row (or column) of a position of the first text; None for one without a partner."""
        return _place(self.at_first, position)

    def row_second(self, position: int) -> int | None:
        """The same of a position of the second text."""
        return _place(self.at_second, position)


def beside(first, second, at=None) -> Beside:
    """Two maps of one text beside each other, or of two: at, their `paired` positions."""
    return Beside(first, second, *(at or (np.arange(len(first)),) * 2))


def _place(at, position):
    found = np.flatnonzero(at == position)
    return int(found[0]) if len(found) else None


def _rest(whole, at):
    """What each compared row gives to keys without a partner: float64 [row]."""
    others = np.delete(whole[at], at, axis=1)
    return np.nansum(others, axis=1, dtype=np.float64)


def first_share(weights) -> float:
    """What the first token gets, of the attention of all rows behind the first: 0 where a window
    hides it; NaN of a single token. weights: [query, key], NaN where hidden.
    """
    seen = np.nan_to_num(weights[1:, 0], nan=0.0)
    return float(seen.mean(dtype=np.float64)) if len(seen) else float("nan")


# ---- for figures ---------------------------------------------------------------------------------


def block_of(n: int, largest: int = LARGEST) -> int:
    """How many tokens a cell of a figure stands for, on each side."""
    return max(1, -(-n // largest))


def reduced(values, block: int):  # [row, column] -> [row', column']
    """Each square block by its number of largest magnitude, with its sign; NaN where all of it is
    hidden.
    """
    if block == 1:
        return values
    high, low = values, values
    for axis in (0, 1):
        edges = np.arange(0, values.shape[axis], block)
        high = np.fmax.reduceat(high, edges, axis=axis)
        low = np.fmin.reduceat(low, edges, axis=axis)
    return np.where(high >= -low, high, low)


def strongest(values) -> tuple[int, int]:
    """Row and column of the number of largest magnitude; the first cell where all are hidden."""
    sizes = np.where(np.isnan(values), -1, np.abs(values))
    row, column = np.unravel_index(np.argmax(sizes), values.shape)
    return int(row), int(column)


def behind(values, block: int, cell) -> tuple[int, int]:
    """Which number of a map a cell of its reduced figure shows: (row, column)."""
    row, column = (each * block for each in cell)
    down, across = strongest(values[row : row + block, column : column + block])
    return row + down, column + across
