"""Which cell of an op's value a step is around: the chosen one, or one that has something to tell.

Reads a trace; no figures.
"""

import numpy as np

from core.model.axes import OP_AXES

from .reader import Reader


def cell_of(trace, op: str, layer, head: int, position: int, column=None) -> tuple[int, ...]:
    """The index of the cell (position, column) in the op's value, in axis order; None, or a column
    that is not there, chooses one. head: a query head; key/value ops show the head that it reads.
    """
    axes = OP_AXES[op]
    at = {
        "query": (head, position),
        "head": (position, head),
        "kv_head": (position, head // trace.config.group),
    }.get(axes[1], (position,))
    row = trace.read(op, layer)[at]
    if column is None or not 0 <= column < len(row):
        column = _telling(trace, op, layer, at, row)
    return (*at, int(column))


def _telling(trace, op, layer, at, row):
    """The largest number; of scores the key to open first, of a turned row or a sum what changed
    most.
    """
    if "key" in OP_AXES[op]:
        return _telling_key(row, at[1], trace.config.windows[layer])
    if trace.catalogue.op(op, layer).kind == "rotate":
        changed = np.abs(row - Reader(trace, op, layer).row(at))
        if changed.any():  # nothing turns at position 0
            row = changed
    if trace.catalogue.op(op, layer).kind == "sum":  # where the op that wrote it opens
        row = Reader(trace, op, layer).row(at, 1)
    return np.argmax(np.abs(row))


def _telling_key(row, query, window):
    """The key to open first: the largest that the query sees, but for the first token, where
    attention parks.
    """
    first = 1 if window is None else max(1, query - window + 1)
    return first + int(np.argmax(row[first : query + 1])) if first <= query else 0
