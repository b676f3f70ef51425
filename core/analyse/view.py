"""What one step looks like: the op's value, its inputs and its weights as panels around one cell.

Reads a trace and cuts pieces out of it; knows axes and sizes, no figures, no sentences.
"""

from dataclasses import dataclass, replace

import numpy as np

from core.model import ops
from core.model.axes import OP_AXES

from .panel import Mark, Panel, fits, magnitude, picture, rows_around, strip, whole
from .reader import Reader
from .telling import cell_of


@dataclass(frozen=True)
class StepView:
    """One step around one cell. `index` is the cell's index in the op's value, in axis order."""

    op: str
    layer: int | None
    index: tuple[int, ...]
    output: Panel
    inputs: tuple[Panel, ...]
    weights: tuple[Panel, ...]


def step_view(
    trace,
    op: str,
    layer: int | None,
    head: int,
    position: int,
    column=None,
    term=None,
    together: bool = True,
) -> StepView:
    """The step `op` of a layer around the cell (position, column); None chooses a telling column.

    head: a query head, where the value has heads; key/value ops show the head that it reads.
    term: the term of a sum that the parts point at; None, or one that it has not: the largest.
    together: whether the output holds all positions, or the row of the chosen one alone.
    """
    index = cell_of(trace, op, layer, head, position, column)
    reader = Reader(trace, op, layer, term)
    inputs, weights = SHOWN[reader.entry.kind](reader, index)
    return StepView(op, layer, index, _output(reader, index, together), inputs, weights)


def final_view(trace, position: int, column: int | None) -> StepView:
    """The last norm around one cell: like a step of a block, outside the layers."""
    return step_view(trace, "final_norm", None, 0, position, column)


def score_parts(trace, op: str, position: int, token: int, term=None) -> tuple[Panel, ...]:
    """What the score of one token is made of, down to the whole output matrix; nothing where that
    is too large to be shown whole, or the op reads no matrix.
    """
    reader = Reader(trace, op, None, term)
    if reader.entry.kind != "dot" or not fits(reader.weight().shape):
        return ()
    inputs, weights = _dot(reader, (position, token))
    return inputs + weights


def place_of_output(config, op: str, number: int, head: int) -> tuple[int, int]:
    """(query head, column) of a cell, from its number among all outputs of a matrix. `head` stays
    where it is as good as another.
    """
    if column_axis(op) != "head_dim":
        return head, number
    own, column = divmod(number, config.head_dim)
    group = config.group if OP_AXES[op][1] == "kv_head" else 1
    return (head if head // group == own else own * group), column


def embedding_panel(trace) -> Panel:
    """The rows of the embedding table that the prompt looked up, the last ones of a long prompt."""
    rows = trace.read("embed")
    return rows_around("embed", "output", "residual", rows, OP_AXES["embed"], len(rows) - 1)


def column_axis(op: str) -> str:
    """The axis that the column of a cell counts."""
    return OP_AXES[op][-1]


def _output(r, index, together):
    """The value of the op (of one head): as many rows of it as are drawn, or one."""
    entry, axes, amount = r.entry, r.entry.axes, r.entry.id == "attn.weights"
    is_map = "key" in axes
    rows, row = _of_head(r, index), index[1] if is_map else index[0]
    if amount:
        rows = _seen(rows, r.config.windows[r.layer])
    shown, at = (axes[1] if is_map else axes[0], axes[-1]), index[-1]
    if together:
        return rows_around(entry.id, "output", entry.role, rows, shown, row, at, amount)
    return strip(entry.id, "output", entry.role, rows[row], shown, row, at, amount)


def _of_head(r, index):
    """The op's value [row, column], of the head that the index names where there are heads."""
    value = r.trace.read(r.entry.id, r.layer)
    if "key" in r.entry.axes:
        return value[index[0]]
    return value[:, index[1]] if value.ndim == 3 else value


def _seen(weights, window):
    """One head's weights; keys that a query does not see hold a plain 0, which is nothing to
    colour.
    """
    seen = np.isfinite(ops.mask(np.zeros_like(weights), window))
    return np.where(seen, weights, np.float32(np.nan))


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


def _copied(r, index):
    """A number handed on; where it comes straight from the embedding table, that too."""
    inputs, weights = _same_cell(r, index)
    if r.input() == ("embed", None):
        weights = _table(r.trace, r.trace.ids[index[0]], index[1])
    return inputs, weights


def _table(trace, row, column):
    """The embedding table with one row outlined, where it can be shown whole."""
    table, axes = trace.model.weights.embed, ("vocab", "embedding")
    if not fits(table.shape):
        return ()
    used = Mark("used", row, False, row, row + 1)
    return (whole("embed", "weight", "residual", table, axes, (row, column), (used,)),)


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
    most, across = _pointed_at(r, row, weight[out]), OP_AXES[source][-1]
    marks = _marks(r, source, out, most)
    across = "concat" if across == "head_dim" else across  # the heads side by side
    down = "vocab" if r.entry.axes[-1] == "vocab" else "out"
    from_role = r.trace.catalogue.op(source, layer).role
    inputs = _summed(strip(source, "input", from_role, row, ("seq", across), position, most))
    one = _summed(strip(name, "weight", role, weight[out], (down, across), out, most))
    all_of_it = picture(name, "weight", role, weight, (down, across), (out, most), marks)
    return (inputs,), (one, all_of_it, *_vectors(r, r.entry.biases, down, out))


def _marks(r, source, out, at):
    """The row of a matrix that makes the number, and the part that belongs to a head: rows where
    the output has heads, else the columns with column `at`, where the input has them.
    """
    used = Mark("used", out, False, out, out + 1)
    for axes, number, across in ((r.entry.axes, out, False), (OP_AXES[source], at, True)):
        if axes[-1] == "head_dim":
            first = number - number % r.config.head_dim
            n, stop = first // r.config.head_dim, first + r.config.head_dim
            return used, Mark(axes[-2], n, across, first, stop)
    return (used,)


def _summed(panel, terms="columns"):
    """A panel whose columns, or rows, count the terms of the sum."""
    return replace(panel, terms=terms)


def _pointed_at(r, x, w):
    """Where to look in the product of two rows: at the chosen term, else at the largest."""
    return r.term if r.term is not None and r.term < len(x) else int(np.argmax(np.abs(x * w)))


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
    most = _pointed_at(r, r.row(q_at, 0), r.row(k_at, 1))
    return (_summed(_row(r, 0, q_at, most)), _summed(_row(r, 1, k_at, most))), ()


def _mix(r, index):
    """The row of weights, and the values of every key up to the query."""
    query, head, dim = index
    weights = r.read(0)[head, query, : query + 1]
    values = r.read(1)[: query + 1, head // r.config.group]
    most = _pointed_at(r, weights, values[:, dim])
    shown = rows_around("attn.v", "input", "value", values, ("key", "head_dim"), most, dim)
    return (_summed(_row(r, 0, (head, query), most)), _summed(shown, "rows")), ()


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
SHOWN["copy"] = _copied
SHOWN |= dict.fromkeys(("sum", "product", "times", "softcap"), _same_cell)
SHOWN |= dict.fromkeys(("mask", "softmax", "silu", "gelu_tanh", "gelu_erf"), _same_cell)
