"""The rows of the embedding table: where a token's row lies, what its bytes say, and how long it is
among all rows.

Reads traces and weights, and bytes of the file by way of core.files.place; no text, no figures.
"""

from dataclasses import dataclass

import numpy as np

from core.files import place
from core.files.place import Stored
from core.store import ByteStore

from .panel import LARGEST_PICTURE, Mark, Panel, fits, largest_of_blocks, magnitude, whole

N_BINS = 60
AROUND = 3  # rows before and after a token's own that are shown with it
AXES = ("vocab", "embedding")
NORMS = ByteStore(16 << 20)
PICTURES = ByteStore(4 << 20)


def norms(model, name: str = "embed") -> np.ndarray:  # [vocab]
    """The length (L2 norm) of every row of the embedding table, or ("head") of the output matrix:
    float32, read-only. Made once per model, for everybody.
    """
    name = "embed" if model.weights.tied else name
    table = model.weights.get(name)
    return NORMS.get((model.source.key, name), lambda: _norms(table), lambda n: n.nbytes)


def _norms(table):
    """einsum makes no copy of the table."""
    lengths = np.sqrt(np.einsum("vd,vd->v", table, table))
    lengths.flags.writeable = False
    return lengths


@dataclass(frozen=True)
class Among:
    """A row's length among those of the vocabulary.

    Attributes:
        length: of this row. n_shorter: how many rows are shorter. shortest, longest: ids.
        counts, edges: histogram of all lengths, [bin] and [bin + 1].
    """

    length: float
    n_shorter: int
    shortest: int
    longest: int
    counts: np.ndarray
    edges: np.ndarray


def among(model, id: int) -> Among:
    """Where the length of a token's row stands. Rows that are damaged (not finite) are left out."""
    lengths = norms(model)
    kept = np.flatnonzero(np.isfinite(lengths))
    by_length = kept[np.argsort(lengths[kept], kind="stable")]
    counts, edges = np.histogram(lengths[kept], N_BINS)
    n_shorter = int((lengths[kept] < lengths[id]).sum())
    ends = int(by_length[0]), int(by_length[-1])
    return Among(float(lengths[id]), n_shorter, *ends, counts, edges)


# ---- the row in its table ------------------------------------------------------------------------


def table(model, id: int, column: int) -> Panel:
    """The whole table with a token's row outlined; a large one block by block, where the outline is
    around the blocks that hold the row.
    """
    values = model.weights.embed
    if fits(values.shape):
        used = Mark("used", id, False, id, id + 1)
        return whole("embed", "weight", "residual", values, AXES, (id, column), (used,))
    block = tuple(-(-n // most) for n, most in zip(values.shape, LARGEST_PICTURE, strict=True))
    small = PICTURES.get(model.source.key, lambda: _picture(values, block), lambda n: n.nbytes)
    row = id // block[0]
    cell, used = (row, column // block[1]), Mark("used", id, False, row, row + 1)
    return _panel(small, cell, 0, len(small), block=block, marks=(used,))


def _picture(values, block):
    small = largest_of_blocks(values, block)
    small.flags.writeable = False  # shared by all readers
    return small


def around(model, id: int, column: int) -> Panel:
    """A token's row with those of the ids before and after it."""
    values = model.weights.embed
    first, stop = max(id - AROUND, 0), min(id + AROUND + 1, len(values))
    return _panel(values[first:stop], (id - first, column), first, len(values))


def _panel(values, cell, first, n_rows, **more):
    """A piece of the table. cell: the chosen one."""
    limit = magnitude(values)
    return Panel("embed", "weight", "residual", values, *AXES, limit, cell, first, n_rows, **more)


# ---- the row in its file -------------------------------------------------------------------------


@dataclass(frozen=True)
class FromFile:
    """A number read from the file again, beside the one that the run recorded."""

    stored: Stored
    recorded: float
    difference: float
    equal: bool


def from_file(trace, position: int, column: int) -> FromFile:
    """One number of a position's row, computed from the bytes in the file as they are now.

    Nothing is rounded on the way from a file to float32, so equal means to the last bit. Raises
    ModelFileError where the file was changed or cannot be read.
    """
    again = place.stored(trace.model.source.embed, trace.ids[position], column)
    recorded = float(trace.read("embed")[position, column])
    equal = again.value == recorded
    return FromFile(again, recorded, 0.0 if equal else again.value - recorded, equal)


# ---- the row in the run --------------------------------------------------------------------------


def again(trace, position: int) -> list[int]:
    """The other positions whose row is the same, number by number."""
    rows = trace.read("embed")
    same = np.flatnonzero((rows == rows[position]).all(axis=1))
    return [int(other) for other in same if other != position]


def n_entering(trace, position: int) -> int:
    """How many numbers that go into the first block equal those of the token's row in the table."""
    entering = trace.read("resid_pre", 0)[position]
    return int((entering == trace.model.weights.embed[trace.ids[position]]).sum())
