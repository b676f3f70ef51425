"""The angles of rotary position embedding (RoPE, Su et al. 2021). Knows positions, no text or
weights.
"""

import functools

import numpy as np


def frequencies(head_dim: int, theta: float) -> np.ndarray:
    """Radians per position of each pair: theta^(-2i/head_dim), float64 [head_dim/2]."""
    return theta ** (-np.arange(0, head_dim, 2, dtype=np.float64) / head_dim)


@functools.lru_cache(maxsize=8)
def _tables(head_dim, theta, n):
    # float64 until the end: an angle of 8,000 radians in float32 is wrong in the fourth decimal
    angles = np.arange(n)[:, None] * frequencies(head_dim, theta)
    cos, sin = (np.asarray(f(angles), np.float32) for f in (np.cos, np.sin))
    cos.flags.writeable = sin.flags.writeable = False
    return cos, sin


def cos_sin(first: int, stop: int, head_dim: int, theta: float):
    """Cosines and sines for positions first..stop-1: two float32 [seq, head_dim/2], read-only."""
    room = 1 << max(stop - 1, 63).bit_length()  # a power of two, so that the cache holds few tables
    cos, sin = _tables(head_dim, theta, room)
    return cos[first:stop], sin[first:stop]
