"""The operations of a decoder block: arrays in, array out, float32 throughout.

Knows no model, layer or run; what is handed in is never changed. Shapes are by axis name (see
axes.py).
Sources: LayerNorm (Ba et al. 2016), RMSNorm (Zhang & Sennrich 2019), RoPE (Su et al. 2021),
attention (Vaswani et al. 2017), grouped queries (Ainslie et al. 2023), GELU (Hendrycks & Gimpel
2016), SwiGLU (Shazeer 2020), soft caps (Gemma 2, 2024).
"""

import functools
import math

import numpy as np

from .parts import by_rows, product


def embed(ids, table):  # [seq], [vocab, embedding] -> [seq, embedding]
    """Look up one row of the table per token id."""
    return np.ascontiguousarray(table[ids])


def scale(x, factor):  # [seq, embedding] -> [seq, embedding]
    """Every number times one constant."""
    return x * np.float32(factor)


def add_positions(x, table, positions):  # [seq, embedding], [context, embedding], [seq]
    """Add the learned row of each position: [seq, embedding]."""
    return x + table[positions]


def rms_scale(x, eps):  # [seq, embedding] -> [seq, 1]
    """One number per row: 1 / sqrt(mean square + eps)."""
    mean_square = np.vecdot(x, x)[..., None] / np.float32(x.shape[-1])
    return np.float32(1) / np.sqrt(mean_square + np.float32(eps))


def rms_norm(x, weight, eps):  # [..., n], [n] -> [..., n]
    """Bring every row to root mean square 1, then multiply by the learned weight."""
    normed = x * rms_scale(x, eps)
    normed *= weight
    return normed


def rms_norm_all_heads(x, weight, eps):  # [seq, head, head_dim], [head*head_dim] -> as x
    """RMSNorm over all heads of a position at once."""
    return rms_norm(x.reshape(len(x), -1), weight, eps).reshape(x.shape)


def layer_norm(x, weight, eps, bias):  # [seq, embedding], [embedding] -> [seq, embedding]
    """Bring every row to mean 0 and variance 1, then multiply by the weight and add the bias."""
    centred = x - np.mean(x, axis=-1, keepdims=True)
    return centred * rms_scale(centred, eps) * weight + bias


def linear(x, weight, bias=None):  # [seq, in], [out, in], [out] -> [seq, out]
    """The dot product of every row of x with every row of the weight, plus the bias if any."""
    products = product(x, weight)
    return products if bias is None else products + bias


def project_heads(x, weight, n_heads, bias=None):  # [seq, embedding], [head*head_dim, embedding]
    """Project, then cut the result into heads: [seq, head, head_dim]."""
    return linear(x, weight, bias).reshape(len(x), n_heads, -1)


def project_qkv(x, weight, n_heads, n_kv_heads, bias=None):
    """`project_heads` for queries, keys and values in one product, whose weight has the rows of all
    three: [seq, head, head_dim], twice [seq, kv_head, head_dim].
    """
    heads, end = project_heads(x, weight, n_heads + 2 * n_kv_heads, bias), n_heads + n_kv_heads
    return heads[:, :n_heads], heads[:, n_heads:end], heads[:, end:]


def linear_twice(x, weight, bias=None):  # [seq, in], [2*out, in] -> [seq, out] twice
    """`linear` for two weights in one product, the rows of one under those of the other."""
    both, n = linear(x, weight, bias), len(weight) // 2
    return both[:, :n], both[:, n:]


def rotate(x, cos, sin):  # [seq, head, head_dim], [seq, pair] twice -> [seq, head, head_dim]
    """RoPE, half-split: number i and number i + n_pairs turn together, as one point, by an angle.

    Where there are fewer pairs than head_dim/2, the numbers behind them stay as they are.
    """
    n = cos.shape[-1]
    first, second, rest = x[..., :n], x[..., n : 2 * n], x[..., 2 * n :]
    cos, sin = cos[:, None, :], sin[:, None, :]
    return np.concatenate([first * cos - second * sin, second * cos + first * sin, rest], axis=-1)


def scores(q, k, scale):  # [query, head, head_dim], [key, kv_head, head_dim] -> [head, query, key]
    """Dot product of every query with every key, times the scale. Query head h reads h // group."""
    n_queries, n_heads, head_dim = q.shape
    n_keys, n_kv_heads, _ = k.shape
    q = q.reshape(n_queries, n_kv_heads, -1, head_dim).transpose(1, 2, 0, 3)
    products = q @ k.transpose(1, 2, 0)[:, None]  # [kv_head, group, query, key]
    products *= np.float32(scale)
    return products.reshape(n_heads, n_queries, n_keys)


