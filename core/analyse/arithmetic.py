"""How one number of each kind of op is made: its terms, their operands, what is done to the sum.

Computes in float64 from the recorded float32 operands. Does not know whether the result equals
the record (see explain.py); no sentences, no figures.
"""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Operand:
    """A number that went in: from an op or a weight (or a table of constants), of a layer, at an
    index.
    """

    source: str
    kind: str  # "op", "weight" or "constant"
    layer: int | None
    index: tuple[int, ...]
    value: float


@dataclass(frozen=True)
class Step:
    """What happens to the sum afterwards: a name, a sign, the number that is used, and the result
    so far.
    """

    name: str
    sign: str
    value: float
    result: float


class Reader:
    """Rows of inputs and weights of one op in a trace, with the operands they are made of."""

    def __init__(self, trace, entry, layer):
        self.trace, self.entry, self.layer = trace, entry, layer
        self.config = trace.config

    def input(self, n=0):
        """Name and layer of the n-th input."""
        name = self.entry.inputs[n]
        return self.trace.stream_source(self.layer) if name == "stream" else (name, self.layer)

    def read(self, n=0):
        """The array of the n-th input."""
        return self.trace.read(*self.input(n))

    def weight(self):
        """The array of the op's weight."""
        return self.trace.model.weights.get(self.entry.weights[0], self.layer)

    def operand(self, n, index, value):
        """An operand from the n-th input."""
        name, layer = self.input(n)
        return Operand(name, "op", layer, index, float(value))

    def weight_operand(self, index, value):
        """An operand from the op's weight."""
        return Operand(self.entry.weights[0], "weight", self.layer, index, float(value))


def _no_steps(total):
    return ()


def _row(r, index):
    """embed: one cell of the table."""
    position, dim = index
    id = r.trace.ids[position]
    value = r.weight()[id, dim]
    return [value], lambda j: (r.weight_operand((id, dim), value),), _no_steps


def _copy(r, index):
    value = r.read()[index]
    return [value], lambda j: (r.operand(0, index, value),), _no_steps


def _norm(r, index):
    """The squares of the row make the mean square; then its root, the number and the weight."""
    position, dim = index
    row = r.read()[position]
    squares = row.astype(np.float64) ** 2 / len(row)
    own, weight, eps = float(row[dim]), float(r.weight()[dim]), r.config.norm_eps

    def steps(mean_square):
        scale = (mean_square + eps) ** -0.5
        yield Step("eps", "+", eps, mean_square + eps)
        yield Step("inverse_root", "1/√", mean_square + eps, scale)
        yield Step("own", "×", own, scale * own)
        yield Step("weight", "×", weight, scale * own * weight)

    return squares, lambda j: (r.operand(0, (position, j), row[j]),) * 2, steps


def _dot(r, index):
    """A row of the input times a row of the weight. Heads are cut out of the rows, or laid side by
    side.
    """
    position, *rest = index
    if r.entry.id == "logits":
        out = rest[0]
    else:
        out = rest[0] if len(rest) == 1 else rest[0] * r.config.head_dim + rest[1]
    x, w = r.read()[position], r.weight()[out]
    flat = x.reshape(-1)

    def operands(j):
        at = tuple(int(i) for i in np.unravel_index(j, x.shape))
        return r.operand(0, (position, *at), flat[j]), r.weight_operand((out, j), w[j])

    return flat.astype(np.float64) * w, operands, _no_steps


def _rotate(r, index):
    """A dimension turned with its partner half a head away."""
    position, head, dim = index
    half = r.config.head_dim // 2
    pair, first = dim % half, dim < half
    partner = dim + half if first else dim - half
    x = r.read()[position, head]
    cos, sin = (t[position, pair] for t in r.trace.constants(r.entry.id))
    turn = [cos, -sin if first else sin]
    at = [dim, partner]

    def operands(j):
        name = ("cos", "sin")[j]
        table = Operand(name, "constant", None, (position, pair), float(turn[j]))
        return r.operand(0, (position, head, at[j]), x[at[j]]), table

    return [float(x[at[j]]) * float(turn[j]) for j in (0, 1)], operands, _no_steps


def _score(r, index):
    """Query times key, number by number; then the scale."""
    head, query, key = index
    kv_head = head // r.config.group
    q, k = r.read(0)[query, head], r.read(1)[key, kv_head]
    scale = r.config.score_scale

    def operands(j):
        return r.operand(0, (query, head, j), q[j]), r.operand(1, (key, kv_head, j), k[j])

    def steps(total):
        yield Step("score_scale", "×", scale, total * scale)

    return q.astype(np.float64) * k, operands, steps


def _mask(r, index):
    _, query, key = index
    if key > query:
        return [], lambda j: (), _no_steps
    return _copy(r, index)


def _softmax(r, index):
    """exp(score - max) of every key (or token); then one's own share of the sum."""
    if r.entry.id == "probs":
        position, own = index
        row, at = r.trace.logits(position), (position,)
    else:
        *at, own = index
        row = r.read()[tuple(at)]
    e = np.exp(row.astype(np.float64) - float(row.max()))

    def steps(total):
        yield Step("numerator", "", float(e[own]), float(e[own]))
        yield Step("share", "÷", total, float(e[own]) / total)

    return e, lambda j: (r.operand(0, (*at, j), row[j]),), steps


def _mix(r, index):
    """Each value row times its weight."""
    query, head, dim = index
    kv_head = head // r.config.group
    a, v = r.read(0)[head, query], r.read(1)[:, kv_head, dim]

    def operands(j):
        return r.operand(0, (head, query, j), a[j]), r.operand(1, (j, kv_head, dim), v[j])

    return a.astype(np.float64) * v, operands, _no_steps


def _sum(r, index):
    values = [float(r.read(n)[index]) for n in (0, 1)]
    return values, lambda j: (r.operand(j, index, values[j]),), _no_steps


def _silu(r, index):
    z = float(r.read()[index])

    def steps(total):
        sigmoid = 1 / (1 + np.exp(-z)) if z > -700 else 0.0
        yield Step("sigmoid", "×", sigmoid, total * sigmoid)

    return [z], lambda j: (r.operand(0, index, z),), steps


def _product(r, index):
    x, y = (float(r.read(n)[index]) for n in (0, 1))
    return [x * y], lambda j: (r.operand(0, index, x), r.operand(1, index, y)), _no_steps


KINDS = {
    "row": _row,
    "copy": _copy,
    "norm": _norm,
    "dot": _dot,
    "rotate": _rotate,
    "score": _score,
    "mask": _mask,
    "softmax": _softmax,
    "mix": _mix,
    "sum": _sum,
    "silu": _silu,
    "product": _product,
}
