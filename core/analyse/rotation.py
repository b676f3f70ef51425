"""What rotary position embedding does in one layer: a pair of numbers before and after the turn,
how fast each pair turns, and what another pairing would make of the scores.

Reads a trace and computes in float64 from what it recorded; no figures, no sentences. Sources: RoPE
(Su et al. 2021); two numbers half a head apart make a pair, as in transformers.
"""

import math
from dataclasses import dataclass

import numpy as np

from core.model import rope

from . import source
from .traits import ROTATED
from .turning import unturned

OPS = {"query": ROTATED, "key": "attn.k_rot"}
ROLES = tuple(OPS)  # in the order that scores read them
TURN = 2 * math.pi


@dataclass(frozen=True)
class Arrow:
    """Two numbers as a point of a plane: its length, its angle from the first axis (radians)."""

    numbers: tuple[float, float]
    length: float
    angle: float


@dataclass(frozen=True)
class Partner:
    """The number that a dimension would turn with if neighbours were paired, and in which pair."""

    dim: int
    number: float
    pair: int


@dataclass(frozen=True)
class Pair:
    """One pair of a query or key before and after its turn.

    Attributes:
        role: "query" or "key". op: the rotated value. head: which head of it. dims: the two
            dimensions. mixed: the numbers of the same dimensions if neighbours were paired.
            partners: what they would be paired with then.
    """

    role: str
    op: str
    head: int
    dims: tuple[int, int]
    before: Arrow
    after: Arrow
    mixed: tuple[float, float]
    partners: tuple[Partner, Partner]


@dataclass(frozen=True)
class Scores:
    """The scores of one query with the keys it sees, each float64 [key]; the first is of the key at
    position `first`.

    Attributes:
        recorded: as the pass computed them. plain: with the same queries and keys, none turned.
        mixed: turned by the same angles, but with neighbours as pairs.
    """

    first: int
    recorded: np.ndarray
    plain: np.ndarray
    mixed: np.ndarray

    def best(self, scores: np.ndarray) -> int:
        """The index of the highest of such scores."""
        return int(np.argmax(scores))

    def changed(self, other: np.ndarray) -> list[int]:
        """Indices of the keys, the largest change from the recorded score to `other` first."""
        return np.argsort(-np.abs(other - self.recorded), kind="stable").tolist()


@dataclass(frozen=True)
class Clocks:
    """How fast the pairs of a layer turn, each float64 [pair].

    Attributes:
        frequencies: radians per token. wavelengths: tokens per turn. degrees: per token.
        turns: at the last position of the context.
    """

    frequencies: np.ndarray
    wavelengths: np.ndarray
    degrees: np.ndarray
    turns: np.ndarray

    @property
    def fastest(self) -> float:
        """The shortest wavelength, in tokens per turn."""
        return float(self.wavelengths.min())

    @property
    def slowest(self) -> float:
        """The longest wavelength, in tokens per turn."""
        return float(self.wavelengths.max())

    def gone_round(self, position: int) -> int:
        """How many pairs have made at least one whole turn at a position."""
        return int((position * self.frequencies >= TURN).sum())


def pair(trace, role: str, layer: int, head: int, position: int, number: int) -> Pair:
    """Pair `number` of the query of a head, or of the key that this head reads.

    KeyError for a layer that turns nothing, IndexError for a pair that is not there.
    """
    op, at = OPS[role], head if role == "query" else head // trace.config.group
    before, after = _before(trace, role, layer)[:, at], trace.read(op, layer)[:, at]
    n = pairs(trace, layer)
    if not 0 <= number < n:
        raise IndexError(f"pair {number} is not one of 0 to {n - 1}")
    dims = (number, number + n)
    cos, sin = trace.constants(op, layer)
    mixed = neighbours(before[position], cos[position], sin[position])
    arrows = [_arrow(x[position, dims]) for x in (before, after)]
    partners = tuple(Partner(d ^ 1, float(before[position, d ^ 1]), d // 2) for d in dims)
    return Pair(role, op, at, dims, *arrows, tuple(mixed[list(dims)].tolist()), partners)


def _arrow(numbers):
    x, y = map(float, numbers)
    return Arrow((x, y), math.hypot(x, y), math.atan2(y, x))


def hands(trace, layer: int, head: int, position: int) -> list[Arrow]:
    """All pairs of the query of a head before the turn, in the order of their numbers; none where
    the layer turns nothing.
    """
    row = _before(trace, "query", layer)[position, head]
    n = pairs(trace, layer)
    return [_arrow(row[[i, i + n]]) for i in range(n)]


def pairs(trace, layer: int) -> int:
    """How many pairs of a head are turned; 0 where the layer turns nothing."""
    turned = trace.config.ropes[layer]
    return turned.dim // 2 if turned else 0


def _before(trace, role, layer):  # -> [seq, head, head_dim]
    """The queries or keys that the rotation reads."""
    return trace.read(unturned(trace.catalogue.blocks[layer])[ROLES.index(role)], layer)


def neighbours(x, cos, sin):  # [..., head_dim], [..., pair] twice -> [..., head_dim], float64
    """The rotation with another pairing: numbers 2i and 2i + 1 turn together."""
    out, n = np.array(x, np.float64), cos.shape[-1]
    first, second = out[..., 0 : 2 * n : 2].copy(), out[..., 1 : 2 * n : 2].copy()
    out[..., 0 : 2 * n : 2] = first * cos - second * sin
    out[..., 1 : 2 * n : 2] = second * cos + first * sin
    return out


def scores(trace, layer: int, head: int, position: int) -> Scores:
    """The scores of the query at a position, as recorded, without rotation and with the other
    pairing. KeyError for a layer that turns nothing.
    """
    window = trace.config.windows[layer] or position + 1
    first = max(position - window + 1, 0)
    seen, kv_head = slice(first, position + 1), head // trace.config.group
    q = _before(trace, "query", layer)[position : position + 1, head].astype(np.float64)
    k = _before(trace, "key", layer)[seen, kv_head].astype(np.float64)
    cos, sin = trace.constants(ROTATED, layer)
    mixed_q = neighbours(q, cos[[position]], sin[[position]])
    mixed_k = neighbours(k, cos[seen], sin[seen])
    recorded = trace.read("attn.scores", layer)[head, position, seen].astype(np.float64)
    scale = trace.config.score_scale
    return Scores(first, recorded, (k @ q[0]) * scale, (mixed_k @ mixed_q[0]) * scale)


def clocks(trace, layer: int) -> Clocks:
    """The speeds of a layer's pairs for this text. ValueError for a layer that turns nothing."""
    turned = trace.config.ropes[layer]
    if turned is None:
        raise ValueError(f"layer {layer} turns nothing")
    f = rope.frequencies(turned, len(trace.ids))
    return Clocks(f, TURN / f, np.degrees(f), (trace.config.context - 1) * f / TURN)


def code(trace, layer: int) -> source.Source:
    """The functions that made the speeds of a layer."""
    turned = trace.config.ropes[layer]
    kind = turned.scaling.kind if turned.scaling else "plain"
    own = () if kind == "plain" else (rope.FREQUENCIES[kind],)
    return source.of(rope.plain, *own, rope.cos_sin)


def turns(angle: float) -> float:
    """An angle (radians) in whole turns."""
    return angle / TURN


def turning_layers(config) -> int:
    """In how many layers queries and keys are turned."""
    return sum(turned is not None for turned in config.ropes)
