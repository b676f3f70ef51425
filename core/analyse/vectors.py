"""Lengths, angles and quotients of rows, in float64. What is not defined is NaN: a 0 would look
measured. Knows arrays only.
"""

import numpy as np


def length(rows):  # [..., n] -> [...]
    """The Euclidean length (L2 norm) of each row."""
    rows = np.asarray(rows, np.float64)
    return np.sqrt(np.vecdot(rows, rows))


def cosine(x, y):  # [..., n] twice -> [...]
    """Of the angle between rows; NaN where one has no length, so no direction."""
    x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
    return quotient(np.vecdot(x, y), length(x) * length(y))


def quotient(part, whole):  # [...] twice -> [...]
    """part / whole; NaN where whole is 0."""
    nothing = np.full(np.broadcast(part, whole).shape, np.nan)
    return np.divide(part, whole, out=nothing, where=np.asarray(whole) != 0)
