"""One query and one key of a run at positions of our choice: what RoPE makes of their score.

Takes both as they are before the rotation, turns them with the functions of the pass, and states
the same score as a sum of waves over the distance. Reads a trace; no sentences, no figures.
"""

from dataclasses import dataclass

import numpy as np

from core.model import forward, ops
from core.model.cache import KVCache
from core.model.rope import amplitude, cos_sin, frequencies
from core.record.trace import Recorder

from .explain import SMALLEST, TOLERANCE
from .turning import unturned

NEAR = (1, 12)  # the distances at which "nearer scores higher" is put to the test


@dataclass(frozen=True)
class Waves:
    """A score over the distance d: Σ size · cos(frequency · d + phase) + constant.

    Attributes:
        size: [..., pair], the most that a pair adds. phase: [..., pair], radians.
        frequency: [pair], radians per position. constant: [...], from numbers that do not turn.
    """

    size: np.ndarray
    phase: np.ndarray
    frequency: np.ndarray
    constant: np.ndarray

    def terms(self, distance: float) -> np.ndarray:
        """What each pair adds at a distance: float64 [..., pair]."""
        return self.size * np.cos(self.frequency * distance + self.phase)

    def scores(self, distances) -> np.ndarray:
        """The score at each distance: float64 [..., distance]."""
        each = [self.terms(d).sum(-1) + self.constant for d in distances]
        return np.stack(each, axis=-1)


@dataclass(frozen=True)
class Share:
    """What one pair adds to a score: size × cosine = value. wavelength: tokens per turn. running:
    the sum up to here.
    """

    pair: int
    wavelength: float
    size: float
    cosine: float
    value: float
    running: float


def shares(waves: Waves, distance: float, n: int) -> tuple[list[Share], float]:
    """The n pairs that weigh most in a score at a distance, largest first, and the sum of all
    other pairs. waves: those of one meeting, [pair].
    """
    values = waves.terms(distance)
    order = np.argsort(-np.abs(values), kind="stable")
    running, cosines = np.cumsum(values[order]), np.cos(waves.frequency * distance + waves.phase)
    columns = (2 * np.pi / waves.frequency, waves.size, cosines, values)
    found = [
        Share(int(pair), *(float(column[pair]) for column in columns), float(total))
        for pair, total in zip(order[:n], running, strict=False)
    ]
    return found, float(values[order[n:]].sum())


def waves(q, k, rope, length: int, scale: float) -> Waves:  # [..., head_dim] twice
    """The waves of queries and keys that are not turned yet. rope: a Rope or None.

    A pair of numbers is one complex number, which RoPE turns by frequency × position. So the
    product with the other's conjugate turns by frequency × distance: its modulus is the size of
    the wave, its angle the phase. length: tokens of the text; some scalings depend on it.
    """
    q, k = (np.asarray(x, np.float64) for x in (q, k))
    frequency = frequencies(rope, length) if rope else np.zeros(0)
    n, gain = len(frequency), scale * amplitude(rope) ** 2 if rope else scale
    q_pairs, k_pairs = (x[..., :n] + 1j * x[..., n : 2 * n] for x in (q, k))
    products = q_pairs * k_pairs.conj()
    constant = scale * (q[..., 2 * n :] * k[..., 2 * n :]).sum(-1)
    return Waves(gain * np.abs(products), np.angle(products), frequency, constant)


@dataclass(frozen=True)
class Near:
    """A score over the distances of NEAR. rise: the first distance after which it does not fall,
    None where it falls at every step. best: the distance of the highest score, 0 and those of NEAR.
    """

    rise: int | None
    best: int
    best_score: float


