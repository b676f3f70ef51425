"""One row that RoPE turns: how far each of its pairs stands round, the chosen pair, and the length
before and after.

Reads a trace and computes in float64 from what it recorded; no figures, no sentences.
"""

from dataclasses import dataclass

import numpy as np

from core.model import rope

from .agreement import Agreement, compare
from .panel import Panel, strip
from .reader import Reader
from .vectors import length

TURN = 2 * np.pi
FEW = 6  # pairs that are listed beside the chosen one


@dataclass(frozen=True)
class Hand:
    """One pair at a position. wavelength: positions per whole turn. angle: radians, all turns
    counted. part: what is left of it without whole turns, 0 to 1 of a turn.
    """

    pair: int
    dims: tuple[int, int]
    wavelength: float
    angle: float
    part: float


@dataclass(frozen=True)
class Turned:
    """One row of a head before and after its rotation.

    Attributes:
        before, after: the row as strips on one scale, the partner of the chosen number outlined.
        parts: of each number, how far round its pair stands (0 to 1 of a turn); NaN where it is in
            no pair.
        dims: the two dimensions of the chosen pair, or None where the chosen number is in none.
        hands: some pairs in order, the first, the chosen and the last among them.
        amplitude: what the rotation multiplies by besides, 1 but for some scalings.
        lengths: of the numbers that turn, before and after. agreement: of the second with the first
            times the amplitude.
        n_turning: how many numbers of the head turn.
    """

    before: Panel
    after: Panel
    parts: Panel
    dims: tuple[int, int] | None
    hands: tuple[Hand, ...]
    amplitude: float
    lengths: tuple[float, float]
    agreement: Agreement
    n_turning: int


def turned(trace, view) -> Turned:
    """The row that a step's view is around. KeyError where the layer turns nothing."""
    position, head, dim = view.index
    reader = Reader(trace, view.op, view.layer)
    before, after = (x[position, head] for x in (reader.read(), trace.read(view.op, view.layer)))
    how = trace.config.ropes[view.layer]
    speeds = rope.frequencies(how, len(trace.ids))
    n, amplitude = len(speeds), rope.amplitude(how)
    dims = (dim % n, dim % n + n) if dim < 2 * n else None
    lengths = tuple(float(length(x[: 2 * n])) for x in (before, after))
    return Turned(
        *(_with_partner(panel, dim, dims) for panel in _strips(view, after)),
        _parts(position * speeds, len(after), dim, reader.entry.role),
        dims,
        tuple(_hand(i, position, speeds) for i in _listed(n, dims)),
        amplitude,
        lengths,
        compare(lengths[1], amplitude * lengths[0], 1e-6 * amplitude * lengths[0]),
        2 * n,
    )


def _strips(view, after):
    """The row before and after the turn, on one scale: equal numbers have equal colours."""
    position, _, dim = view.index
    row = strip(view.op, "output", view.output.role, after, ("seq", "head_dim"), position, dim)
    most = max(view.inputs[0].limit, row.limit)
    return view.inputs[0].scaled(most), row.scaled(most)


def _with_partner(panel, dim, dims):
    """A strip with the number that turns together with `dim` outlined."""
    if dims is None:
        return panel
    partner = dims[dim == dims[0]]
    return panel.boxed((0, partner, 1, partner + 1))


def _parts(angles, size, dim, role):
    """How far round each number's pair stands, as a strip."""
    row = np.full(size, np.nan, np.float32)
    row[: 2 * len(angles)] = np.tile(angles % TURN / TURN, 2)
    return strip("turns", "constant", role, row, ("", "head_dim"), 0, dim, amount=True)


def _hand(i, position, speeds):
    angle = float(position * speeds[i])
    wavelength = TURN / float(speeds[i]) if speeds[i] else float("inf")
    return Hand(i, (i, i + len(speeds)), wavelength, angle, angle % TURN / TURN)


def _listed(n, dims):
    """Numbers of pairs spread over all n, the chosen one among them."""
    spread = {round(i * (n - 1) / (FEW - 1)) for i in range(FEW)}
    return sorted(spread | ({dims[0]} if dims else set()))
