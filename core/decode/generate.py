"""The loop: run, choose a token, append it, run again. Knows runs and sampling; no pages."""

import codecs
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from core.model import forward
from core.model.cache import KVCache
from core.model.tap import editing_tap
from core.run import RunSpec, open_model, prompt_ids

from .sampling import choose, log_softmax


@dataclass(frozen=True)
class Event:
    """One forward pass and the token it led to.

    Attributes:
        step: 0 is the prefill. id: the token chosen. text: what it adds to the text, without half
        characters;
            the texts of all events join to the whole continuation.
        logprob: log-probability of the token at temperature 1, in nat. n_cached: positions in the
        KV cache.
        stop: None, "end" (an end token, then stop_id is it), "limit" or "nonfinite" (then id is
        None).
        seconds: how long the pass and the choice took.
    """

    step: int
    id: int | None
    text: str
    logprob: float
    n_cached: int
    stop: str | None
    stop_id: int | None
    seconds: float


def generate(spec: RunSpec) -> Iterator[Event]:
    """Continue the prompt of a spec, one event per forward pass; N tokens are N events.

    Stops at an end token, after max_new_tokens, at the end of the context, or when scores are not
    finite. Raises ModelFileError and PromptError at the first step.
    """
    model = open_model(spec.model)
    ids = prompt_ids(model, spec)
    c, n_prompt = model.config, len(ids)
    n_new = min(spec.max_new_tokens, c.context - n_prompt + 1)
    cache = KVCache(c.n_layers, n_prompt + n_new - 1, c.n_kv_heads, c.head_dim)
    text, new = codecs.getincrementaldecoder("utf-8")("replace"), ids
    for step in range(n_new):
        start = time.perf_counter()
        logits = next_logits(model, new, cache, spec.edits)
        if not np.isfinite(logits).all():
            yield Event(
                step, None, text.decode(b"", True), np.nan, cache.length, "nonfinite", None, 0.0
            )
            return
        id = choose(logits, ids, spec, step)
        stop = "end" if id in model.tokenizer.end_ids else "limit" if step == n_new - 1 else None
        yield Event(
            step=step,
            id=id,
            text=text.decode(_spoken(model, id, stop), stop is not None),
            logprob=float(log_softmax(logits.astype(np.float64))[id]),
            n_cached=cache.length,
            stop=stop,
            stop_id=id if stop == "end" else None,
            seconds=time.perf_counter() - start,
        )
        if stop:
            return
        ids, new = [*ids, id], [id]


def next_logits(model, ids, cache, edits=()):  # -> [vocab]
    """Run new tokens through the model and the cache; the scores for what follows the last."""
    first, c = cache.length, model.config
    for a, b in forward.chunks(len(ids)):
        tap = editing_tap(edits, first + a) if edits else forward.no_tap
        x = forward.forward(np.array(ids[a:b]), model.weights, c, cache, tap)
    tap = editing_tap(edits, first + len(ids) - 1) if edits else forward.no_tap
    return forward.unembed(x[-1:], model.weights, c, tap)[0]


def _spoken(model, id, stop):
    """The bytes a token adds to the text: an end token adds none."""
    return b"" if stop == "end" else model.tokenizer.token_bytes(id)
