"""The loop: run, choose a token, append it, run again. Knows runs and sampling; no pages."""

import codecs
import hashlib
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from core.errors import PromptError
from core.model import forward, rope
from core.model.axes import HIDING
from core.model.cache import KVCache
from core.model.tap import editing_tap
from core.run import RunSpec, open_model, prompt_ids
from core.store import ByteStore

from .sampling import Draw, draw, log_prob

BLOCK = 64  # positions
PREFIXES = ByteStore(96 << 20)  # keys and values of blocks, by the ids they depend on


@dataclass(frozen=True)
class Event:
    """One forward pass and the token it led to.

    Attributes:
        step: 0 is the prefill. id: the token chosen. text: what it adds to the text, without half
            characters; the texts of all events join to the whole continuation.
        logprob: log-probability of the token at temperature 1, in nat, before any penalty.
        n_cached: positions in the KV cache. cache_bytes: bytes of their keys and values.
        stop: None, "end" (an end token, then stop_id is it), "limit" or "nonfinite" (then id is
            None, and where is the first op that is not finite, as (op, layer); layer None outside
            the blocks).
        seconds: how long the pass and the choice took. n_reused: positions of the prompt whose keys
            and values an earlier generation had left.
        prob: the probability of the token among the n_kept it was drawn from. u: the number that
            was drawn, None for a greedy choice. draw: the whole distribution and the walk through
            it, 16 bytes per token of the vocabulary while it is held. logits: [vocab], what the
            model gave, before any stage.
    """

    step: int
    id: int | None
    text: str
    n_cached: int
    stop: str | None
    stop_id: int | None = None
    logprob: float = np.nan
    seconds: float = 0.0
    n_reused: int = 0
    prob: float = np.nan
    n_kept: int = 0
    u: float | None = None
    cache_bytes: int = 0
    draw: Draw | None = field(default=None, compare=False, repr=False)
    logits: np.ndarray | None = field(default=None, compare=False, repr=False)
    where: tuple[str, int | None] | None = None


def generate(spec: RunSpec) -> Iterator[Event]:
    """Continue the prompt of a spec, one event per forward pass; N tokens are N events.

    Stops at an end token, after max_new_tokens, at the end of the context, or when scores are not
    finite. Raises ModelFileError and PromptError at the first step. A prompt that begins like an
    earlier one is not run again from the start; the numbers are the same, bit for bit. The same
    spec gives the same tokens on one machine with one number of threads.
    """
    return filter(None, passes(spec))


def passes(spec: RunSpec) -> Iterator[Event | None]:
    """The events of `generate`, and None after each block of 64 of a longer prompt: there whoever
    has others to serve can do so.
    """
    model = open_model(spec.model)
    ids = prompt_ids(model, spec)
    n_new = min(spec.max_new_tokens, model.config.context - len(ids) + 1)
    cache = room_for(model, len(ids) + n_new - 1)
    text = codecs.getincrementaldecoder("utf-8")("replace")
    start, before, n_reused = time.perf_counter(), 0.0, 0
    for reused in filling(model, ids, cache, spec.edits):
        n_reused, before = reused, before + time.perf_counter() - start
        yield None
        start = time.perf_counter()
    for step in range(n_new):
        logits = next_logits(model, ids[cache.length :], cache, spec.edits)
        passed = {"step": step, "n_cached": cache.length, "cache_bytes": cache.nbytes}
        passed["n_reused"] = 0 if step else n_reused
        if np.isfinite(logits).all():
            made = draw(logits, ids, spec, spec.first_step + step)
            event = _chosen(made, logits, model.tokenizer, text, step == n_new - 1, passed)
        else:
            event = _broken(text, first_nonfinite(model, ids, spec), passed)
        yield replace(event, seconds=before + time.perf_counter() - start)
        if event.stop:
            return
        ids, start, before = [*ids, event.id], time.perf_counter(), 0.0


