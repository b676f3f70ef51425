"""Which neurons of an MLP fire for a token: what goes into each, how far its gate is open, what
comes out; and how few of them hold most of it.

Reads a trace and computes in float64 from what it recorded; no figures, no sentences. A neuron with
a gate passes silu(g) · u on (Shazeer 2020), one without passes act(u).
"""

from dataclasses import dataclass

import numpy as np

from core.model import ops

from .agreement import Agreement, compare, rounding


def _sigmoid(z):
    return np.exp(-np.logaddexp(0, -z))


def _tanh_form(z):
    return (1 + np.tanh(np.sqrt(2 / np.pi) * (z + 0.044715 * z**3))) / 2


# by the kind of an activation: the factor between 0 and 1 that it multiplies its own input by
OPEN = {"silu": _sigmoid, "gelu_tanh": _tanh_form, "gelu_erf": ops.normal_cdf}


@dataclass(frozen=True)
class Decade:
    """The neurons whose size lies between two powers of ten: `low` (0 for the smallest ones)
    included, `high` not. n: how many. share: of the sum of all squares.
    """

    low: float
    high: float
    n: int
    share: float


@dataclass(frozen=True)
class Firing:
    """The neurons of a layer at one position, each float64 [neuron].

    Attributes:
        kind: of the activation. z: what goes into it. open: the factor between 0 and 1 that it
            multiplies z by. act: what was recorded behind it. up: what the gate lets through; None
            for neurons without a gate. value: the recorded row of the op that is shown.
        agreement: of the recorded row with the product of the two factors that make it.
    """

    kind: str
    z: np.ndarray
    open: np.ndarray
    act: np.ndarray
    up: np.ndarray | None
    value: np.ndarray
    agreement: Agreement

    @property
    def n_open(self) -> int:
        """How many gates are more than half open."""
        return int((self.open > 0.5).sum())

    def largest(self, n: int | None = None) -> list[int]:
        """The neurons of largest magnitude, the largest first."""
        return np.argsort(-np.abs(self.value), kind="stable")[:n].tolist()

    def holding(self, share: float) -> int:
        """How many of the largest neurons make up a share of the sum of all squares."""
        return int(holding(self.value[None], share)[0])

    def decades(self, least: int = -3) -> list[Decade]:
        """The neurons by size, the smallest first: below 10^least, then power by power."""
        sizes, squares, edges = np.abs(self.value), self.value**2, [10.0**least]
        while edges[-1] <= sizes.max():
            edges.append(10.0 ** (least + len(edges)))
        n = np.bincount(np.digitize(sizes, edges), minlength=len(edges))
        held = np.bincount(np.digitize(sizes, edges), squares, minlength=len(edges))
        shares = held / (squares.sum() or 1.0)
        lows = [0.0, *edges]
        return [
            Decade(*each) for each in zip(lows, edges, n.tolist(), shares.tolist(), strict=False)
        ]


def firing(trace, op: str, layer: int, position: int) -> Firing:
    """The neurons behind `op` ("mlp.act" or "mlp.hidden") at a position."""
    act = trace.catalogue.op("mlp.act", layer)
    gated = "gated" in act.tags

    def row(name):
        return trace.read(name, layer)[position].astype(np.float64)

    z, value = row(act.inputs[0]), row(op)
    share = OPEN[act.kind](z)
    up = row("mlp.up") if gated else None
    factor, size = (row("mlp.act"), up) if op == "mlp.hidden" else (z, share)
    # rounding goes by what the factor multiplies: near its bends GELU takes 1 from a tanh near -1
    allowed = rounding(np.abs(value if op == "mlp.hidden" else z))
    agreement = compare(factor * size, value, allowed)
    return Firing(act.kind, z, share, row("mlp.act"), up, value, agreement)


def strongest(trace, op: str, layer: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """At every position: the neuron of largest magnitude, its number, and how many neurons make up
    half of the sum of all squares, each [seq].
    """
    rows = trace.read(op, layer).astype(np.float64)
    most = np.abs(rows).argmax(axis=1)
    return most, rows[np.arange(len(rows)), most], holding(rows, 0.5)


def holding(rows, share: float):  # [seq, neurons] -> [seq]
    """How many of the largest numbers of each row make up a share of the sum of its squares."""
    squares = -np.sort(-(rows**2), axis=1)
    so_far = np.cumsum(squares, axis=1)
    return (so_far < share * so_far[:, -1:]).sum(axis=1) + 1


def curve(kind: str, reach: float, n: int = 121) -> tuple[np.ndarray, np.ndarray]:
    """An activation from -reach to reach: inputs and outputs, each float64 [n]."""
    z = np.linspace(-reach, reach, n)
    return z, z * OPEN[kind](z)
