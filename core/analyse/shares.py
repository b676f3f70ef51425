"""What each head, and each neuron, writes into the residual stream: its vector of the output, how
long it is and how far it points along the whole.

Reads a trace and computes in float64 from what it recorded; no figures, no sentences. The output of
attention is a sum over heads, W_O c = sum of W_O^h c^h (Elhage et al. 2021), that of an MLP one
over neurons, W_down y = sum of y_n w_n (Geva et al. 2022).
"""

from dataclasses import dataclass

import numpy as np

from . import vectors
from .agreement import Agreement, compare, rounding
from .panel import Panel, magnitude
from .vectors import quotient


@dataclass(frozen=True)
class Shares:
    """The parts of one row of an output, heads or neurons, around one of its numbers.

    Attributes:
        into: what each part adds to that number, float64 [part]. bias: what a bias adds to it; 0.0
            where there is none.
        lengths: of the vector that each part writes, L2 norms [part].
        along: how far each vector goes in the direction of the whole row, with a sign [part].
        recorded: the number. length: of the whole recorded row.
        tolerance: how far `total` may be from the record.
    """

    into: np.ndarray
    bias: float
    lengths: np.ndarray
    along: np.ndarray
    recorded: float
    length: float
    tolerance: float

    @property
    def total(self) -> float:
        """The number as the sum of all parts and the bias."""
        return float(self.into.sum()) + self.bias

    @property
    def agreement(self) -> Agreement:
        """The sum beside the record."""
        return compare(self.total, self.recorded, self.tolerance)

    @property
    def cosines(self) -> np.ndarray:
        """Of the angle between each vector and the whole row [part]; NaN for one without length."""
        return quotient(self.along, self.lengths)

    @property
    def shares(self) -> np.ndarray:
        """Which share of the whole row's length each vector makes [part]; negative where it points
        against it. With that of the bias they sum to 1.
        """
        return quotient(self.along, self.length)

    def longest(self, n: int | None = None) -> list[int]:
        """The parts that write the longest vectors, the longest first."""
        return np.argsort(-self.lengths, kind="stable")[:n].tolist()

    def rest(self, listed: list[int]) -> float:
        """What all other parts add to the number."""
        return float(np.delete(self.into, listed).sum())


@dataclass(frozen=True)
class Group:
    """The vector that some neurons write together: its length, its cosine with the whole row, and
    the share of the whole row's length that it makes.
    """

    length: float
    cosine: float
    share: float


def of_heads(trace, layer: int, position: int, dim: int) -> Shares:
    """What each head of a layer writes at a position, and into dimension `dim`."""
    mixed = trace.read("attn.mix", layer)[position].astype(np.float64)
    written = np.stack([_written(trace, layer, h, c) for h, c in enumerate(mixed)])
    row = trace.read("attn.out", layer)[position].astype(np.float64)
    size = np.abs(mixed.reshape(-1) * trace.model.weights.get("attn_out", layer)[dim]).sum()
    parts = (written[:, dim], vectors.length(written), written @ _direction(row))
    return _shares(trace, "attn.out", layer, row, dim, parts, size)


def of_neurons(trace, layer: int, position: int, dim: int) -> Shares:
    """What each neuron of a layer writes at a position, and into dimension `dim`."""
    y, weight = _active(trace, layer, position), trace.model.weights.get("mlp_out", layer)
    row = trace.read("mlp.out", layer)[position].astype(np.float64)
    parts = (y * weight[dim], np.abs(y) * columns(weight), y * (_direction(row) @ weight))
    return _shares(trace, "mlp.out", layer, row, dim, parts, np.abs(parts[0]).sum())


def group(trace, layer: int, position: int, neurons: list[int]) -> Group:
    """What some neurons of a layer write at a position, as one vector."""
    y, weight = _active(trace, layer, position), trace.model.weights.get("mlp_out", layer)
    row = trace.read("mlp.out", layer)[position].astype(np.float64)
    vector = weight[:, neurons].astype(np.float64) @ y[neurons]
    lengths = vectors.length([vector, row])
    return Group(float(lengths[0]), *quotient(vector @ _direction(row), lengths).tolist())


def looked_at(trace, layer: int, position: int) -> list[tuple[int, float]]:
    """For every head: the position that a token gives most weight to, and that weight."""
    weights = trace.read("attn.weights", layer)[:, position]
    return [(int(row.argmax()), float(row.max())) for row in weights]


def lengths_of_heads(trace, layer: int) -> np.ndarray:
    """The lengths of what each head writes at every position: float64 [seq, head]."""
    mixed = trace.read("attn.mix", layer).astype(np.float64)
    each = (_written(trace, layer, h, mixed[:, h].T) for h in range(trace.config.n_heads))
    return np.stack([vectors.length(written.T) for written in each], axis=1)


def panel_of_heads(trace, layer: int, position: int, head: int) -> Panel:
    """The same as a panel [token, head] with one cell chosen, float32."""
    found = lengths_of_heads(trace, layer).astype(np.float32)
    how = {"limit": magnitude(found), "selected": (position, head), "amount": True}
    return Panel("attn.out", "output", "attention", found, "seq", "head", n_rows=len(found), **how)


def longest_of_neurons(trace, layer: int) -> tuple[np.ndarray, np.ndarray]:
    """At every position: the neuron that writes the longest vector, and that length, each [seq]."""
    hidden = trace.read(hidden_op(trace, layer), layer).astype(np.float64)
    lengths = np.abs(hidden) * columns(trace.model.weights.get("mlp_out", layer))
    return lengths.argmax(axis=1), lengths.max(axis=1)


def lengths(trace, op: str, layer: int) -> np.ndarray:
    """The length of an op's row at every position: float64 [seq]."""
    return vectors.length(trace.read(op, layer))


def hidden_op(trace, layer: int) -> str:
    """The op whose numbers say how active the neurons are."""
    return trace.catalogue.op("mlp.out", layer).inputs[0]


def columns(weight) -> np.ndarray:
    """The lengths of the columns of a matrix [out, in]: float64 [in]. Squares of float32 fit."""
    return np.sqrt(np.einsum("oi,oi->i", weight, weight, dtype=np.float64, casting="same_kind"))


def _written(trace, layer, head, c):  # [head_dim] or [head_dim, n] -> [embedding] or [.., n]
    """What a head writes: its own columns of the output projection times what it fetched."""
    n = trace.config.head_dim
    weight = trace.model.weights.get("attn_out", layer)[:, head * n : (head + 1) * n]
    return weight.astype(np.float64) @ c


def _active(trace, layer, position):
    return trace.read(hidden_op(trace, layer), layer)[position].astype(np.float64)


def _direction(row):
    """The row brought to length 1; zeros where it has none."""
    return row / (vectors.length(row) or 1.0)


def _shares(trace, op, layer, row, dim, parts, size):
    """parts: into, lengths, along. size: the magnitudes of all products of the number, summed."""
    into, lengths, along = parts
    names = trace.catalogue.op(op, layer).biases
    bias = float(sum(trace.model.weights.get(name, layer)[dim] for name in names))
    tolerance = rounding(float(size) + abs(bias))
    length = float(vectors.length(row))
    return Shares(into, bias, lengths, along, float(row[dim]), length, tolerance)
