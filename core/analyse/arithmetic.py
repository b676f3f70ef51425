"""How one number of each kind of op is made: its terms, their operands, what is done to the sum.

Computes in float64 from the recorded float32 operands. Does not know whether the result equals
the record (see explain.py); no sentences, no figures.
"""

import math

import numpy as np

from .reader import Operand, Step


def _no_steps(total):
    return ()


def _row(r, index):
    """embed: one cell of the table."""
    position, dim = index
    id = r.trace.ids[position]
    value = r.weight()[id, dim]
    return [value], lambda j: (r.weight_operand((id, dim), value),), _no_steps


def _position(r, index):
    """The number of the stream and that of the position's row of the table."""
    parts = [float(r.read()[index]), float(r.weight()[index])]
    operands = (r.operand(0, index, parts[0]), r.weight_operand(index, parts[1]))
    return parts, lambda j: (operands[j],), _no_steps


def _one(r, index, steps=_no_steps):
    """A number of the input; `steps` says what becomes of it."""
    value = float(r.row(index[:-1])[index[-1]])
    return [value], lambda j: (r.operand(0, index, value),), steps


def _times(r, index):
    (factor,) = r.constants()

    def steps(total):
        yield Step(r.entry.constants[0], "×", factor, total * factor)

    return _one(r, index, steps)


def _softcap(r, index):
    """c · tanh(x / c)."""
    (cap,) = r.constants()

    def steps(total):
        yield Step("cap", "÷", cap, total / cap)
        yield Step("tanh", "tanh", total / cap, bent := math.tanh(total / cap))
        yield Step("cap", "×", cap, bent * cap)

    return _one(r, index, steps)


def _norm(r, index):
    """The squares of the row make the mean square; then its root, the number and the weight."""
    *at, own = index
    return _norm_of(r, r.row(at), own, lambda j: (*at, j))


def _norm_all_heads(r, index):
    """The same with the heads of a position side by side as one row."""
    position, head, dim = index
    heads = r.read()[position]

    def place(j):
        return (position, *divmod(j, heads.shape[1]))

    return _norm_of(r, heads.reshape(-1), head * heads.shape[1] + dim, place)


def _norm_of(r, row, at, place):
    """place(j): the index of the row's number j in the input."""
    own, weight, eps = float(row[at]), float(r.weight()[at]), r.config.norm_eps
    number, factor = r.operand(0, place(at), own), r.weight_operand((at,), weight)

    def steps(mean_square):
        scale = (mean_square + eps) ** -0.5
        yield Step("eps", "+", eps, mean_square + eps)
        yield Step("inverse_root", "1/√", mean_square + eps, scale)
        yield Step("own", "×", own, scale * own, operand=number)
        yield Step("weight", "×", weight, scale * own * weight, operand=factor)

    squares = row.astype(np.float64) ** 2 / len(row)
    return squares, lambda j: (r.operand(0, place(j), row[j]),) * 2, steps


def _layer_norm(r, index):
    """Squares of the distances from the mean make the variance; the number goes the same way: less
    the mean, times the scale and the weight, plus the bias.
    """
    position, own = index
    row = r.read()[position].astype(np.float64)
    mean, size, eps = float(row.mean()), float(np.abs(row).mean()), r.config.norm_eps
    number, weight, bias = float(row[own]), float(r.weight()[own]), float(r.bias()[own])
    itself, factor = r.operand(0, index, number), r.weight_operand((own,), weight)

    def operands(j):
        middle = Operand("mean", "constant", None, (position,), mean)
        return r.operand(0, (position, j), row[j]), middle

    def steps(variance):
        scale = (variance + eps) ** -0.5
        centred = number - mean
        yield Step("eps", "+", eps, variance + eps)
        yield Step("inverse_root", "1/√", variance + eps, scale)
        yield Step("own_start", "", number, number, operand=itself)
        yield Step("mean", "−", mean, centred, size)
        yield Step("scale", "×", scale, centred * scale)
        yield Step("weight", "×", weight, centred * scale * weight, operand=factor)
        result = centred * scale * weight + bias
        yield Step("bias", "+", bias, result, operand=r.bias_operand((own,)))

    return (row - mean) ** 2 / len(row), operands, steps


