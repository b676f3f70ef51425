"""What one step looks like: the op's value, its inputs and its weights as panels around one cell.

Reads a trace and cuts pieces out of it; knows axes and sizes, no figures, no sentences.
"""

from dataclasses import dataclass

import numpy as np

from core.model.axes import OP_AXES
from core.record.catalogue import CATALOGUE

from .panel import Panel, picture, rows_around, strip


@dataclass(frozen=True)
class StepView:
    """One step around one cell. `index` is the cell's index in the op's value, in axis order."""

    op: str
    layer: int | None
    index: tuple[int, ...]
    output: Panel
    inputs: tuple[Panel, ...]
    weights: tuple[Panel, ...]


def step_view(trace, op: str, layer: int | None, head: int, position: int, column=None) -> StepView:
    """The step `op` of a layer around the cell (position, column); None chooses a telling column.

    head: a query head, where the value has heads; key/value ops show the head that it reads.
    """
    index = _index(trace, op, layer, head, position, column)
    entry = CATALOGUE[op]
    inputs, weights = SHOWN[entry.kind](trace, entry, layer, index)
    return StepView(op, layer, index, _output(trace, entry, layer, index), inputs, weights)


def final_view(trace, position: int, column: int | None) -> StepView:
    """The last norm around one cell: like a step of a block, outside the layers."""
    return step_view(trace, "final_norm", None, 0, position, column)


def embedding_panel(trace) -> Panel:
    """The rows of the embedding table that the prompt looked up, the last ones of a long prompt."""
    rows = trace.read("embed")
    return rows_around("embed", "output", "residual", rows, OP_AXES["embed"], len(rows) - 1)


def column_axis(op: str) -> str:
    """The axis that the column of a cell counts."""
    return OP_AXES[op][-1]


def _index(trace, op, layer, head, position, column):
    axes = OP_AXES[op]
    at = {
        "query": (head, position),
        "head": (position, head),
        "kv_head": (position, head // trace.config.group),
    }.get(axes[1], (position,))
    row = trace.read(op, layer)[at]
    if column is None or not 0 <= column < len(row):
        column = _telling(row, is_map="key" in axes)
    return (*at, int(column))


def _telling(row, is_map):
    """The cell to open first: the largest; in a map not the first token, where attention parks."""
    if is_map and len(row) > 1 and np.isfinite(row[1]):
        return 1 + int(np.argmax(row[1:]))
    return int(np.argmax(np.abs(np.where(np.isfinite(row), row, 0))))


def _output(trace, entry, layer, index):
    """The whole value of the op (of one head), as many rows of it as are drawn."""
    axes, value = OP_AXES[entry.id], trace.read(entry.id, layer)
    if "key" in axes:
        return _map(entry, value[index[0]], index)
    flat = value[:, index[1]] if len(axes) == 3 else value
    shown = (axes[0], axes[-1])
    return rows_around(entry.id, "output", entry.role, flat, shown, index[0], index[-1])


def _map(entry, value, index):
    """One head's map; in weights the later keys hold a plain 0, which is nothing to colour."""
    _, query, key = index
    amount = entry.id == "attn.weights"
    if amount:
        value = np.where(np.tri(*value.shape, dtype=bool), value, np.float32(np.nan))
    return rows_around(entry.id, "output", entry.role, value, ("query", "key"), query, key, amount)


def _row(trace, op, layer, at, selected=None):
    """One row of an op's value as a strip: `at` is its index without the last axis."""
    axes = OP_AXES[op]
    rows, position = ("query", at[1]) if "key" in axes else ("seq", at[0])
    row, role, amount = trace.read(op, layer)[at], CATALOGUE[op].role, op == "attn.weights"
    return strip(op, "input", role, row, (rows, axes[-1]), position, selected, amount)


def _same_cell(trace, entry, layer, index):
    """Number by number: the same row of every input, the same cell chosen."""
    sources = [(name, layer) for name in entry.inputs]
    if entry.inputs[0] == "stream":
        sources = [trace.stream_source(layer)]
    return tuple(_row(trace, *s, index[:-1], index[-1]) for s in sources), ()


def _norm(trace, entry, layer, index):
    inputs, _ = _same_cell(trace, entry, layer, index)
    name = entry.weights[0]
    weight = trace.model.weights.get(name, layer)
    return inputs, (strip(name, "weight", entry.role, weight, ("", "embedding"), 0, index[-1]),)


def _dot(trace, entry, layer, index):
    """The input row, the weight row it meets, and where that row lies in the matrix."""
    position, *rest = index
    source, name = entry.inputs[0], entry.weights[0]
    row = trace.read(source, layer)[position].reshape(-1)
    weight = trace.model.weights.get(name, layer)
    out = rest[0] if len(rest) == 1 else rest[0] * trace.config.head_dim + rest[1]
    most, across = _strongest(row, weight[out]), OP_AXES[source][-1]
    across = "concat" if across == "head_dim" else across  # the heads side by side
    role = CATALOGUE[source].role
    inputs = strip(source, "input", role, row, ("seq", across), position, most)
    one = strip(name, "weight", entry.role, weight[out], ("out", across), out, most)
    whole = picture(name, "weight", entry.role, weight, ("out", across), (out, most))
    return (inputs,), (one, whole)


def _strongest(x, w):
    """Where the largest product of two rows is: the place to look at first."""
    return int(np.argmax(np.abs(x * w)))


def _rotate(trace, entry, layer, index):
    position, head, dim = index
    tables = dict(zip(("cos", "sin"), trace.constants(entry.id), strict=True))
    pair = dim % len(tables["cos"][position])
    shown = [
        strip(name, "constant", entry.role, table[position], ("", "pair"), 0, pair).scaled(1.0)
        for name, table in tables.items()
    ]
    return (_row(trace, entry.inputs[0], layer, (position, head), dim),), tuple(shown)


def _score(trace, entry, layer, index):
    head, query, key = index
    q_at, k_at = (query, head), (key, head // trace.config.group)
    q, k = (trace.read(op, layer)[at] for op, at in zip(entry.inputs, (q_at, k_at), strict=True))
    most = _strongest(q, k)
    inputs = zip(entry.inputs, (q_at, k_at), strict=True)
    return tuple(_row(trace, op, layer, at, most) for op, at in inputs), ()


def _one_row(trace, entry, layer, index):
    """Softmax and mask read one row of the map before them."""
    return (_row(trace, entry.inputs[0], layer, index[:2], index[2]),), ()


def _mix(trace, entry, layer, index):
    """The row of weights, and the values of every visible key."""
    query, head, dim = index
    weights = trace.read("attn.weights", layer)[head, query, : query + 1]
    values = trace.read("attn.v", layer)[: query + 1, head // trace.config.group]
    most = _strongest(weights, values[:, dim])
    shown = rows_around("attn.v", "input", "value", values, ("key", "head_dim"), most, dim)
    return (_row(trace, "attn.weights", layer, (head, query), most), shown), ()


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
