"""The row that a matrix product makes, cut into heads, and who reads which head.

Reads a trace; no figures, no sentences.
"""

from dataclasses import dataclass, replace

from core.model.axes import OP_AXES

from .panel import Panel, magnitude


@dataclass(frozen=True)
class Split:
    """One position's row of queries, keys or values.

    Attributes:
        heads: all its numbers, a row for each head, with the chosen cell.
        parts: of each head, which numbers of the uncut row it takes: (first, last).
        readers: of each head, (first, last): the key/value head that a query head reads (twice the
            same), or the query heads that read a key/value head.
        chosen: the number of the chosen head.
    """

    heads: Panel
    parts: tuple[tuple[int, int], ...]
    readers: tuple[tuple[int, int], ...]
    chosen: int


def split(trace, op: str, layer: int, index: tuple[int, int, int]) -> Split:
    """The row of a position, around one cell. index: (position, head, dimension)."""
    position, head, dim = index
    heads, role = trace.read(op, layer)[position], trace.catalogue.op(op, layer).role
    axis, (n, size) = OP_AXES[op][1], heads.shape
    each = Panel(op, "output", role, heads, axis, "head_dim", magnitude(heads), (head, dim))
    parts = tuple((at * size, (at + 1) * size - 1) for at in range(n))
    readers = tuple(_readers(trace.config.group, axis, at) for at in range(n))
    return Split(replace(each, n_rows=n), parts, readers, head)


def _readers(group, axis, n):
    """Query head h reads key/value head h // group."""
    return (n // group,) * 2 if axis == "head" else (n * group, (n + 1) * group - 1)