def _dot(r, index):
    """A row of the input times a row of the weight, plus the bias if there is one. Heads are cut
    out of the rows, or laid side by side.
    """
    position, *rest = index
    out = rest[0] if len(rest) == 1 else rest[0] * r.config.head_dim + rest[1]
    x, w, bias = r.read()[position], r.weight()[out], r.bias()
    flat = x.reshape(-1)

    def operands(j):
        at = tuple(int(i) for i in np.unravel_index(j, x.shape))
        return r.operand(0, (position, *at), flat[j]), r.weight_operand((out, j), w[j])

    def steps(total):
        if bias is not None:
            added = r.bias_operand((out,))
            yield Step("bias", "+", added.value, total + added.value, operand=added)

    return flat.astype(np.float64) * w, operands, steps


def _rotate(r, index):
    """A dimension turned with its partner; one behind the pairs stays as it is."""
    position, head, dim = index
    cos, sin = (table[position] for table in r.constants())
    n, first = len(cos), dim < len(cos)
    if dim >= 2 * n:
        return _one(r, index)
    pair, partner = dim % n, dim + n if first else dim - n
    x, at = r.read()[position, head], [dim, partner]
    turn = [float(cos[pair]), float(-sin[pair] if first else sin[pair])]

    def operands(j):
        table = Operand(("cos", "sin")[j], "constant", None, (position, pair), turn[j])
        return r.operand(0, (position, head, at[j]), x[at[j]]), table

    return [float(x[at[j]]) * turn[j] for j in (0, 1)], operands, _no_steps


def _score(r, index):
    """Query times key, number by number; then the scale."""
    head, query, key = index
    kv_head = head // r.config.group
    q, k = r.read(0)[query, head], r.read(1)[key, kv_head]
    (scale,), own = r.constants(), "own_scale" in r.entry.tags

    def operands(j):
        return r.operand(0, (query, head, j), q[j]), r.operand(1, (key, kv_head, j), k[j])

    def steps(total):
        yield Step("own_scale" if own else "score_scale", "×", scale, total * scale)

    return q.astype(np.float64) * k, operands, steps


def _mask(r, index):
    """The score; nothing for a key after the query or outside the layer's window."""
    _, query, key = index
    window = r.config.windows[r.layer] or query + 1
    return _one(r, index) if query - window < key <= query else ([], lambda j: (), _no_steps)


def _softmax(r, index):
    """exp(score - max) of every key (or token); then one's own share of the sum."""
    *at, own = index
    row = r.row(at)
    largest = r.operand(0, (*at, int(row.argmax())), row.max())
    most = Operand("max", "constant", None, tuple(at), largest.value, origin=largest)
    e = np.exp(row.astype(np.float64) - most.value)

    def steps(total):
        itself = r.operand(0, index, row[own])
        yield Step("own_start", "", itself.value, itself.value, operand=itself)
        yield Step("max", "−", most.value, itself.value - most.value, operand=most)
        yield Step("exp", "exp", itself.value - most.value, float(e[own]))
        yield Step("share", "÷", total, float(e[own]) / total)

    return e, lambda j: (r.operand(0, (*at, j), row[j]), most), steps


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
    def steps(z):
        sigmoid = 1 / (1 + math.exp(-z)) if z > -700 else 0.0
        yield Step("sigmoid", "×", sigmoid, z * sigmoid)

    return _one(r, index, steps)


def _gelu_tanh(r, index):
    def steps(z):
        inner = math.sqrt(2 / math.pi) * (z + 0.044715 * z**3)
        yield Step("inner", "", inner, inner)
        yield Step("tanh", "tanh", inner, bent := math.tanh(inner))
        yield Step("one", "+", 1.0, bent + 1)
        yield Step("half", "×", z / 2, (bent + 1) * z / 2)

    return _one(r, index, steps)


def _gelu_erf(r, index):
    def steps(z):
        share = math.erfc(-z / math.sqrt(2)) / 2
        yield Step("normal_cdf", "×", share, z * share)

    return _one(r, index, steps)


def _product(r, index):
    x, y = (float(r.read(n)[index]) for n in (0, 1))
    return [x * y], lambda j: (r.operand(0, index, x), r.operand(1, index, y)), _no_steps


KINDS = {
    "row": _row,
    "position": _position,
    "copy": _one,
    "times": _times,
    "softcap": _softcap,
    "norm": _norm,
    "norm_all_heads": _norm_all_heads,
    "layer_norm": _layer_norm,
    "dot": _dot,
    "rotate": _rotate,
    "score": _score,
    "mask": _mask,
    "softmax": _softmax,
    "mix": _mix,
    "sum": _sum,
    "silu": _silu,
    "gelu_tanh": _gelu_tanh,
    "gelu_erf": _gelu_erf,
    "product": _product,
}
