"""The operations of a decoder block: arrays in, array out, float32 throughout.

Knows no model, layer or run; nothing is changed in place. Shapes are by axis name (see axes.py).
Sources: RMSNorm (Zhang & Sennrich 2019), RoPE (Su et al. 2021), attention (Vaswani et al. 2017),
grouped queries (Ainslie et al. 2023), SwiGLU (Shazeer 2020).
"""

import numpy as np


def embed(ids, table):  # [seq], [vocab, embedding] -> [seq, embedding]
    """Look up one row of the table per token id."""
    return table[ids]


def rms_scale(x, eps):  # [seq, embedding] -> [seq, 1]
    """One number per row: 1 / sqrt(mean square + eps)."""
    mean_square = np.mean(x * x, axis=-1, keepdims=True)
    return np.float32(1) / np.sqrt(mean_square + np.float32(eps))


def rms_norm(x, weight, eps):  # [seq, embedding], [embedding] -> [seq, embedding]
    """Bring every row to root mean square 1, then multiply by the learned weight."""
    return x * rms_scale(x, eps) * weight


def linear(x, weight):  # [seq, in], [out, in] -> [seq, out]
    """The dot product of every row of x with every row of the weight."""
    return x @ weight.T


def project_heads(x, weight, n_heads):  # [seq, embedding], [head*head_dim, embedding]
    """Project, then cut the result into heads: [seq, head, head_dim]."""
    return linear(x, weight).reshape(len(x), n_heads, -1)


def rotate(x, cos, sin):  # [seq, head, head_dim], [seq, head_dim/2] twice -> [seq, head, head_dim]
    """RoPE, half-split: number i and number i + head_dim/2 turn together, as one point, by an
    angle.
    """
    first, second = np.split(x, 2, axis=-1)
    cos, sin = cos[:, None, :], sin[:, None, :]
    return np.concatenate([first * cos - second * sin, second * cos + first * sin], axis=-1)


def scores(q, k, scale):  # [query, head, head_dim], [key, kv_head, head_dim] -> [head, query, key]
    """Dot product of every query with every key, times the scale. Query head h reads h // group."""
    n_queries, n_heads, head_dim = q.shape
    n_keys, n_kv_heads, _ = k.shape
    q = q.reshape(n_queries, n_kv_heads, -1, head_dim).transpose(1, 2, 0, 3)
    products = q @ k.transpose(1, 2, 0)[:, None]  # [kv_head, group, query, key]
    return products.reshape(n_heads, n_queries, n_keys) * np.float32(scale)


def mask(scores):  # [head, query, key] -> [head, query, key]
    """Minus infinity wherever a query would see a later key. The last query sees every key."""
    n_queries, n_keys = scores.shape[-2:]
    visible = np.tri(n_queries, n_keys, n_keys - n_queries, dtype=bool)
    return np.where(visible, scores, np.float32(-np.inf))


def softmax(x):  # [..., n] -> [..., n]
    """Exponentials of each row over their sum. The maximum is taken off first: same result."""
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def mix(weights, v):  # [head, query, key], [key, kv_head, head_dim] -> [query, head, head_dim]
    """Per head, the sum of the value rows, each times its weight."""
    n_heads, n_queries, n_keys = weights.shape
    weights = weights.reshape(v.shape[1], -1, n_queries, n_keys)
    mixed = weights @ v.transpose(1, 0, 2)[:, None]  # [kv_head, group, query, head_dim]
    return mixed.transpose(2, 0, 1, 3).reshape(n_queries, n_heads, -1)


def merge_heads(x, weight):  # [seq, head, head_dim], [embedding, head*head_dim] -> [seq, embedding]
    """Lay the heads side by side and project them back to the width of the residual stream."""
    return linear(x.reshape(len(x), -1), weight)


def same(x):
    """The value unchanged: a new name for the stream where a block begins."""
    return x


def add(x, delta):  # [seq, embedding] twice -> [seq, embedding]
    """The residual connection: before + delta = after."""
    return x + delta


def silu(x):  # [seq, neurons] -> [seq, neurons]
    """x * sigmoid(x), written as x / (1 + exp(-x))."""
    with np.errstate(over="ignore"):  # exp(-x) may be inf for very negative x: the result is then 0
        return x / (np.float32(1) + np.exp(-x))


def multiply(x, y):  # [seq, neurons] twice -> [seq, neurons]
    """Number by number."""
    return x * y
