"""Continuations that are written in a thread beside whoever reads them, one pass of each in turn.

The same spec is the same continuation for everybody. One that nobody has looked at for some seconds
waits; if its generator has had to go meanwhile, it runs through its tokens again, which are the
same. Knows `generate`, threads and two bounded stores; does not know who reads, or how.
"""

import atexit
import contextlib
import itertools
import threading
import time
from dataclasses import dataclass, replace

import numpy as np

from core.opening import open_model
from core.run import prompt_ids
from core.spec import RunSpec
from core.store import ByteStore

from .filters import descending
from .generate import Event, passes

MOST = 400  # tokens of a continuation
PATIENCE = 5.0  # seconds without a look after which nobody waits for it
N_BEST = 8  # candidates that are kept of each step
TOKEN_BYTES = 3_000  # of one Written, at most
TEXTS = ByteStore(24 << 20)
WAITING = ByteStore(48 << 20)  # generators with their caches, by their continuation
ANEW = itertools.count(1)  # numbers for `look` that nobody has used


@dataclass(frozen=True)
class Candidate:
    """A token that could have come. prob: for the model, at temperature 1. drawn: in the
    distribution that was drawn from; 0 where a filter cut it.
    """

    id: int
    prob: float
    drawn: float


@dataclass(frozen=True)
class Written:
    """A token and how it came.

    Attributes:
        event: the Event without its arrays. best: the first N_BEST candidates of the model, best
            first. place: of the token in the walk of the draw. before: the probability of all
            before it in that walk. took: seconds since the token before, or since it was asked for;
            what others had computed meanwhile is in it.
    """

    event: Event
    best: tuple[Candidate, ...]
    place: int
    before: float
    took: float

    @property
    def id(self) -> int:
        """The token."""
        return self.event.id

    @property
    def prob(self) -> float:
        """Its probability for the model: at temperature 1, before any penalty."""
        return float(np.exp(self.event.logprob))


class Continuation:
    """The tokens that follow a prompt. tokens: those so far, only ever longer. error: why there
    will be none more, or None; where: of scores that were not finite, as in Event.
    """

    def __init__(self, spec: RunSpec, ids, n_bytes: int):
        self.spec, self.ids, self.tokens = spec, tuple(ids), []
        self.error, self.where = None, None
        self.turn = contextlib.nullcontext()
        self._key, self._events, self._n_bytes = object(), None, n_bytes
        self._asked: dict[int, float] = {}  # how many tokens somebody wants to see -> when last
        self._since = time.perf_counter()

    @property
    def ended(self) -> bool:
        """Whether there is nothing more to come."""
        last = self.tokens[-1].event.stop if self.tokens else None
        return bool(last or self.error or self.where)

    def has(self, n: int) -> bool:
        """Whether it has n tokens, or all there will ever be."""
        return len(self.tokens) >= n or self.ended

    def why(self, n: int, limit: int) -> str | None:
        """Why it goes no further than its first n tokens: "end" (an end token), "nonfinite",
        "context" (no room is left) or "limit" (of tokens); None where it may go on.
        """
        if self.where and n == len(self.tokens):
            return "nonfinite"
        stop = self.tokens[n - 1].event.stop if n else None
        if stop == "limit":
            return "limit" if n == MOST else "context"
        return stop or ("limit" if n >= limit else None)

    def forget(self) -> None:
        """Nobody waits any more, and what failed may be tried again; who still waits says so with
        the next look.
        """
        with _CHANGED:
            self._asked.clear()
            self.error = None

    def ask(self, n: int) -> None:
        """Somebody wants to see n tokens, now."""
        if not self.wanted():
            self._since = time.perf_counter()
        self._asked[n] = time.perf_counter()

    def wanted(self) -> bool:
        """Whether somebody waits for a token that is not there yet."""
        fresh = time.perf_counter() - PATIENCE
        self._asked = {n: at for n, at in self._asked.items() if at > fresh}
        return bool(self._asked) and not self.has(max(self._asked))

    def write(self) -> None:
        """One pass more, in the thread of the writer: a token, or one of those it has where its
        generator had to begin again, or a part of a long prompt.
        """
        try:
            self._take(self._next())
        except Exception as error:  # a page says it: nobody listens here
            self._drop()
            self.error = error

    def rest(self) -> None:
        """Nobody waits: its generator may be dropped."""
        self._events = None

    def _next(self):
        if self._events is None:
            self._events = WAITING.get(self._key, self._begin, lambda _: self._n_bytes)
        return next(self._events)

    def _begin(self):
        return passes(self.spec)

    def _take(self, event):
        if event is None:
            return
        if event.stop:
            self._drop()
        if event.stop == "nonfinite":
            self.where = event.where
        elif event.step >= len(self.tokens):
            now = time.perf_counter()
            self.tokens.append(_written(event, now - self._since))
            self._since = now

    def _drop(self):
        """Its generator has nothing more to give."""
        WAITING.drop(self._key)
        self._events = None


