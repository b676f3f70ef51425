"""A continuation beside one pass over the whole of it, and what two of them are worth. Knows runs
and continuations; no pages.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from core.decode.background import Continuation, Written
from core.decode.filters import log_softmax
from core.run import RunSpec, run

from .agreement import Agreement, compare
from .output import ranking, readings
from .withcache import TOLERANCE


def scores_of(text: Continuation, n: int, n_read: int | None = None) -> np.ndarray:  # -> [vocab]
    """The logits that token n of a continuation is chosen by, from one pass over the prompt and
    n_read tokens, by default n, without a cache.
    """
    ids = (*text.ids, *(token.id for token in text.tokens[: n_read or n]))
    trace = run(RunSpec(text.spec.model, ids=ids, edits=text.spec.edits))
    return ranking(trace, len(text.ids) - 1 + n).logits


def logprob_of(text: Continuation, n: int, id: int) -> float:
    """The log-probability, in nat at temperature 1, that any token has in the place of token n."""
    return float(log_softmax(scores_of(text, n).astype(np.float64))[id])


def again(text: Continuation, n: int) -> tuple[float, Agreement]:
    """The log-probability of token n by a pass over all tokens there are, and how far the recorded
    one is from it.

    Both round in float32, in another order, which moves a score by as much as `withcache` allows.
    """
    token, n_read = text.tokens[n], len(text.tokens) - 1
    scores = scores_of(text, n, n_read).astype(np.float64)
    found, size = float(log_softmax(scores)[token.id]), float(np.abs(scores).max())
    return found, compare(found, token.event.logprob, TOLERANCE * max(size, 1.0))


def reading(text: Continuation, n: int, asked: str, tokenizer) -> int | None:
    """The first token of what a reader typed, in the reading that the model prefers in the place of
    token n, as `rank_of_text`. None where there is no such token.
    """
    found = readings(tokenizer, asked)
    if len(found) < 2:
        return found[0] if found else None
    return max(found, key=scores_of(text, n).__getitem__)


@dataclass(frozen=True)
class Side:
    """What one of two texts says from the token on at which they part: its ids and their
    log-probabilities for the model, in nat, equally many.
    """

    ids: tuple[int, ...]
    logprobs: tuple[float, ...]

    @cached_property
    def running(self) -> list[float]:
        """The sum of log-probabilities up to each token, in nat: the logarithm of how probable it
        is that all of them come, one after the other.
        """
        return np.cumsum(np.asarray(self.logprobs, np.float64)).tolist()

    @property
    def mean(self) -> float:
        """Log-probability per token, in nat."""
        return self.running[-1] / len(self.ids)

    @property
    def probs(self) -> list[float]:
        """Their probabilities."""
        return [math.exp(each) for each in self.logprobs]


def original(text: Continuation, at: int, n: int) -> Side:
    """Tokens at to n of a continuation."""
    tokens = text.tokens[at:n]
    return Side(tuple(t.id for t in tokens), tuple(t.event.logprob for t in tokens))


def branch(text: Continuation, at: int, id: int, tokens: Sequence[Written]) -> Side:
    """The branch in which another token stands in the place of token `at`, and what followed it."""
    kept = {each.id: math.log(each.prob) for each in text.tokens[at].best if each.prob}
    first = kept[id] if id in kept else logprob_of(text, at, id)
    return Side((id, *(t.id for t in tokens)), (first, *(t.event.logprob for t in tokens)))


def n_alike(a: Side, b: Side) -> int:
    """At how many places behind the fork both have the same token."""
    return sum(x == y for x, y in zip(a.ids[1:], b.ids[1:], strict=False))


def speed(tokens: Sequence[Written]) -> float:
    """Tokens per second, with what they had to wait for."""
    return len(tokens) / max(sum(token.took for token in tokens), 1e-9)


def surprises(tokens: Sequence[Written]) -> tuple[int, int]:
    """How many tokens the model held for more probable than all others together, and which one it
    expected least: its index.
    """
    probs = [token.prob for token in tokens]
    return sum(prob > 0.5 for prob in probs), int(np.argmin(probs))


def arrays(tokens: Sequence[Written]) -> dict[str, np.ndarray]:
    """What is kept of each token as arrays [token]; of the candidates [token, candidate]."""
    events = [token.event for token in tokens]
    own = {name: np.array([getattr(e, name) for e in events]) for name in COLUMNS}
    own["u"] = np.array([np.nan if e.u is None else e.u for e in events])
    own |= {
        "place": np.array([t.place for t in tokens]),
        "took": np.array([t.took for t in tokens]),
    }
    for name in ("id", "prob", "drawn"):
        own[f"best_{name}"] = np.array([[getattr(c, name) for c in t.best] for t in tokens])
    return {f"written_{name}": array for name, array in own.items()}


COLUMNS = ("id", "logprob", "prob", "n_kept", "n_cached", "cache_bytes", "seconds")
