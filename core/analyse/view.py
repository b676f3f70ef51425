"""What one step looks like: the op's value, its inputs and its weights as panels around one cell.

Reads a trace and cuts pieces out of it; knows axes and sizes, no figures, no sentences.
"""

from dataclasses import dataclass

import numpy as np

from core.model import ops
from core.model.axes import OP_AXES

from .panel import Panel, magnitude, picture, rows_around, strip
from .reader import Reader


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
    index, reader = _index(trace, op, layer, head, position, column), Reader(trace, op, layer)
    inputs, weights = SHOWN[reader.entry.kind](reader, index)
    return StepView(op, layer, index, _output(reader, index), inputs, weights)


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
        column = int(np.argmax(np.abs(row)))
        if "key" in axes:
            column = _telling_key(row, position, trace.config.windows[layer])
    return (*at, int(column))


def _telling_key(row, query, window):
    """The key to open first: the largest that the query sees, but for the first token, where
    attention parks.
    """
    first = 1 if window is None else max(1, query - window + 1)
    return first + int(np.argmax(row[first : query + 1])) if first <= query else 0


def _output(r, index):
    """The whole value of the op (of one head), as many rows of it as are drawn."""
    entry, axes, value = r.entry, r.entry.axes, r.trace.read(r.entry.id, r.layer)
    if "key" in axes:
        return _map(r, value[index[0]], index)
    flat = value[:, index[1]] if len(axes) == 3 else value
    shown = (axes[0], axes[-1])
    return rows_around(entry.id, "output", entry.role, flat, shown, index[0], index[-1])


def _map(r, value, index):
    """One head's map; in weights the keys that a query does not see hold a plain 0, which is
    nothing to colour.
    """
    (_, query, key), name, amount = index, r.entry.id, r.entry.id == "attn.weights"
    if amount:
        seen = np.isfinite(ops.mask(np.zeros_like(value), r.config.windows[r.layer]))
        value = np.where(seen, value, np.float32(np.nan))
    return rows_around(name, "output", r.entry.role, value, ("query", "key"), query, key, amount)


def _row(r, n, at, selected=None):
    """One row of the n-th input as a strip: `at` is its index without the last axis."""
    op, layer = r.input(n)
    axes, role = OP_AXES[op], r.trace.catalogue.op(op, layer).role
    rows, position = ("query", at[1]) if "key" in axes else ("seq", at[0])
    row, amount = r.row(at, n), op == "attn.weights"
    return strip(op, "input", role, row, (rows, axes[-1]), position, selected, amount)


def _same_cell(r, index):
    """Number by number: the same row of every input, the same cell chosen."""
    inputs = range(len(r.entry.inputs))
    return tuple(_row(r, n, index[:-1], index[-1]) for n in inputs), ()


def _table_row(r, at, rows, column):
    """One row of the op's table."""
    row = r.weight()[at]
    return strip(r.entry.weights[0], "weight", r.entry.role, row, (rows, "embedding"), at, column)


def _looked_up(r, index):
    return (), (_table_row(r, r.trace.ids[index[0]], "vocab", index[1]),)


def _position(r, index):
    inputs, _ = _same_cell(r, index)
    return inputs, (_table_row(r, index[0], "seq", index[1]),)


def _vectors(r, names, axis, at):
    """Weights that are a single row, each as a strip; `at` is the chosen number."""
    weights = ((name, r.trace.model.weights.get(name, r.layer)) for name in names)
    return tuple(strip(n, "weight", r.entry.role, w, ("", axis), 0, at) for n, w in weights)


def _norm(r, index):
    inputs, _ = _same_cell(r, index)
    return inputs, _vectors(r, r.entry.weights + r.entry.biases, r.entry.axes[-1], index[-1])


def _norm_all_heads(r, index):
    """The heads of a position side by side, as the norm sees them."""
    position, head, dim = index
    row, (op, _), role = r.read()[position], r.input(), r.entry.role
    at = head * row.shape[1] + dim
    inputs = strip(op, "input", role, row.reshape(-1), ("seq", "concat"), position, at)
    return (inputs,), _vectors(r, r.entry.weights, "concat", at)


def _dot(r, index):
    """The input row, the weight row it meets, where that row lies in the matrix, and the bias."""
    position, *rest = index
    (source, layer), name, role = r.input(), r.entry.weights[0], r.entry.role
    row, weight = r.read()[position].reshape(-1), r.weight()
    out = rest[0] if len(rest) == 1 else rest[0] * r.config.head_dim + rest[1]
    most, across = _strongest(row, weight[out]), OP_AXES[source][-1]
    across = "concat" if across == "head_dim" else across  # the heads side by side
    from_role = r.trace.catalogue.op(source, layer).role
    inputs = strip(source, "input", from_role, row, ("seq", across), position, most)
    one = strip(name, "weight", role, weight[out], ("out", across), out, most)
    whole = picture(name, "weight", role, weight, ("out", across), (out, most))
    return (inputs,), (one, whole, *_vectors(r, r.entry.biases, "out", out))


def _strongest(x, w):
    """Where the largest product of two rows is: the place to look at first."""
    return int(np.argmax(np.abs(x * w)))


def _rotate(r, index):
    """The row before, and the tables at its position; a number behind the pairs has no place in
    them.
    """
    position, head, dim = index
    cos, _ = tables = r.constants()
    n, most = cos.shape[1], max(1.0, magnitude(cos))
    pair = dim % n if dim < 2 * n else None
    shown = (
        strip(name, "constant", r.entry.role, table[position], ("", "pair"), 0, pair).scaled(most)
        for name, table in zip(("cos", "sin"), tables, strict=True)
    )
    return (_row(r, 0, (position, head), dim),), tuple(shown)


def _score(r, index):
    head, query, key = index
    q_at, k_at = (query, head), (key, head // r.config.group)
    most = _strongest(r.row(q_at, 0), r.row(k_at, 1))
    return (_row(r, 0, q_at, most), _row(r, 1, k_at, most)), ()


def _mix(r, index):
    """The row of weights, and the values of every key up to the query."""
    query, head, dim = index
    weights = r.read(0)[head, query, : query + 1]
    values = r.read(1)[: query + 1, head // r.config.group]
    most = _strongest(weights, values[:, dim])
    shown = rows_around("attn.v", "input", "value", values, ("key", "head_dim"), most, dim)
    return (_row(r, 0, (head, query), most), shown), ()


SHOWN = {
    "row": _looked_up,
    "position": _position,
    "norm": _norm,
    "norm_all_heads": _norm_all_heads,
    "layer_norm": _norm,
    "dot": _dot,
    "rotate": _rotate,
    "score": _score,
    "mix": _mix,
}
SHOWN |= dict.fromkeys(("copy", "sum", "product", "times", "softcap"), _same_cell)
SHOWN |= dict.fromkeys(("mask", "softmax", "silu", "gelu_tanh", "gelu_erf"), _same_cell)