def _written(event, took):
    drawn, logits = event.draw, event.logits.astype(np.float64)
    ids, log_sum = descending(logits, N_BEST), logits[event.id] - event.logprob
    probs = np.exp(logits[ids] - log_sum)  # the softmax, of these few alone
    named = zip(ids.tolist(), probs.tolist(), drawn.shares[ids].tolist(), strict=True)
    best = tuple(Candidate(*each) for each in named)
    bare = replace(event, draw=None, logits=None)
    return Written(bare, best, drawn.place, drawn.before, took)


# ---- looking -------------------------------------------------------------------------------------


def look(spec: RunSpec, n: int, turn=None, wait: float = 0.0, again: int = 0) -> Continuation:
    """The continuation of a spec for somebody who wants to see its first n tokens, and looks again
    soon while they are not all there. Its max_new_tokens does not matter: n decides, up to MOST.

    turn: a context manager in which each token is made, so that others have their turn. wait:
    seconds to wait for the n tokens here. again: another number is another continuation, with the
    same tokens, measured anew. Raises ModelFileError and PromptError.
    """
    text, n, end = find(spec, again), min(n, MOST), time.perf_counter() + wait
    with _CHANGED:
        if turn is not None:
            text.turn = turn
        while True:  # who waits here longer than others' patience goes on asking
            text.ask(n)
            if text.wanted():
                _UNDER_WAY.add(text)
                _begin_to_write()
            left = end - time.perf_counter()
            if left <= 0 or _CHANGED.wait_for(lambda: text.has(n), min(left, PATIENCE / 2)):
                return text


def find(spec: RunSpec, again: int = 0) -> Continuation:
    """The continuation of a spec as it is, without asking for more."""
    spec, model = replace(spec, max_new_tokens=MOST), open_model(spec.model)
    key = (model.source.key, spec, again)
    return TEXTS.get(key, lambda: _new(model, spec), lambda _: MOST * TOKEN_BYTES)


def branched(text: Continuation, n: int, id: int) -> RunSpec:
    """The spec that goes on after the first n tokens of a continuation and then another token: with
    the draws that the continuation has at the same places.
    """
    ids = (*text.ids, *(token.id for token in text.tokens[:n]), id)
    more = {"ids": ids, "first_step": text.spec.first_step + n + 1}
    return replace(text.spec, prompt=None, messages=None, **more)


def _new(model, spec):
    ids, c = prompt_ids(model, spec), model.config
    n_positions = min(len(ids) + MOST, c.context)
    n_bytes = 2 * c.n_layers * n_positions * c.n_kv_heads * c.head_dim * 4
    return Continuation(spec, ids, n_bytes)


# ---- the writer ----------------------------------------------------------------------------------

_CHANGED = threading.Condition()
_UNDER_WAY: set[Continuation] = set()
_WRITER: list[threading.Thread] = []  # at most one


def _begin_to_write():
    if not _WRITER:
        thread = threading.Thread(target=_work, daemon=True)
        thread.start()  # where it cannot, nobody is the writer
        _WRITER.append(thread)


def _work():
    """One token of each that somebody waits for, again and again, until nobody does."""
    try:
        while texts := _waited_for():
            for text in texts:
                _write(text)
    except BaseException:  # the next look begins another writer
        with _CHANGED:
            _WRITER.clear()
        raise


def _write(text):
    with text.turn:
        with _CHANGED:
            wanted = text.wanted()  # still: it may have taken a while to have a turn
        if wanted:
            text.write()
    with _CHANGED:
        _CHANGED.notify_all()


def _waited_for():
    with _CHANGED:
        for text in [each for each in _UNDER_WAY if not each.wanted()]:
            text.rest()
            _UNDER_WAY.discard(text)
        if not _UNDER_WAY:
            _WRITER.clear()
        return list(_UNDER_WAY)


@atexit.register
def stop_all() -> None:
    """A program that ends lets the token under way be the last one."""
    with _CHANGED:
        writers, texts = list(_WRITER), list(_UNDER_WAY)
    for text in texts:
        text.forget()
    for writer in writers:
        writer.join(5)
