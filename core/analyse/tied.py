"""The last vector read against the rows of the output matrix, which many models tie to the
embedding: one dot product per token.

Reads a trace; no sentences, no figures.
"""

from dataclasses import dataclass, replace

import numpy as np

from .output import Candidate, candidate, guess
from .panel import Panel, strip
from .rows import AXES, norms

FEW = 5  # candidates beside the token itself
SCORES = "logits"  # the dot products themselves, before a cap


def candidates(trace, position: int, chosen: int | None = None) -> tuple[Candidate, ...]:
    """The most probable tokens after a position, the token that stands there, and a chosen one."""
    found = {c.id: c for c in guess(trace, position, FEW, SCORES).top}
    for id in (trace.ids[position], chosen):
        if id is not None and id not in found:
            found[id] = candidate(trace, id, position, SCORES)
    return tuple(found.values())


def operands(trace, position: int, id: int, term: int | None) -> tuple[Panel, ...]:
    """What is multiplied: the last vector, and a token's row of the output matrix; where that is
    not the embedding, the token's embedding, too. term: the number to point at; None or outside:
    the one whose product is largest.
    """
    w = trace.model.weights
    vector, row = trace.read("final_norm")[position], w.head[id]
    if term is None or not 0 <= term < len(row):
        term = int(np.argmax(np.abs(vector * row)))
    x = strip("final_norm", "input", "residual", vector, ("seq", AXES[1]), position, term)
    e = _row("embed" if w.tied else "head", row, id, term)
    other = () if w.tied else (_row("embed", w.embed[id], id, term),)
    return replace(x, terms="columns"), replace(e, terms="columns"), *other


def _row(name, row, id, term):
    return strip(name, "weight", "residual", row, AXES, id, term)


@dataclass(frozen=True)
class Nearest:
    """The row of the output matrix that wins by dot product, and the one that wins by cosine.

    logit, cosine: of the winner. Ids of tokens.
    """

    by_dot: int
    logit: float
    by_cosine: int
    cosine: float


def nearest(trace, position: int) -> Nearest:
    """Which token wins after a position, with and without the length of the rows.

    A row without any length has no direction, so no cosine.
    """
    scores, lengths = trace.output(SCORES, position), norms(trace.model, "head")
    vector = np.linalg.norm(trace.read("final_norm")[position])
    cosines = np.full_like(scores, -1)
    np.divide(scores, lengths * vector, out=cosines, where=lengths * vector > 0)
    dot, cosine = int(np.argmax(scores)), int(np.argmax(cosines))
    return Nearest(dot, float(scores[dot]), cosine, float(cosines[cosine]))


@dataclass(frozen=True)
class Shared:
    """Weights of one table, of the model, and of the model if it tied (or did not tie) its two
    tables. share: the table's part of the model.
    """

    table: int
    total: int
    otherwise: int
    share: float


def shared(model) -> Shared:
    """What one table less, or one more, makes of the model."""
    table, total = model.weights.embed.size, model.weights.n_parameters
    otherwise = total + table if model.weights.tied else total - table
    return Shared(table, total, otherwise, table / total)
