"""How a text becomes tokens, merge by merge.

Knows what a merge and a history are, and in which order pairs are joined; no vocabulary: which
pairs there are is asked of `bpe` and `sentencepiece`.
Source: Sennrich, Haddow and Birch 2016, for the merges; with a queue instead of their search of all
pairs before each, n symbols take n log n steps.
"""

import heapq
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class Merge:
    """One merge: symbols[start:middle] with symbols[middle:stop], places among the first symbols.

    rank: its place in the merge table from 0, None where tokens have scores. score: of the joined
    token where they have. id: of the joined token.
    """

    start: int
    middle: int
    stop: int
    rank: int | None
    score: float | None
    id: int

    def earlier(self, by: int) -> "Merge":
        """The same where the first symbols are counted from `by` on."""
        places = {"start": self.start - by, "middle": self.middle - by, "stop": self.stop - by}
        return replace(self, **places)


@dataclass(frozen=True)
class History:
    """How one piece of a text became tokens.

    Attributes:
        start, stop: characters of the text.
        symbols: what merging begins with, as the vocabulary spells it: a byte, a character, or a
            run of characters that it does not know.
        merges: in the order in which they happen.
        ids: what is left at the end. ends: id n covers symbols[ends[n - 1]:ends[n]].
        dropped: bytes of the piece that have no token and vanish.
        whole: taken as one token without merging (an added token, a control token, a piece that is
            a token where the vocabulary asks for that first).
        places: for each symbol, the characters of the text it touches (start, stop).
    """

    start: int
    stop: int
    symbols: tuple[str, ...]
    merges: tuple[Merge, ...]
    ids: tuple[int, ...]
    ends: tuple[int, ...]
    dropped: tuple[int, ...]
    whole: bool
    places: tuple[tuple[int, int], ...]

    @property
    def spans(self) -> list[tuple[int, int]]:
        """For each id, the characters of the text it touches: all of one that it is half of."""
        spans, first = [], 0
        for end in self.ends:
            places = self.places[first:end]
            spans.append((min(a for a, _ in places), max(b for _, b in places)))
            first = end
        return spans

    def moved(self, by: int) -> "History":
        """The same where the piece begins `by` characters later."""
        places = tuple((start + by, stop + by) for start, stop in self.places)
        return replace(self, start=self.start + by, stop=self.stop + by, places=places)

    def tokens(self, first: int, stop: int) -> "History":
        """The part that became ids[first:stop]; what was dropped is left out."""
        begin, end = (self.ends[n - 1] if n else 0 for n in (first, stop))
        spans = self.spans[first:stop]
        return History(
            start=spans[0][0],
            stop=spans[-1][1],
            symbols=self.symbols[begin:end],
            merges=tuple(m.earlier(begin) for m in self.merges if begin <= m.start < end),
            ids=self.ids[first:stop],
            ends=tuple(each - begin for each in self.ends[first:stop]),
            dropped=(),
            whole=self.whole,
            places=self.places[begin:end],
        )


def taken_whole(token: str, id: int, start: int, stop: int) -> History:
    """The history of a piece that is a token, without a merge."""
    return History(start, stop, (token,), (), (id,), (1,), (), True, ((start, stop),))


class Joined(NamedTuple):
    """Neighbours that were joined to one symbol: [start:middle] with [middle:stop] of what merging
    began with. The least priority comes first, the leftmost where priorities tie.
    """

    priority: float
    start: int
    middle: int
    stop: int
    symbol: Hashable


def join(symbols, look: Callable) -> tuple[list[tuple[Hashable, int]], list[Joined]]:
    """Join neighbours, the best first, until no two can be joined.

    look(left, right) -> (priority, joined symbol), or None for no pair. Returns the symbols that
    are left, each with where it ends, and the joins in order.
    Example: `a b c b` with ab before abc: joined are [0:1:2] and [0:2:3], left (abc, 3), (b, 4).
    """
    chain, joins = Chain(symbols, look), []
    while chain.queue:
        joined = heapq.heappop(chain.queue)
        if chain.still(joined):
            chain.apply(joined)
            joins.append(joined)
    return chain.left(), joins


class Chain:
    """Symbols with their neighbours, and the pairs that wait to be joined."""

    def __init__(self, symbols, look):
        self.symbols, self.look, self.queue = [*symbols], look, []
        n = len(self.symbols)
        self.before, self.after = [*range(-1, n - 1)], [*range(1, n + 1)]
        for start in range(n):
            self.offer(start)

    def offer(self, start):
        """Put the pair that begins at `start` into the queue, where there is one."""
        middle = self.after[start] if start >= 0 else len(self.symbols)
        if middle == len(self.symbols):
            return
        found = self.look(self.symbols[start], self.symbols[middle])
        if found:
            priority, symbol = found
            pair = Joined(priority, start, middle, self.after[middle], symbol)
            heapq.heappush(self.queue, pair)

    def still(self, pair):
        """Whether neither of the two has been joined to something else since."""
        alive = self.symbols[pair.start] is not None and self.symbols[pair.middle] is not None
        return alive and (self.after[pair.start], self.after[pair.middle]) == pair[2:4]

    def apply(self, pair):
        """Replace the two by the joined one, and offer it to its neighbours."""
        self.symbols[pair.start], self.symbols[pair.middle] = pair.symbol, None
        self.after[pair.start] = pair.stop
        if pair.stop < len(self.symbols):
            self.before[pair.stop] = pair.start
        self.offer(self.before[pair.start])
        self.offer(pair.start)

    def left(self):
        """What is left, each with where it ends."""
        ends = zip(self.symbols, self.after, strict=True)
        return [(symbol, end) for symbol, end in ends if symbol is not None]