@dataclass(frozen=True)
class Meeting:
    """A query and a key of a run, before they are turned.

    Attributes:
        head: whose query. query, key: where their tokens stand. q, k: float32 [head_dim]. rope: a
        Rope, or None for a layer that does not turn them. length: tokens of the text. scale: what
        q · k is multiplied by. recorded: the score that the pass computed.
    """

    head: int
    query: int
    key: int
    q: np.ndarray
    k: np.ndarray
    rope: object
    length: int
    scale: float
    recorded: float

    @property
    def distance(self) -> int:
        """How many positions the key stands before the query in the text."""
        return self.query - self.key

    @property
    def waves(self) -> Waves:
        """The score over the distance."""
        return waves(self.q, self.k, self.rope, self.length, self.scale)

    @property
    def tolerance(self) -> float:
        """How far two float32 sums of these products may differ by rounding alone."""
        size = self.waves.size
        still = np.abs(self.q * self.k)[2 * len(size) :].sum() * self.scale
        return TOLERANCE * float(size.sum() + still) + SMALLEST

    @property
    def near(self) -> Near:
        """How the score runs over the distances of NEAR."""
        scores = self.waves.scores(range(NEAR[1] + 1))
        rises = np.flatnonzero(np.diff(scores[NEAR[0] :]) >= 0)
        rise = NEAR[0] + int(rises[0]) if len(rises) else None
        return Near(rise, int(np.argmax(scores)), float(scores.max()))

    def score(self, at: int, key_at: int) -> float:
        """The score with the query at `at` and the key at `key_at`, by the functions of the pass:
        both are turned from where they stand, then multiplied.
        """
        q, k = (x[None, None] for x in (self.q, self.k))  # [query, head, head_dim]
        if self.rope:
            q = ops.rotate(q, *cos_sin(self.rope, at, at + 1, self.length))
            k = ops.rotate(k, *cos_sin(self.rope, key_at, key_at + 1, self.length))
        return float(ops.scores(q, k, self.scale)[0, 0, 0])


def meeting(trace, layer: int, head: int, query: int, key: int) -> Meeting:
    """The query of one token and the key of another. IndexError for a position outside."""
    c, n = trace.config, len(trace.ids)
    if not (0 <= query < n and 0 <= key < n):
        raise IndexError(f"query {query} and key {key} are not both of 0 to {n - 1}")
    q_op, k_op = unturned(trace.catalogue.blocks[layer])
    q = trace.read(q_op, layer)[query, head]
    k = trace.read(k_op, layer)[key, head // c.group]
    recorded = float(trace.read("attn.scores", layer)[head, query, key])
    return Meeting(head, query, key, q, k, c.ropes[layer], n, c.score_scale, recorded)


def heads(trace, layer: int, query: int, key: int) -> Waves:
    """The waves of the query of one token and the key of another in every head of a layer, each
    with the key that it reads: size [head, pair].
    """
    c, ops_of = trace.config, unturned(trace.catalogue.blocks[layer])
    q, k = (trace.read(op, layer)[at] for op, at in zip(ops_of, (query, key), strict=True))
    k = np.repeat(k, c.group, axis=0)
    return waves(q, k, c.ropes[layer], len(trace.ids), c.score_scale)


def key_to_try(trace, layer: int, head: int, query: int) -> int:
    """The key that a query looks at most, but for the first token, where attention parks."""
    row = trace.read("attn.weights", layer)[head, query, : query + 1]
    return 1 + int(np.argmax(row[1:])) if query else 0


def falls(scores) -> np.ndarray:  # [..., distance] -> [...]
    """Whether each score is lower than the one before it."""
    return (np.diff(scores, axis=-1) < 0).all(-1)


def falling_heads(trace, query: int, key: int) -> dict[tuple[int, int], bool]:
    """Of every head that turns its queries: whether the score of this query and this key falls all
    the way over the distances of NEAR. By (layer, head). Edits of queries or keys are not made.
    """
    c, found = trace.config, {}
    for layer, rope in enumerate(c.ropes):
        if rope:
            q, k = _rows(trace, layer, query, key)
            curves = waves(q, k, rope, len(trace.ids), c.score_scale).scores(_near())
            found |= {(layer, head): bool(down) for head, down in enumerate(falls(curves))}
    return found


def _near():
    return range(NEAR[0], NEAR[1] + 1)


def _rows(trace, layer, query, key):
    """The query of one token in every head and the key it meets there: [head, head_dim] twice.

    Both come from their own rows of the stream, so only those are run again.
    """
    c, names = trace.config, unturned(trace.catalogue.blocks[layer])
    recorder, cache = Recorder(names), KVCache(c.n_layers, 2, c.n_kv_heads, c.head_dim)
    turn = cos_sin(c.ropes[layer], 0, 2, len(trace.ids))
    rows, weights = trace.stream[layer, [query, key]], trace.model.weights.layers[layer]
    forward.attention(rows, weights, c, layer, turn, cache, recorder)
    q, k = map(recorder.value, names)
    return q[0], np.repeat(k[1], c.group, axis=0)
