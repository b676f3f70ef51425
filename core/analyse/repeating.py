"""How the heads of a model read random words said twice: the induction score. The text is the
model's, not the reader's. Opens a model and runs it; no figures, no sentences.
"""

from dataclasses import dataclass

import numpy as np

from core.opening import Model
from core.record.trace import Trace, freeze
from core.run import RunSpec, run
from core.store import ByteStore

from . import learning
from .finite import check_stream
from .patterns import induction
from .roles import Rows

PERIOD = 50  # words of a copy, fewer where the context or the vocabulary is small
FOUND = ByteStore(4 << 20)


@dataclass(frozen=True, eq=False)
class Repeated:
    """Random words said twice, read by a model.

    Attributes:
        trace: the run. period: words of a copy. scores: the induction score of each head, float32
        [layer, head], read-only; NaN in a layer whose window does not reach back to the first copy.
    """

    trace: Trace
    period: int
    scores: np.ndarray

    @property
    def begin(self) -> int:
        """How many tokens stand before the first copy: 1 where the model has a BOS, else 0."""
        return len(self.trace.ids) - 2 * self.period


def repeated(model: Model, name: str) -> Repeated:
    """The induction scores of a model: of BOS + R + R, where R are PERIOD different random words.
    The seed is that of core.analyse.learning. name: what a RunSpec calls the model.

    Raises TokenwalkError where its numbers are not finite, or no two words fit into its context.
    """
    ids, scores = FOUND.get(model.source.key, lambda: _found(model, name), _size)
    return Repeated(run(RunSpec(name, ids=ids)), len(ids) // 2, scores)


def _size(found):
    ids, scores = found
    return 32 * len(ids) + scores.nbytes


def _found(model, name):
    """The ids and the scores."""
    (ids,) = learning.repeats(model, PERIOD, 1)
    trace, period = run(RunSpec(name, ids=ids)), len(ids) // 2
    check_stream(trace)
    maps = zip(trace.each_layer("attn.weights"), trace.config.windows, strict=True)
    rows = [_reached(induction(weights, period), period, window) for weights, window in maps]
    return ids, freeze(np.stack(rows).astype(np.float32))


def _reached(scores, period, window):
    return scores if window is None or window >= period else np.full_like(scores, np.nan)


def by_row(weights, period: int, window=None) -> Rows:  # [query, key]
    """The induction score of one head, row by row: A[i, i - (period - 1)] for the rows of the
    second copy.
    """
    n = len(weights)
    values = np.full(n, np.nan)
    if window is None or window >= period:
        rows = np.arange(n - period, n)
        values[rows] = weights[rows, rows - (period - 1)]
    return Rows(values, np.where(np.isnan(values), np.nan, 1.0))
