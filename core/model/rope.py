"""The angles of rotary position embedding (RoPE, Su et al. 2021) and how models stretch them for
longer texts. Knows positions, no text or weights.

Sources of the scalings: linear (Chen et al. 2023), dynamic NTK and YaRN (Peng et al. 2023),
LongRoPE (Ding et al. 2024), llama3 (the Llama 3.1 model card); details as in transformers.
"""

import functools
import math

import numpy as np


def plain(dim: int, theta: float) -> np.ndarray:
    """Radians per position of each pair: theta^(-2i/dim), float64 [dim/2]."""
    return theta ** (-np.arange(0, dim, 2, dtype=np.float64) / dim)


def frequencies(rope, length: int = 0) -> np.ndarray:
    """Radians per position of each pair, float64 [dim/2], as the scaling of `rope` has them.

    length: tokens of the whole text; "dynamic" and "longrope" depend on it.
    """
    kind = rope.scaling.kind if rope.scaling else "plain"
    return FREQUENCIES[kind](rope, rope.scaling, length)


def amplitude(rope) -> float:
    """What cosines and sines are multiplied by: 1, but for YaRN and LongRoPE."""
    s = rope.scaling
    if s is None or s.amplitude is not None:
        return 1.0 if s is None else s.amplitude
    if s.factor <= 1 or s.kind not in ("yarn", "longrope"):
        return 1.0
    if s.kind == "yarn":
        return 0.1 * math.log(s.factor) + 1
    return math.sqrt(1 + math.log(s.factor) / math.log(s.original))


def _plain(rope, s, length):
    return plain(rope.dim, rope.theta)


def _linear(rope, s, length):
    """Positions move closer together: all pairs turn `factor` times slower."""
    return plain(rope.dim, rope.theta) / s.factor


def _dynamic(rope, s, length):
    """The base grows with the text, once it is longer than the first training."""
    stretch = s.factor * max(length, s.original) / s.original - (s.factor - 1)
    return plain(rope.dim, rope.theta * stretch ** (rope.dim / (rope.dim - 2)))


def _yarn(rope, s, length):
    """Fast pairs stay, slow pairs are slowed by the factor, those between go over gradually."""
    f = plain(rope.dim, rope.theta)

    def pair_that_turns(times):  # within the first training
        return rope.dim * math.log(s.original / (times * 2 * math.pi)) / (2 * math.log(rope.theta))

    low, high = pair_that_turns(s.fast), pair_that_turns(s.slow)
    if s.truncate:
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, rope.dim - 1)
    high += 0.001 * (low == high)
    slowed = np.clip((np.arange(rope.dim // 2) - low) / (high - low), 0, 1)
    return f / s.factor * slowed + f * (1 - slowed)


def _llama3(rope, s, length):
    """By wavelength: short ones stay, long ones are slowed by the factor, those between blend."""
    f = plain(rope.dim, rope.theta)
    turns = s.original * f / (2 * math.pi)  # within the first training
    kept = np.clip((turns - s.low) / (s.high - s.low), 0, 1)
    return (1 - kept) * f / s.factor + kept * f


def _longrope(rope, s, length):
    """A divisor per pair, found by search: one set for short texts, one for longer ones."""
    return plain(rope.dim, rope.theta) / np.array(s.long if length > s.original else s.short)


def _factors(rope, s, length):
    return plain(rope.dim, rope.theta) / np.array(s.short)


FREQUENCIES = {
    "plain": _plain,
    "linear": _linear,
    "dynamic": _dynamic,
    "yarn": _yarn,
    "llama3": _llama3,
    "longrope": _longrope,
    "factors": _factors,
}

BY_LENGTH = ("dynamic", "longrope")


def depends_on_length(rope) -> bool:
    """Whether a longer text turns its first positions otherwise. rope: a Rope or None."""
    return rope is not None and rope.scaling is not None and rope.scaling.kind in BY_LENGTH


def _regime(rope, length):
    """The one length that stands for all lengths with the same angles."""
    if not depends_on_length(rope):
        return 0
    s = rope.scaling
    return max(length, s.original) if s.kind == "dynamic" else s.original + (length > s.original)


@functools.lru_cache(maxsize=16)
def _tables(rope, length, n):
    # float64 until the end: an angle of 8,000 radians in float32 is wrong in the fourth decimal
    angles = np.arange(n)[:, None] * frequencies(rope, length)
    cos, sin = (np.asarray(f(angles) * amplitude(rope), np.float32) for f in (np.cos, np.sin))
    cos.flags.writeable = sin.flags.writeable = False
    return cos, sin


def cos_sin(rope, first: int, stop: int, length: int):
    """Cosines and sines for positions first..stop-1 of a text of `length` tokens: two float32
    [seq, dim/2], read-only.
    """
    room = 1 << max(stop - 1, 63).bit_length()  # a power of two, so that the cache holds few tables
    cos, sin = _tables(rope, _regime(rope, length), room)
    return cos[first:stop], sin[first:stop]