def _chosen(made, logits, tokenizer, text, is_last, passed):
    """The event of a pass and its draw. text: the decoder that has read the bytes so far; is_last:
    whether the limit is reached.
    """
    id = made.id
    stop = "end" if id in tokenizer.end_ids else "limit" if is_last else None
    spoken = b"" if stop == "end" else tokenizer.token_bytes(id)  # an end token adds no text
    return Event(
        id=id,
        text=text.decode(spoken, stop is not None),
        logprob=log_prob(logits, id),
        stop=stop,
        stop_id=id if stop == "end" else None,
        prob=made.prob,
        n_kept=made.n_kept,
        u=made.u,
        draw=made,
        logits=logits,
        **passed,
    )


def _broken(text, where, passed):
    """The last event of a run whose scores are not finite."""
    rest = text.decode(b"", True)
    return Event(id=None, text=rest, stop="nonfinite", where=where, **passed)


def room_for(model, n_tokens: int) -> KVCache:
    """An empty cache for n tokens."""
    c = model.config
    return KVCache(c.n_layers, n_tokens, c.n_kv_heads, c.head_dim)


def fill(model, ids, cache, edits=()) -> int:
    """Bring an empty cache to the last whole block of 64 before the last id. Returns how many
    positions came from earlier prompts.
    """
    return max(filling(model, ids, cache, edits), default=0)


def filling(model, ids, cache, edits=()) -> Iterator[int]:
    """`fill`, a block at a time: after each how many positions came from earlier prompts.

    Each block is one pass, whatever comes behind it, so that its rows are the same bits whether
    they are computed here or left by an earlier prompt with the same beginning.
    """
    n_reused, key = 0, _beginning(model, ids, edits)
    for stop in range(BLOCK, len(ids), BLOCK):
        block = np.array(ids[stop - BLOCK : stop])
        key = hashlib.sha256(key + block.tobytes()).digest()
        rows = PREFIXES.get(key, lambda: _run(block, model, ids, cache, edits), _nbytes)  # noqa: B023
        if cache.length < stop:
            cache.extend(*rows)
            n_reused += BLOCK
        yield n_reused


def _beginning(model, ids, edits):
    """What the first block depends on beside its ids."""
    stretched = any(rope.depends_on_length(r) for r in model.config.ropes)
    text = repr((model.source.key, edits, len(ids) if stretched else None))
    return text.encode()


@np.errstate(all="ignore")
def _run(block, model, ids, cache, edits):
    first = cache.length
    tap = editing_tap(edits, first) if edits else forward.no_tap
    forward.forward(block, model.weights, model.config, cache, tap, len(ids))
    return cache.rows(first, cache.length)


def _nbytes(rows):
    return sum(array.nbytes for array in rows)


@np.errstate(all="ignore")  # of broken weights; `generate` stops at scores that are not finite
def next_logits(model, ids, cache, edits=()):  # -> [vocab]
    """Run new tokens through the model and the cache; the scores for what follows the last.

    PromptError where they do not fit into the model's context.
    """
    first, c = cache.length, model.config
    if first + len(ids) > c.context:
        raise PromptError("prompt_too_long", n_tokens=first + len(ids), limit=c.context)
    for a, b in forward.chunks(len(ids)):
        tap = editing_tap(edits, first + a) if edits else forward.no_tap
        x = forward.forward(np.array(ids[a:b]), model.weights, c, cache, tap, first + len(ids))
    tap = editing_tap(edits, first + len(ids) - 1) if edits else forward.no_tap
    return forward.unembed(x[-1:], model.weights, c, tap)[0]


@np.errstate(all="ignore")
def first_nonfinite(model, ids, spec) -> tuple[str, int | None]:
    """The first op, in the order of the pass, of the first layer that has a number that is not
    finite: found by running all ids again, so that what an earlier token left in the cache is
    traced to where it began. ("logits", None) if the numbers hold this time.
    """
    found, c, cache = [], model.config, room_for(model, len(ids))

    def note(op, layer, value):
        if not found and op != HIDING and not np.isfinite(value).all():
            found.append((op, layer))
        return value

    for a, b in forward.chunks(len(ids)):
        tap = editing_tap(spec.edits, a, note)
        x = forward.forward(np.array(ids[a:b]), model.weights, c, cache, tap, len(ids))
    forward.unembed(x[-1:], model.weights, c, editing_tap(spec.edits, len(ids) - 1, note))
    return found[0] if found else ("logits", None)
