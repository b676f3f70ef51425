"""The draw as a line from 0 to 1 on which every kept token owns a piece, and how far the counts of
many draws are from what is to be expected. Knows draws; no model, no text.
"""

import math
from dataclasses import dataclass

from .sampling import Draw

REACH = 3  # neighbours on either side of a token, where the line is drawn larger
THIN = 0.02  # of the line: a shorter piece is hard to see
LEAST = 1e-300  # of the line: pieces whose probability is 0 have no width
FEWEST = 5  # hits and misses to expect before a count is measured in standard deviations


@dataclass(frozen=True)
class Piece:
    """One token of the walk, or several beside each other as one.

    Attributes:
        place: of its first token, in the order of the walk. n: how many tokens it holds.
        start, stop: where it lies: it is drawn if start <= u < stop.
    """

    place: int
    n: int
    start: float
    stop: float


def pieces(drawn: Draw, n_first: int) -> tuple[Piece, ...]:
    """The whole line: the first tokens, the drawn one, and as one piece each what lies between them
    and what lies behind.
    """
    n, place = len(drawn.ids), drawn.place
    ends = {*range(min(n_first, n) + 1), n}
    if place >= n_first:
        ends |= {place, place + 1}
    return _between(drawn, sorted(ends))


def around(drawn: Draw, place: int) -> tuple[Piece, ...]:
    """A token with its neighbours, each as a piece."""
    first, last = max(place - REACH, 0), min(place + REACH, len(drawn.ids) - 1)
    return _between(drawn, range(first, last + 2))


def times_larger(part: tuple[Piece, ...]) -> float:
    """How many times larger pieces of the line are, drawn as wide as the whole of it."""
    return 1 / max(part[-1].stop - part[0].start, LEAST)


def _between(drawn, ends):
    ends = list(ends)
    return tuple(
        Piece(a, b - a, float(drawn.cumulative[a]), float(drawn.cumulative[b]))
        for a, b in zip(ends, ends[1:], strict=False)
    )


def walked(drawn: Draw) -> tuple[int, float, float]:
    """The draw by hand: add one probability after the other until the sum exceeds u. The place of
    the token, the sum before it and the sum with it.
    """
    before, after = 0.0, 0.0
    for place, probability in enumerate(drawn.probs.tolist()):
        before, after = after, after + probability
        if after > drawn.u:
            return place, before, after
    return drawn.place, float(drawn.cumulative[drawn.place]), after  # u beyond a sum of almost 1


@dataclass(frozen=True)
class Counted:
    """How often a piece came in n draws. deviation: (count - expected) in standard deviations of
    the binomial distribution, sqrt(n p (1 - p)); nan where fewer than 5 hits or 5 misses are to be
    expected, for such a count says little (Cochran 1954).
    """

    piece: Piece
    count: int
    expected: float
    spread: float
    deviation: float

    @property
    def apart(self) -> float:
        """How far the count is from what is to be expected, on either side."""
        return abs(self.count - self.expected)


def counted(drawn: Draw, counts, n_first: int) -> tuple[Counted, ...]:
    """The counts [kept] of n draws beside what is to be expected: of the first tokens, and of all
    others as one.
    """
    n, total = len(drawn.ids), int(counts.sum())
    ends = sorted({*range(min(n_first, n) + 1), n})
    return tuple(_counted(piece, counts, total) for piece in _between(drawn, ends))


def counted_at(drawn: Draw, counts, place: int) -> Counted:
    """The same of one token of the walk."""
    return _counted(*_between(drawn, (place, place + 1)), counts, int(counts.sum()))


def _counted(piece, counts, total):
    share = min(piece.stop - piece.start, 1.0)
    count, expected = int(counts[piece.place : piece.place + piece.n].sum()), total * share
    spread = math.sqrt(expected * (1 - share))
    tells = min(expected, total - expected) >= FEWEST
    return Counted(
        piece, count, expected, spread, (count - expected) / spread if tells else math.nan
    )


def farthest(bins) -> Counted | None:
    """The count that is most standard deviations away; None where none can be told."""
    told = [each for each in bins if not math.isnan(each.deviation)]
    return max(told, key=lambda each: abs(each.deviation), default=None)
