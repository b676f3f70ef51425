"""The same tokens with and without a KV cache, side by side: time, work, and whether they agree.

With the cache each step runs one new token, without it the whole text so far. Runs passes and reads
a clock; no sampling, no pages.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from core.decode.generate import next_logits, room_for
from core.model import rope
from core.model.cache import KVCache
from core.model.config import ModelConfig
from core.opening import Model
from core.record.trace import freeze

from .agreement import Agreement, compare
from .passcost import Cost, cost

TOLERANCE = 1e-4  # times the largest score that is a number, or 1 where all are smaller


@dataclass(frozen=True)
class Pass:
    """seconds: as measured, once. cost: FLOPs and bytes, by formula."""

    seconds: float
    cost: Cost


def times(one: Pass, other: Pass) -> dict[str, float]:
    """How many times as much one pass takes as another: "time", "flops" and "bytes"."""
    return {
        "time": one.seconds / other.seconds,
        "flops": one.cost.flops / other.cost.flops,
        "bytes": one.cost.n_bytes / other.cost.n_bytes,
    }


@dataclass(frozen=True)
class Step:
    """One step of decoding, both ways.

    Attributes:
        index: 0 is the prefill, the same pass both ways. id: the last token that was read.
        n_before, n_after: positions in the cache.
        cached: the new tokens alone, after those in the cache. whole: the text again from its
            start.
        agreement: of the scores of all tokens to come, with the cache beside without.
        best: the token with the highest score, with the cache and without.
    """

    index: int
    id: int
    n_before: int
    n_after: int
    cached: Pass
    whole: Pass
    agreement: Agreement
    best: tuple[int, int]

    @property
    def same_best(self) -> bool:
        """Whether greedy decoding goes on alike."""
        return self.best[0] == self.best[1]


def steps(
    model: Model, ids: Sequence[int], n_new: int, edits=(), cache: KVCache | None = None
) -> Iterator[Step]:
    """Prefill of all but the last n_new ids, then one step for each of these: n_new + 1 steps.

    The two ways take turns, so that a disturbed moment hits both; stopping between steps is free.
    cache: an empty one that is filled (`room_for`), for who wants to look into it.
    Raises ValueError unless a prompt is left, PromptError where the ids do not fit the context.
    """
    if not 0 <= n_new < len(ids):
        raise ValueError(f"n_new must be 0 to {len(ids) - 1}, not {n_new}")
    again = room_for(model, len(ids))
    cache = cache or room_for(model, len(ids))
    for index, stop in enumerate(range(len(ids) - n_new, len(ids) + 1)):
        start, again.length = cache.length, 0
        cached, scores = timed(model, ids[start:stop], cache, edits)
        whole, expected = timed(model, ids[:stop], again, edits)
        agreement, best = agreed(scores, expected), (int(scores.argmax()), int(expected.argmax()))
        yield Step(index, ids[stop - 1], start, stop, cached, whole, agreement, best)


def timed(model: Model, ids, cache: KVCache, edits=()) -> tuple[Pass, np.ndarray]:
    """One pass of new tokens after those in a cache, with its time; the scores of what follows."""
    spent, start = cost(model, len(ids), cache.length), time.perf_counter()
    logits = next_logits(model, ids, cache, edits)
    return Pass(time.perf_counter() - start, spent), logits


def agreed(scores, expected) -> Agreement:
    """Scores of all tokens, made in two ways: both round, in another order, in float32.

    One row times a matrix and many rows times it are different routines of the library, which add
    the same products in another order.
    """
    sizes = np.abs(expected[np.isfinite(expected)])
    return compare(scores, expected, TOLERANCE * float(sizes.max(initial=1)))


def may_differ(config: ModelConfig) -> bool:
    """Whether a longer text turns the keys before otherwise, so that a cache, which keeps them as
    they were, truly gives other scores: with "dynamic" and "longrope" scaling.
    """
    return any(rope.depends_on_length(each) for each in config.ropes)


def held(cache: KVCache) -> tuple[np.ndarray, np.ndarray]:
    """Keys (after RoPE) and values of all positions in a cache, where they lie: two read-only
    float32 [layer, kv_head, seq, head_dim]. A step adds rows behind them and changes none.
    """
    filled = (each[:, : cache.length].swapaxes(1, 2) for each in (cache.keys, cache.values))
    keys, values = (np.broadcast_to(each, each.shape) for each in filled)  # a read-only view
    return keys, values


@np.errstate(over="ignore", invalid="ignore")  # then a length is not finite, which is said
def lengths(rows: np.ndarray) -> np.ndarray:
    """One number per key or value, its length: float32 [layer, kv_head, seq], read-only, of
    [layer, kv_head, seq, head_dim].
    """
    return freeze(np.sqrt(np.vecdot(rows, rows)))