def softcap(x, cap):  # [...] -> [...]
    """cap * tanh(x / cap): small numbers stay, none gets past the cap."""
    return np.tanh(x / np.float32(cap)) * np.float32(cap)


@by_rows
def mask(out, scores, window=None):  # [head, query, key] -> [head, query, key]
    """Minus infinity wherever a query would see a later key, or one `window` or more back. The last
    query stands at the last key.
    """
    np.minimum(scores, most(*scores.shape[-2:], window), out=out)


@functools.lru_cache(maxsize=4)  # every layer asks for the same
def most(n_queries, n_keys, window):  # -> [query, key]
    """Infinity where a query sees a key, minus infinity where it does not."""
    key = np.arange(n_keys)
    query = key[n_keys - n_queries :, None]
    visible = key <= query
    if window is not None:
        visible &= key > query - window
    return np.where(visible, np.float32(np.inf), np.float32(-np.inf))


@by_rows
def softmax(out, x):  # [..., n] -> [..., n]
    """Exponentials of each row over their sum. The maximum is taken off first: same result."""
    np.subtract(x, x.max(axis=-1, keepdims=True), out=out)
    np.exp(out, out=out)
    out /= out.sum(axis=-1, keepdims=True)


def mix(weights, v):  # [head, query, key], [key, kv_head, head_dim] -> [query, head, head_dim]
    """Per head, the sum of the value rows, each times its weight."""
    n_heads, n_queries, n_keys = weights.shape
    weights = weights.reshape(v.shape[1], -1, n_keys)  # [kv_head, group*query, key]
    mixed = weights @ v.transpose(1, 0, 2)
    return mixed.reshape(n_heads, n_queries, -1).transpose(1, 0, 2)


def merge_heads(x, weight, bias=None):  # [seq, head, head_dim], [embedding, head*head_dim], ...
    """Lay the heads side by side and project them back to the width of the stream: [seq,
    embedding].
    """
    return linear(x.reshape(len(x), -1), weight, bias)


def same(x):
    """The value unchanged: a new name for the stream where a block begins."""
    return x


def add(x, delta):  # [seq, embedding] twice -> [seq, embedding]
    """The residual connection: before + delta = after."""
    return x + delta


@by_rows
def silu(out, x):  # [seq, neurons] -> [seq, neurons]
    """x * sigmoid(x), written as x / (1 + exp(-x)); float32 holds no exp beyond 88."""
    np.exp(np.minimum(-x, np.float32(88)), out=out)
    np.divide(x, np.float32(1) + out, out=out)


@by_rows
def gelu_tanh(out, x):  # [seq, neurons] -> [seq, neurons]
    """x times the normal distribution function, the latter by its approximation with tanh."""
    inner = np.float32(math.sqrt(2 / math.pi)) * (x + np.float32(0.044715) * x * x * x)
    np.multiply(np.float32(0.5) * x, np.float32(1) + np.tanh(inner), out=out)


@by_rows
def gelu_erf(out, x):  # [seq, neurons] -> [seq, neurons]
    """x times the normal distribution function itself."""
    out[:] = x * normal_cdf(x)


STEP = 1 / 512
GRID = np.arange(-14, 14 + STEP, STEP)  # beyond, the float32 result is 0 or x
CDF = np.array([math.erfc(-z / math.sqrt(2)) / 2 for z in GRID])
PDF = np.exp(-GRID * GRID / 2) / math.sqrt(2 * math.pi)


def normal_cdf(x):  # [...] -> [...], float64
    """The normal distribution function, (1 + erf(x / sqrt(2))) / 2, which NumPy lacks: from the
    nearest of many exact values two terms of the Taylor series, relative error below 1e-6.
    """
    x = np.clip(x.astype(np.float64), GRID[0], GRID[-1])
    near = np.rint(np.nan_to_num(x - GRID[0]) / STEP).astype(np.int64)  # NaN stays NaN in h
    h = x - GRID[near]
    return CDF[near] + PDF[near] * h * (1 - GRID[near] * h / 2)


def multiply(x, y):  # [seq, neurons] twice -> [seq, neurons]
    """Number by number."""
    return x * y


ACTIVATIONS = {"silu": silu, "gelu_tanh": gelu_tanh, "gelu_erf": gelu_erf}
