"""A small picture of what each step of a layer made: its recorded numbers, block by block.

Reads a trace and reduces; knows axes, no figures, no sentences.
"""

from dataclasses import dataclass

import numpy as np

from core.model.axes import OP_AXES, is_layer_op

from .panel import magnitude

ROWS, COLUMNS = 8, 24  # the most cells of a picture


@dataclass(frozen=True)
class Thumb:
    """The numbers of one op, reduced.

    Attributes:
        values: float32 [row, column], each cell the number of largest magnitude in its block; NaN
            where the block holds none that is finite and seen.
        limit: the magnitude of full colour. amount: True for shares between 0 and 1.
        n: how many numbers the picture stands for. low, high: the smallest and the largest.
    """

    values: np.ndarray
    limit: float
    amount: bool
    n: int
    low: float
    high: float


def thumbs(trace, layer: int, ops, head: int, position: int, together: bool) -> dict[str, Thumb]:
    """The pictures of some ops of a layer (or before the blocks), by id: the row of a position, or
    all positions together; of the chosen query head, or of the key/value head that it reads.

    Empty where the layer is too large to be kept: each op would be computed again.
    """
    if not trace.layer_fits:
        return {}
    seen = ((op, _seen(trace, op, layer, head)) for op in ops)
    every = ((op, _thumb(op, rows, position, together)) for op, rows in seen)
    return {op: thumb for op, thumb in every if thumb.n}


def _seen(trace, op, layer, head):
    """The op's numbers [row, column], of one head where there are heads. Weights of keys that a
    query does not see hold a plain 0, which is no number to show.
    """
    value, axes = trace.read(op, layer if is_layer_op(op) else None), OP_AXES[op]
    if "key" in axes:
        masked = trace.read("attn.masked", layer)[head] if op == "attn.weights" else value[head]
        return np.where(np.isfinite(masked), value[head], np.float32(np.nan))
    own = {"head": head, "kv_head": head // trace.config.group}.get(axes[1])
    return value if own is None else value[:, own]


def _thumb(op, rows, position, together):
    """The picture of `rows`. The row of cells with the chosen position sets the scale of a signed
    one, so that an outlier row does not bleach the others; all of a map the scale of a map.
    """
    shown = rows if together else rows[position : position + 1]
    at = position // -(-len(rows) // ROWS) if together else 0
    low, high = _blocks(np.fmin, shown), _blocks(np.fmax, shown)
    values, n = np.where(high >= -low, high, low), shown.size - np.count_nonzero(np.isnan(shown))
    amount, is_map = op == "attn.weights", "key" in OP_AXES[op]
    limit = 1.0 if amount else magnitude(values if is_map else values[at])
    least, most = (float(np.nanmin(low)), float(np.nanmax(high))) if n else (0.0, 0.0)
    return Thumb(values, limit, amount, int(n), least, most)


def _blocks(largest, values):
    """[row, column] as at most ROWS x COLUMNS blocks: the largest, or smallest, number of each; NaN
    counts only where a block holds nothing else.
    """
    for axis, most in enumerate((ROWS, COLUMNS)):
        n = values.shape[axis]
        values = largest.reduceat(values, np.arange(0, n, -(-n // most)), axis=axis)
    return values
