"""What one step looks like: the op's value, its inputs and its weights as flat panels of numbers around one cell.

Reads a trace and cuts two-dimensional pieces out of it; knows axes and sizes, no figures, no sentences.
"""

from dataclasses import dataclass

import numpy as np

from core.model.axes import OP_AXES
from core.record.catalogue import CATALOGUE

LARGEST_WEIGHT_PICTURE = (48, 144)  # cells; a larger matrix is reduced to blocks
WINDOW = 128  # rows of other positions shown around the chosen one in a long prompt


@dataclass(frozen=True)
class Panel:
    """A two-dimensional piece of a value or of a weight.

    Attributes:
        name: op id, weight name or constant. part: "output", "input", "weight" or "constant". role: its colour.
        values: float32 [row, column]. rows, columns: axis names. first_row, first_column: what row and column 0 are.
        selected: (row, column) of the chosen cell in `values`, or None; a column of None would select a whole row.
        block: how many rows and columns of the original one cell stands for (the largest in magnitude is shown).
        limit: the magnitude of full colour. amount: True for shares between 0 and 1.
    """

    name: str
    part: str
    role: str
    values: np.ndarray
    rows: str
    columns: str
    first_row: int
    first_column: int
    selected: tuple[int, int] | None
    limit: float
    amount: bool = False
    block: tuple[int, int] = (1, 1)


@dataclass(frozen=True)
class StepView:
    """One step around one cell. `index` is the cell's index in the op's value, in the order of its axes."""

    op: str
    layer: int | None
    index: tuple[int, ...]
    output: Panel
    inputs: tuple[Panel, ...]
    weights: tuple[Panel, ...]


def step_view(trace, op: str, layer: int | None, head: int, position: int, column: int | None) -> StepView:
    """The step `op` of a layer around the cell (position, column); `column` None chooses a telling one.

    head: a query head, used where the value has heads; key/value ops show the head that it reads.
    """
    index = _index(trace, op, layer, head, position, column)
    entry = CATALOGUE[op]
    inputs, weights = SHOWN[entry.kind](trace, entry, layer, index)
    return StepView(op, layer, index, _output(trace, entry, layer, index), inputs, weights)


def final_view(trace, position: int, column: int | None) -> StepView:
    """The last norm around one cell: like a step of a block, outside the layers."""
    return step_view(trace, "final_norm", None, 0, position, column)


def embedding_panel(trace) -> Panel:
    """The rows of the embedding table that the prompt looked up; a window of the last ones in a long prompt."""
    rows = trace.read("embed")
    first, stop = _window(len(rows) - 1, len(rows), False)
    return _panel("embed", "output", "residual", rows[first:stop], "seq", "embedding", first)


def column_of(op: str, index: tuple[int, ...]) -> tuple[int, int]:
    """(position, column) of an index: what a link keeps of it beside layer and head."""
    return (index[1], index[2]) if "key" in OP_AXES[op] else (index[0], index[-1])


def column_axis(op: str) -> str:
    """The axis that the column of a cell counts."""
    return OP_AXES[op][-1]


def _index(trace, op, layer, head, position, column):
    axes, c = OP_AXES[op], trace.config
    kv_head = head // c.group
    lead = {"seq": (position,), "head": (position, head), "kv_head": (position, kv_head)}
    at = (head, position) if "key" in axes else lead[axes[1] if axes[1] in lead else "seq"]
    row = trace.read(op, layer)[at]
    if column is None or not 0 <= column < len(row):
        column = _telling(op, row)
    return (*at, int(column))


def _telling(op, row):
    """The cell to open first: the largest, in a map leaving out the first token, where attention is parked."""
    sizes = np.abs(np.where(np.isfinite(row), row, 0))
    if "key" in OP_AXES[op] and np.count_nonzero(sizes) > 1:
        shown = np.where(np.isfinite(row), row, -np.inf)
        shown = np.where(np.arange(len(row)) == 0, -np.inf, shown)
        return int(np.argmax(shown))
    return int(np.argmax(sizes))


def _limit(values):
    finite = np.abs(values[np.isfinite(values)])
    return float(finite.max()) if finite.size and finite.max() > 0 else 1.0


def _panel(name, part, role, values, rows, columns, first_row=0, first_column=0, selected=None, amount=False):
    limit = 1.0 if amount else _limit(values)
    return Panel(name, part, role, values, rows, columns, first_row, first_column, selected, limit, amount)


def _flat(op, value, index):
    """The two axes of a value that are shown, cut at the head of the index."""
    axes = OP_AXES[op]
    if "key" in axes:
        return value[index[0]], axes[1:]
    if len(axes) == 3:
        return value[:, index[1]], (axes[0], axes[2])
    return value, axes


def _output(trace, entry, layer, index):
    """The whole value of the op (of one head): every position, a window of them in a long prompt."""
    value, (rows, columns) = _flat(entry.id, trace.read(entry.id, layer), index)
    position, column = column_of(entry.id, index)
    first, stop = _window(position, len(value), columns == "key")
    amount = entry.id == "attn.weights"
    selected = (position - first, column)
    limited = _panel(entry.id, "output", entry.role, value[first:stop], rows, columns, first, 0, selected, amount)
    if amount or "key" in OP_AXES[entry.id]:
        return limited
    # the row that is looked at sets the scale: one outlier row (often the first token) would bleach the others
    return _rescaled(limited, _limit(value[position]))


def _rescaled(panel, limit):
    return Panel(**{**panel.__dict__, "limit": limit})


