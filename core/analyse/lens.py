"""The logit lens: what the model would guess if it stopped after each layer. Reads a trace; no
figures.

The last norm and the output matrix are applied to rows of the stream that they were not trained
for; the norm's statistics are recomputed from each row itself. Numbers in nats. Where a model caps
its logits, the capped ones are meant.

Source: nostalgebraist 2020, "interpreting GPT: the logit lens".
"""

from bisect import bisect_right
from dataclasses import dataclass

import numpy as np

from core.decode.sampling import log_softmax
from core.model import forward, ops
from core.model.tap import editing_tap
from core.record.trace import freeze

from .agreement import Agreement, compare
from .derived import kept
from .explain import TOLERANCE
from .finite import check_scores

LARGEST = 30 << 20  # bytes of the logits of one window: they take 0.4 seconds to compute
MOST_COLUMNS = 16
KINDS = ("block", "attention", "both")  # after which halves of a block the stream is read


@dataclass(frozen=True)
class Lens:
    """One token at one position through the layers: rank (1 = first) and probability after each,
    [layer].
    """

    token: int
    ranks: np.ndarray
    probs: np.ndarray

    @property
    def first_layer(self) -> int:
        """The layer from which on the token is first without a break; the last one where it never
        is.
        """
        found = first_since(self.ranks)
        return len(self.ranks) - 1 if found is None else found


def lens(trace, token: int, position: int = -1) -> Lens:
    """Rank and probability of a token if the stream were unembedded after each layer.

    The last entry is the model's own answer.
    """
    rows = trace.stream[1:, position]
    scores = forward.unembed(rows, trace.model.weights, trace.config, forward.no_tap)
    ranks = 1 + (scores > scores[:, token, None]).sum(axis=1)
    probs = np.exp([log_softmax(row.astype(np.float64))[token] for row in scores])
    return Lens(token, ranks, probs)


def first_since(ranks) -> int | None:  # [point]
    """The point from which on a rank is 1 without a break; None where the last one is not 1."""
    behind = np.flatnonzero(np.asarray(ranks) != 1)
    since = int(behind[-1]) + 1 if behind.size else 0
    return since if since < len(ranks) else None


# ---- a window of positions, at every point of the stream -----------------------------------------


@dataclass(frozen=True, eq=False)
class Window:
    """The lens on a few positions that follow each other.

    Attributes:
        points: where the stream was read, in order: 0 before the first block, 2 · layer + 1 after
        the attention of a layer, 2 · layer + 2 after its MLP. The last is the model's own output.
        first: position of the first column.
        logits: float32 [point, seq, vocab]; at the last point those that the run itself gives, bit
        for bit. largest, sums: what softmax takes off and divides by, float32 [point, seq].
        top: the id that is first, [point, seq]. entropy: of the distribution, [point, seq].
        divergence: KL(final || point), [point, seq]; exactly 0 at the last point.
        checks: of each column, the formula of all rows, taken for the last one too, beside the run.
        again: the logit of the column's answer by that formula, float32 [seq].
    """

    points: tuple[int, ...]
    first: int
    logits: np.ndarray
    largest: np.ndarray
    sums: np.ndarray
    top: np.ndarray
    entropy: np.ndarray
    divergence: np.ndarray
    checks: tuple[Agreement, ...]
    again: np.ndarray

    @property
    def nbytes(self) -> int:
        """Bytes held, but for the small arrays."""
        return self.logits.nbytes

    @property
    def probs(self) -> np.ndarray:
        """The probability of the token that is first, float32 [point, seq]."""
        return self._prob(self._of(self.top))

    @property
    def answer_probs(self) -> np.ndarray:
        """The probability of the token that each column ends with, float32 [point, seq]."""
        return self._prob(self._of(self.top[-1:]))

    @property
    def decided(self) -> np.ndarray:
        """Where the token that is first is the one of the model's own output, bool [point, seq]."""
        return self.top == self.top[-1]

    def probs_of(self, token: int) -> np.ndarray:
        """The probability of a token, float32 [point, seq]."""
        return self._prob(self.logits[..., token])

    def _of(self, ids):  # [point or 1, seq] -> [point, seq]
        return np.take_along_axis(self.logits, ids[..., None], axis=2)[..., 0]

    def _prob(self, logits):
        """Softmax as `ops` has it, of one token per cell: the last row is that of the run."""
        return np.exp(logits - self.largest) / self.sums

    def ranks_of(self, token: int) -> np.ndarray:
        """The rank of a token, 1 = first, [point, seq]."""
        mine = self.logits[..., token, None]
        return 1 + np.count_nonzero(self.logits > mine, axis=2)

    def surest_other(self, column: int) -> int | None:
        """The row of a column that is surest of another token than the last answer, if any is."""
        probs = np.where(self.decided[:, column], 0, self.probs[:, column])
        return int(probs.argmax()) if probs.any() else None

    def n_early(self) -> int:
        """How many columns hold their last answer without a break from the middle row on."""
        half = len(self.points) // 2
        return int(self.decided[half:].all(axis=0).sum())

    def first_tokens(self, row: int, column: int, n: int) -> list[tuple[int, float]]:
        """The n most probable tokens of a cell with their probabilities, the first one first."""
        logits = self.logits[row, column]
        order = np.argsort(-logits, kind="stable")[:n]
        probs = np.exp(logits[order] - self.largest[row, column]) / self.sums[row, column]
        return list(zip(order.tolist(), probs.tolist(), strict=True))


