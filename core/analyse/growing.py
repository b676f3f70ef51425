"""The KV cache of a run while its text grows: each new token adds one key and one value per layer
and KV head, and changes none before it.

Continues greedily, from the cache that the run left. Knows passes; no figures, no pages.
"""

from dataclasses import dataclass

import numpy as np

from core.decode.generate import next_logits
from core.model.cache import KVCache
from core.opening import Model
from core.record.trace import Trace
from core.store import ByteStore

from .cachesize import cache_size
from .passcost import Cost, cost
from .withcache import held, lengths

MOST = 32  # tokens that a text grows by
GROWN = ByteStore(32 << 20)


@dataclass(frozen=True)
class Growth:
    """A run and how it goes on. Arrays are read-only.

    Attributes:
        ids: of the prompt and of every token that ran after it: [seq].
        n_prompt: how many of them are the prompt's.
        cache: the keys and values of all of them.
        key_lengths, value_lengths: float32 [layer, kv_head, seq].
        n_same, n_before: numbers in the cache after the prefill, and how many of them are the same
            bits at the end.
        stop: why it does not go on: "limit", "end" (an end token, which does not run), "context" or
            "nonfinite" (of the next token, which is not among the ids).
    """

    ids: tuple[int, ...]
    n_prompt: int
    cache: KVCache
    key_lengths: np.ndarray
    value_lengths: np.ndarray
    n_same: int
    n_before: int
    stop: str

    @property
    def n_steps(self) -> int:
        """The prefill and one for each new token."""
        return 1 + len(self.ids) - self.n_prompt

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self.cache.nbytes + self.key_lengths.nbytes + self.value_lengths.nbytes

    def span(self, step: int) -> tuple[int, int]:
        """Which positions a step writes: the first, and the one behind the last."""
        stop = self.n_prompt + step
        return (stop - 1 if step else 0), stop

    def rows(self, kind: str, layer: int, kv_head: int) -> np.ndarray:
        """The "keys" (after RoPE) or "values" of one head: float32 [seq, head_dim]."""
        keys, values = held(self.cache)
        return {"keys": keys, "values": values}[kind][layer, kv_head]


def grow(trace: Trace, n_new: int) -> Growth:
    """The run continued by up to n_new tokens, the most probable each time; the lowest id of equal
    ones, as in core.decode.
    """
    n_new = min(n_new, MOST)
    make, size = (lambda: _grow(trace, n_new)), (lambda growth: growth.nbytes)
    return GROWN.get((trace.key, n_new), make, size)


def spent(model: Model, growth: Growth, step: int) -> Cost:
    """What a step computes and moves."""
    first, stop = growth.span(step)
    return cost(model, stop - first, first)


def weight_bytes(model: Model) -> int:
    """Bytes of all weights, to compare a cache with."""
    return model.weights.nbytes


def as_large(model: Model) -> int:
    """At how many tokens a cache is as large as all weights."""
    return -(-weight_bytes(model) // cache_size(model.config).per_token)


def _grow(trace, n_new):
    cache = trace.cache.copy(max(0, min(n_new, trace.config.context - len(trace.ids))))
    ids, stop = _continue(trace, cache, n_new)
    keys, values = held(cache.freeze())
    n_same = _same(trace.cache, cache)
    n_prompt, n_before = len(trace.ids), 2 * keys[:, :, : len(trace.ids)].size
    told = lengths(keys), lengths(values), n_same, n_before
    return Growth(tuple(ids), n_prompt, cache, *told, stop)


def _continue(trace, cache, n_new):
    """Run each next token after the cache, which takes it up; one whose numbers are not finite
    leaves it again. -> all ids, why it stopped.
    """
    ids, logits, model = list(trace.ids), trace.logits(), trace.model
    while True:
        if not (np.isfinite(logits).all() and _last_is_finite(cache)):
            ids = ids[: max(len(ids) - 1, len(trace.ids))]
            cache.length = len(ids)
            return ids, "nonfinite"
        id = int(np.argmax(logits))
        if id in model.tokenizer.end_ids:
            return ids, "end"
        if len(ids) == len(trace.ids) + n_new:
            return ids, "limit"
        if len(ids) == model.config.context:
            return ids, "context"
        logits = next_logits(model, [id], cache, trace.spec.edits)
        ids.append(id)


def _last_is_finite(cache):
    """Whether the newest keys and values are, and short enough for their lengths to be."""
    rows = (each[:, :, -1:] for each in held(cache))
    return all(np.isfinite(lengths(each)).all() for each in rows)


def _same(before, after):
    """How many numbers of one cache stand in another, bit for bit."""
    n, pairs = before.length, ((before.keys, after.keys), (before.values, after.values))
    bits = ([each[:, :n].view(np.uint32) for each in pair] for pair in pairs)
    return sum(int(np.count_nonzero(one == other)) for one, other in bits)
