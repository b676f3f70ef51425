"""From the last vector to a guess: ranking, histogram and how concentrated the distribution is.
Reads a trace.
"""

from dataclasses import dataclass

import numpy as np

from core.model import ops
from core.record.trace import freeze

from .derived import kept
from .finite import check_scores

N_BINS = 60


@dataclass(frozen=True, eq=False)
class Ranking:
    """Logits and probabilities of the whole vocabulary after a position, and its ids from the most
    probable on, of equal ones the smaller id first: read-only [vocab].
    """

    logits: np.ndarray
    probs: np.ndarray
    order: np.ndarray

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self.logits.nbytes + self.probs.nbytes + self.order.nbytes


@dataclass(frozen=True)
class Candidate:
    """One token in the ranking of a position: rank 1 is the most probable. `logit` is the score
    that softmax reads, unless another op's were asked for.
    """

    rank: int
    id: int
    text: str
    logit: float
    prob: float


@dataclass(frozen=True)
class Guess:
    """What the model expects after one position.

    Attributes:
        top: the first candidates. n_for_90: how many tokens hold 90 % of the probability. smallest:
        the smallest
            probability of all, as float32 holds it. log_sum_exp: logit - log_sum_exp =
            log-probability.
        counts, edges: histogram of the logits of the whole vocabulary; as in Candidate.
    """

    position: int
    top: tuple[Candidate, ...]
    n_for_90: int
    smallest: float
    log_sum_exp: float
    counts: np.ndarray
    edges: np.ndarray


def guess(trace, position: int = -1, n: int = 20, scores: str | None = None) -> Guess:
    """The ranking after a position, with figures about the whole vocabulary.

    scores: "logits" shows those before a cap, in the same ranking. Raises TokenwalkError where the
    scores are not finite numbers.
    """
    found = ranking(trace, position)
    probs, exact = found.probs, found.logits.astype(np.float64)
    shown = trace.output(scores, position) if scores else found.logits
    counts, edges = np.histogram(shown, N_BINS)
    return Guess(
        position=position % len(trace.ids),
        top=first(trace, position, n, scores),
        n_for_90=1 + int(np.searchsorted(np.cumsum(probs[found.order], dtype=np.float64), 0.9)),
        smallest=float(probs.min()),
        log_sum_exp=float(exact.max() + np.log(np.exp(exact - exact.max()).sum())),
        counts=counts,
        edges=edges,
    )


def first(trace, position: int, n: int, scores: str | None = None) -> tuple[Candidate, ...]:
    """The first n candidates after a position. scores, and raises: as `guess`."""
    found = ranking(trace, position)
    shown = trace.output(scores, position) if scores else found.logits
    ids = enumerate(found.order[:n], 1)
    return tuple(_candidate(trace, shown, found.probs, rank, id) for rank, id in ids)


def ranking(trace, position: int) -> Ranking:
    """All tokens after a position; the last ones made are kept. TokenwalkError where the scores are
    not finite numbers.
    """
    position %= len(trace.ids)
    return kept(trace, ("ranking", position), lambda: _ranking(trace, position))


def _ranking(trace, position):
    logits = trace.logits(position)
    check_scores(trace, position, logits)
    order = np.argsort(-logits, kind="stable").astype(np.int32)
    return Ranking(logits, freeze(ops.softmax(logits)), freeze(order))


def candidate(trace, id: int, position: int = -1, scores: str | None = None) -> Candidate:
    """Where one token stands in the ranking after a position. scores: as in `guess`."""
    found = ranking(trace, position)
    shown = trace.output(scores, position) if scores else found.logits
    rank = 1 + int((found.logits > found.logits[id]).sum())
    return _candidate(trace, shown, found.probs, rank, id)


def rank_of_text(trace, text: str) -> Candidate | None:
    """Where the first token of a text would stand as the next token; None if the text has none.

    A word that continues a sentence carries its own space, a piece of a word or of code does not:
    whichever of the two the model puts first is meant.
    """
    found = (candidate(trace, id) for id in readings(trace.model.tokenizer, text))
    return min(found, key=lambda c: c.rank, default=None)


def readings(tokenizer, text: str) -> list[int]:
    """The first token of a text as it is and of the text with one space before it: two, or the one
    that both have, or none where they show nothing.
    """
    spellings = (tokenizer.encode(spaced) for spaced in (text, " " + text.lstrip(" ")))
    ids = dict.fromkeys(spelling[0] for spelling in spellings if spelling)
    return [id for id in ids if tokenizer.display(id).strip("␣")]


def _candidate(trace, logits, probs, rank, id):
    text = trace.model.tokenizer.display(int(id))
    return Candidate(rank, int(id), text, float(logits[id]), float(probs[id]))
