"""From the last vector to a guess: ranking, histogram and how concentrated the distribution is.
Reads a trace.
"""

from dataclasses import dataclass

import numpy as np

from .finite import check_scores

N_BINS = 60


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
    logits, probs = trace.logits(position), trace.probs(position)
    check_scores(trace, position, logits)
    order = np.argsort(-logits, kind="stable")
    exact = logits.astype(np.float64)
    shown = trace.output(scores, position) if scores else logits
    counts, edges = np.histogram(shown, N_BINS)
    return Guess(
        position=position % len(trace.ids),
        top=tuple(_candidate(trace, shown, probs, r, id) for r, id in enumerate(order[:n], 1)),
        n_for_90=1 + int(np.searchsorted(np.cumsum(probs[order], dtype=np.float64), 0.9)),
        smallest=float(probs.min()),
        log_sum_exp=float(exact.max() + np.log(np.exp(exact - exact.max()).sum())),
        counts=counts,
        edges=edges,
    )


def candidate(trace, id: int, position: int = -1, scores: str | None = None) -> Candidate:
    """Where one token stands in the ranking after a position. scores: as in `guess`."""
    logits, probs = trace.logits(position), trace.probs(position)
    shown = trace.output(scores, position) if scores else logits
    return _candidate(trace, shown, probs, 1 + int((logits > logits[id]).sum()), id)


def rank_of_text(trace, text: str) -> Candidate | None:
    """Where the first token of a text would stand as the next token; None if the text has none.

    A word that continues a sentence carries its own space, a piece of a word or of code does not:
    whichever of the two the model puts first is meant.
    """
    readings = (trace.model.tokenizer.encode(spaced) for spaced in (text, " " + text.lstrip(" ")))
    found = [candidate(trace, ids[0]) for ids in readings if ids]
    return min((c for c in found if c.text.strip("␣")), key=lambda c: c.rank, default=None)


def _candidate(trace, logits, probs, rank, id):
    text = trace.model.tokenizer.display(int(id))
    return Candidate(rank, int(id), text, float(logits[id]), float(probs[id]))
