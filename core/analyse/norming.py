"""What a norm measures in a row and what it makes of it: the mean of the squares, the scale, the
row at a standard size, the row after its weight.

Computes in float64 from the recorded float32 row and the weights of the file, and holds the result
beside the record. Reads a trace; no sentences, no figures. Sources: LayerNorm (Ba et al. 2016),
RMSNorm (Zhang & Sennrich 2019).
"""

from dataclasses import dataclass, replace

import numpy as np

from .agreement import Agreement, compare, rounding
from .panel import Panel, magnitude
from .reader import Reader


@dataclass(frozen=True)
class Normed:
    """A row, or many, and what a norm makes of each. float64 but for the record.

    Attributes:
        before: [..., n]. recorded: float32 [..., n], what the pass made of it.
        weight: [n]. bias: [n], or None for a norm that has none.
        mean: [...], what was taken off: 0 for RMSNorm. eps: added to the mean square.
    """

    before: np.ndarray
    recorded: np.ndarray
    weight: np.ndarray
    bias: np.ndarray | None
    mean: np.ndarray
    eps: float

    @property
    def centred(self) -> np.ndarray:
        """The row less its mean: what is squared."""
        return self.before - self.mean[..., None]

    @property
    def mean_square(self) -> np.ndarray:
        """[...]: the mean of the squares; of LayerNorm, the variance."""
        return (self.centred**2).mean(-1)

    @property
    def root(self) -> np.ndarray:
        """[...]: the root of the mean square, the size that the norm takes out."""
        return np.sqrt(self.mean_square)

    @property
    def scale(self) -> np.ndarray:
        """[...]: 1 / sqrt(mean square + eps), the one number that a whole row is multiplied by."""
        return (self.mean_square + self.eps) ** -0.5

    @property
    def standard(self) -> np.ndarray:
        """[..., n]: the row at its standard size, before the weight."""
        return self.centred * self.scale[..., None]

    @property
    def standard_root(self) -> np.ndarray:
        """[...]: its root mean square, 1 but for eps."""
        return np.sqrt((self.standard**2).mean(-1))

    @property
    def after(self) -> np.ndarray:
        """[..., n]: the result, computed again."""
        weighted = self.standard * self.weight
        return weighted if self.bias is None else weighted + self.bias

    @property
    def after_root(self) -> np.ndarray:
        """[...]: the root mean square of the recorded result."""
        return np.sqrt((self.recorded.astype(np.float64) ** 2).mean(-1))

    @property
    def allowed(self) -> np.ndarray:
        """[..., n]: how far float32 may be from `after`, as in `explain`: relative to the number,
        where something was taken off or added to the magnitudes of both.
        """
        off = np.abs(self.before).mean(-1)[..., None] if self.bias is not None else 0
        size = (np.abs(self.before) + off) * self.scale[..., None] * np.abs(self.weight)
        return rounding(size if self.bias is None else size + np.abs(self.bias))

    @property
    def agreement(self) -> Agreement:
        """The result computed again beside the record."""
        return compare(self.after, self.recorded, self.allowed)


@dataclass(frozen=True)
class Square:
    """One number's part of the mean square. number: which. value: it, less the mean.

    share: its square's part of the sum of squares, 0 to 1. factor: how many times as large the
    scale would be if this one number were 0; infinite where nothing would be left.
    """

    number: int
    value: float
    share: float
    factor: float


def largest_squares(row: Normed, n: int) -> list[Square]:
    """The n numbers of a row with the largest squares, largest first; none in a row of zeros."""
    squares = row.centred**2
    total, order = float(squares.sum()), np.argsort(-squares, kind="stable")
    return [_square(row, squares, total, int(at)) for at in order[:n] if squares[at] > 0]


def _square(row, squares, total, at):
    own = float(squares[at])
    left = (total - own) / len(squares) + row.eps
    factor = float(np.sqrt((total / len(squares) + row.eps) / left)) if left > 0 else float("inf")
    return Square(at, float(row.centred[at]), own / total, factor)


def rest(found: list[Square]) -> float:
    """What all other numbers of the row hold of the sum of squares."""
    return max(1 - sum(part.share for part in found), 0.0)


def of_cell(trace, op: str, layer: int | None, index) -> tuple[Normed, int]:
    """The row around a cell of a norm's value, and which of its numbers the cell is. index: the
    cell's, in the order of the op's axes.
    """
    reader = Reader(trace, op, layer)
    if reader.entry.kind == "norm_all_heads":
        position, head, dim = index
        heads = reader.read()[position]
        own = head * heads.shape[1] + dim
        return _normed(reader, heads.reshape(-1), trace.read(op, layer)[position].reshape(-1)), own
    at = tuple(index[:-1])
    return _normed(reader, reader.row(at), trace.read(op, layer)[at]), index[-1]


def standard_strip(row: Normed, before: Panel) -> Panel:
    """The row at its standard size as a strip, like the one of the row before."""
    values = row.standard.astype(np.float32).reshape(1, -1)
    return replace(before, name="standard", part="constant", values=values, limit=magnitude(values))


def of_all(trace, op: str, layer: int | None, index) -> Normed:
    """The same rows of every position: [seq, n]. Where each head has a norm of its own, those of
    the cell's head.
    """
    reader = Reader(trace, op, layer)
    before, recorded = (_rows(x, reader, index) for x in (reader.read(), trace.read(op, layer)))
    return _normed(reader, before, recorded)


def _rows(values, reader, index):
    if reader.entry.kind == "norm_all_heads":
        return values.reshape(len(values), -1)
    return values[:, index[1]] if values.ndim == 3 else values


def _normed(reader, before, recorded):
    before, bias = before.astype(np.float64), reader.bias()
    off = before.mean(-1) if reader.entry.kind == "layer_norm" else np.zeros(before.shape[:-1])
    weight = reader.weight().astype(np.float64)
    bias = None if bias is None else bias.astype(np.float64)
    return Normed(before, recorded, weight, bias, off, reader.config.norm_eps)