def _window(position, n, whole):
    """Which rows are shown: all of a map, else at most WINDOW around the position."""
    if whole or n <= WINDOW:
        return 0, n
    first = min(max(position - WINDOW // 2, 0), n - WINDOW)
    return first, first + WINDOW


def _row_panel(trace, op, layer, at, selected=None):
    """One row of an op's value as a strip: `at` is everything but its last axis."""
    row = trace.read(op, layer)[at][None]
    axes = OP_AXES[op]
    role = CATALOGUE[op].role
    rows = "query" if "key" in axes else "seq"
    position = at[1] if "key" in axes else at[0]
    chosen = None if selected is None else (0, selected)
    amount = op == "attn.weights"
    return _panel(op, "input", role, row, rows, axes[-1], position, 0, chosen, amount)


def _sources(trace, entry, layer):
    """Op and layer of every input; the stream is what the block before (or the embedding) left."""
    if entry.inputs[0] != "stream":
        return [(name, layer) for name in entry.inputs]
    before = trace.config.n_layers - 1 if layer is None else layer - 1
    return [("resid_post", before) if before >= 0 else ("embed", None)]


def _same_cell(trace, entry, layer, index):
    """Number by number: the same row of every input, the same cell chosen."""
    sources = _sources(trace, entry, layer)
    return tuple(_row_panel(trace, *s, index[:-1], index[-1]) for s in sources), ()


def _norm(trace, entry, layer, index):
    inputs, _ = _same_cell(trace, entry, layer, index)
    weight = trace.model.weights.get(entry.weights[0], layer)[None]
    panel = _panel(entry.weights[0], "weight", entry.role, weight, "", "embedding", 0, 0, (0, index[-1]))
    return inputs, (panel,)


def _dot(trace, entry, layer, index):
    """The input row, the weight row it is multiplied with, and where that row lies in the whole matrix."""
    position, *rest = index
    name = entry.inputs[0]
    row = trace.read(name, layer)[position].reshape(1, -1)
    across = "embedding" if row.shape[1] == trace.config.width else OP_AXES[name][-1]
    role = CATALOGUE[name].role
    weight = trace.model.weights.get(entry.weights[0], layer)
    out = rest[0] if len(rest) == 1 else rest[0] * trace.config.head_dim + rest[1]
    most = _strongest(row[0], weight[out])
    source = _panel(name, "input", role, row, "seq", across, position, 0, (0, most))
    one = weight[out : out + 1]
    chosen = _panel(entry.weights[0], "weight", entry.role, one, "out", across, out, 0, (0, most))
    return (source,), (chosen, _matrix(entry, weight, (out, most), across))


def _strongest(x, w):
    """Where the largest product of two rows is: the place to look at first."""
    return int(np.argmax(np.abs(x * w)))


def _matrix(entry, weight, cell, across):
    """The whole weight matrix, reduced to blocks where it is large; the block of the cell is chosen."""
    block = tuple(-(-n // most) for n, most in zip(weight.shape, LARGEST_WEIGHT_PICTURE, strict=True))
    values = _largest_of_blocks(weight, block)
    selected = (cell[0] // block[0], cell[1] // block[1])
    return Panel(
        entry.weights[0], "weight", entry.role, values, "out", across, 0, 0, selected, _limit(values), block=block
    )


def _largest_of_blocks(matrix, block):
    """Every block by its number of largest magnitude, with its sign."""
    high, low = matrix, matrix
    for axis in (0, 1):
        edges = np.arange(0, matrix.shape[axis], block[axis])
        high = np.maximum.reduceat(high, edges, axis=axis)
        low = np.minimum.reduceat(low, edges, axis=axis)
    return np.where(high >= -low, high, low)


def _rotate(trace, entry, layer, index):
    position, head, _ = index
    row = _row_panel(trace, entry.inputs[0], layer, (position, head), index[-1])
    cos, sin = trace.constants(entry.id)
    pair = index[-1] % cos.shape[1]
    tables = [
        _rescaled(_panel(name, "constant", entry.role, table[position][None], "", "pair", 0, 0, (0, pair)), 1.0)
        for name, table in (("cos", cos), ("sin", sin))
    ]
    return (row,), tuple(tables)


def _score(trace, entry, layer, index):
    head, query, key = index
    kv_head = head // trace.config.group
    rows = trace.read("attn.q_rot", layer)[query, head], trace.read("attn.k_rot", layer)[key, kv_head]
    most = _strongest(*rows)
    q = _row_panel(trace, "attn.q_rot", layer, (query, head), most)
    k = _row_panel(trace, "attn.k_rot", layer, (key, kv_head), most)
    return (q, k), ()


def _one_row(trace, entry, layer, index):
    """Softmax and mask read one row of the map before them."""
    return (_row_panel(trace, entry.inputs[0], layer, index[:2], index[2]),), ()


def _mix(trace, entry, layer, index):
    """The row of weights, and the values of every key as a matrix."""
    query, head, dim = index
    kv_head = head // trace.config.group
    values = trace.read("attn.v", layer)[: query + 1, kv_head]
    most = _strongest(trace.read("attn.weights", layer)[head, query, : query + 1], values[:, dim])
    weights = _row_panel(trace, "attn.weights", layer, (head, query), most)
    first, stop = _window(most, len(values), False)
    selected = (most - first, dim)
    panel = _panel("attn.v", "input", "value", values[first:stop], "key", "head_dim", first, 0, selected)
    return (weights, panel), ()


SHOWN = {
    "copy": _same_cell,
    "sum": _same_cell,
    "product": _same_cell,
    "silu": _same_cell,
    "norm": _norm,
    "dot": _dot,
    "rotate": _rotate,
    "score": _score,
    "mask": _one_row,
    "softmax": _one_row,
    "mix": _mix,
}