def points_of(config, kind: str) -> tuple[int, ...]:
    """The points of the stream that a kind reads; always with the last, the model's own output."""
    end = 2 * config.n_layers
    halves = range(1, end, 2) if kind == "attention" else range(0, end, 2)
    return (*(range(end) if kind == "both" else halves), end)


def row_of(points, point: int | None) -> int:
    """The row of a point; of one that is not read, the row before it; the last row of None."""
    return len(points) - 1 if point is None else max(0, bisect_right(points, point) - 1)


def n_columns(config, kind: str) -> int:
    """How many positions a window holds: as many as its logits have room for."""
    return max(1, min(MOST_COLUMNS, LARGEST // (4 * config.vocab * len(points_of(config, kind)))))


def span(position: int, n_tokens: int, columns: int) -> tuple[int, int]:
    """The window that a position lies in: first and stop. Windows follow each other, and the last
    one ends with the text.
    """
    stop = n_tokens - (n_tokens - 1 - position) // columns * columns
    return max(0, stop - columns), stop


def window(trace, kind: str, position: int) -> Window:
    """The lens on the positions around one; the last ones made are kept. TokenwalkError where the
    scores of one of them are not finite numbers.
    """
    first, stop = span(position, len(trace.ids), n_columns(trace.config, kind))
    asked = kind, first, stop
    return kept(trace, ("lens", *asked), lambda: _window(trace, *asked))


def _window(trace, kind, first, stop):
    points = points_of(trace.config, kind)
    recorded = [_recorded(trace, position) for position in range(first, stop)]
    rows = _rows(trace, points, first, stop)  # [point, seq, embedding]
    flat = rows.reshape(-1, rows.shape[-1])
    logits = forward.unembed(flat, trace.model.weights, trace.config, forward.no_tap)
    logits = logits.reshape(*rows.shape[:2], -1)
    checks, end = tuple(map(agreement, logits[-1], recorded)), logits[-1].copy()
    logits[-1] = recorded
    *softmax, entropies, divergences = _measured(logits)
    top = logits.argmax(axis=2)
    again = np.take_along_axis(end, top[-1][:, None], axis=1)[:, 0]
    made = logits, *softmax, top, entropies, divergences
    return Window(points, first, *map(freeze, made), checks, freeze(again))


def _recorded(trace, position):
    logits = trace.logits(position)
    check_scores(trace, position, logits)
    return logits


def _rows(trace, points, first, stop):
    """The stream at some points: rows [point, seq, embedding]."""
    odd = any(point % 2 for point in points)
    mids = after_attention(trace, first, stop) if odd else None
    return np.stack(
        [
            mids[point // 2] if point % 2 else trace.stream[point // 2, first:stop]
            for point in points
        ]
    )


def after_attention(trace, first: int, stop: int) -> np.ndarray:
    """The stream between attention and MLP at positions first..stop-1, [layer, seq, embedding].

    Only these rows are run again, against the recorded keys and values: that takes a fraction of a
    whole layer, and agrees with it but for the last digit.
    """
    c, weights = trace.config, trace.model.weights.layers
    cache = trace.cache.copy(0)
    cache.length = first
    turns = forward.angles(c, first, stop, len(trace.ids))
    tap, found = editing_tap(trace.spec.edits, first), []
    for layer, w in enumerate(weights):
        x = tap("resid_pre", layer, trace.stream[layer, first:stop])
        out = forward.attention(x, w, c, layer, turns[layer], cache, tap)
        found.append(tap("resid_mid", layer, ops.add(x, out)))
    return np.stack(found)


def _measured(logits):  # [point, seq, vocab] -> [point, seq], four times
    """What softmax takes off and divides by, entropy and divergence at each point, one after
    another to save memory.
    """
    log_final, final, *_ = distribution(logits[-1])
    found = []
    for each in logits:
        log_probs, probs, largest, sums = distribution(each)
        away = divergence(log_final, final, log_probs)
        found.append((largest, sums, entropy(log_probs, probs), away))
    return [np.stack(each) for each in zip(*found, strict=True)]


def distribution(logits):  # [seq, vocab] -> [seq, vocab] twice, [seq] twice
    """Log-probabilities and probabilities of some rows of logits, and what softmax took off and
    divided by.
    """
    largest = logits.max(axis=1)
    log_probs = logits - largest[:, None]
    probs = np.exp(log_probs)
    sums = probs.sum(axis=1)
    probs /= sums[:, None]
    log_probs -= np.log(sums)[:, None]
    return log_probs, probs, largest, sums


def entropy(log_probs, probs):  # [seq, vocab] twice -> [seq]
    """How undecided a distribution is, in nats: 0 where all is on one token, log(vocab) where all
    are equal.
    """
    return np.maximum(0, -np.vecdot(probs, log_probs))


def divergence(log_final, final, log_probs):  # [seq, vocab] three times -> [seq]
    """KL(final || these) in nats: what it costs to hold these probabilities for the final ones."""
    return np.maximum(0, np.vecdot(final, log_final - log_probs))


def agreement(again, recorded) -> Agreement:  # [vocab] twice
    """The logits of the last row by the formula of all rows, many rows in one product, beside those
    that the run gives, one row by itself: all of the vocabulary, to 1e-5 of the largest.
    """
    return compare(again, recorded, TOLERANCE * float(np.abs(recorded).max()))
