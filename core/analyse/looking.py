"""Whom a token of one head looks at, and who looks at it: rows and columns of one attention map;
and which speeds of rotation the dot product of a pair rests on.

Reads a trace; no sentences, no figures. Sources: attention (Vaswani et al. 2017), sliding windows
(Beltagy et al. 2020), rotation (Su et al. 2021).
"""

from dataclasses import dataclass

import numpy as np

from core.model.rope import frequencies

from . import attending, headmap

ROUNDING = 1e-6  # what it may take from a sum of weights
TURN = 2 * np.pi


@dataclass(frozen=True, eq=False)
class Looking:
    """The attention map of one head.

    Attributes:
        weights: float32 [query, key], as recorded. window: how many keys a query sees at most, its
        own included; None for all.
    """

    weights: np.ndarray
    window: int | None

    def others(self, position: int, back: bool) -> range:
        """The tokens that the one at a position may look at (`back`), or that may look at it, in
        the order of the text; the token itself is among them.
        """
        reach = self.window or len(self.weights)
        if back:
            return range(max(position - reach + 1, 0), position + 1)
        return range(position, min(position + reach, len(self.weights)))

    def given(self, position: int, back: bool) -> np.ndarray:
        """The weights of these others: float32 [other]."""
        among = self.others(position, back)
        seen = slice(among.start, among.stop)
        return self.weights[position, seen] if back else self.weights[seen, position]

    def strongest(self, position: int, back: bool) -> int:
        """The other token of the largest weight: looking back, the first of the text is left out,
        for attention parks there; else the token itself. Where there is no other: itself.
        """
        among = self.others(position, back)
        rows = [other for other in among if other != (0 if back else position)]
        if not rows:
            return position
        weights = dict(zip(among, self.given(position, back), strict=True))
        return max(rows, key=weights.__getitem__)

    def order(self, position: int, back: bool) -> list[int]:
        """These others, the largest weight first; equal ones in the order of the text."""
        among = self.others(position, back)
        return [among[n] for n in attending.largest_first(self.given(position, back))]

    def total(self, position: int, back: bool, among=None) -> float:
        """The sum of the weights of these others, or of the ones that are `among` them."""
        weights = self.given(position, back).astype(np.float64)
        first = self.others(position, back).start
        return float(weights.sum() if among is None else sum(weights[i - first] for i in among))

    @property
    def received(self) -> np.ndarray:
        """What each token gets from all tokens together: float64 [key]. All add up to the number of
        tokens, as each of them gives away 1.
        """
        return self.weights.sum(axis=0, dtype=np.float64)

    @property
    def most_received(self) -> tuple[int, float]:
        """The token that gets most from all together, and how much; the first of equal ones."""
        most = int(self.received.argmax())
        return most, float(self.received[most])

    @property
    def n_less(self) -> int:
        """How many tokens get less than they give away."""
        return int((self.received < 1 - ROUNDING).sum())

    @property
    def without_first(self) -> np.ndarray:
        """Every row as shares of what the first token left: float32 [query, key]; 0 for the first
        itself, and in rows with nothing left. No value of the model.
        """
        return np.nan_to_num(headmap.without_first(self.weights)).astype(np.float32)

    def arcs(self, most: int, least: float, first: bool = True) -> tuple[np.ndarray, int]:
        """The pairs of two tokens whose weight is at least `least`, the largest `most` of them with
        the largest first: int32 [arc, 2] of query and key; and how many there are in all. first:
        whether the first token counts; without it the weights are those of `without_first`.
        """
        weights = np.tril(self.weights if first else self.without_first, -1)
        found = np.argwhere(weights >= least)
        order = np.argsort(-weights[tuple(found.T)], kind="stable")
        return found[order[:most]].astype(np.int32), len(found)


@dataclass(frozen=True)
class Speeds:
    """A dot product of a rotated query and key, by how fast its numbers turn.

    Attributes:
        n_fast, n_slow: how many pairs of numbers are in the faster half and in the slower one.
        longest: the longest wavelength of the faster half, in tokens per turn. fast, slow: what the
        two halves add to the dot product. n_still, still: of the numbers that do not turn.
    """

    n_fast: int
    n_slow: int
    longest: float
    fast: float
    slow: float
    n_still: int
    still: float


def looking(trace, layer: int, head: int) -> Looking:
    """The map of a head. IndexError for a head that is not there."""
    return Looking(trace.read("attn.weights", layer)[head], trace.config.windows[layer])


def speeds(trace, layer: int, head: int, query: int, key: int) -> Speeds | None:
    """The dot product of a pair by speed; None where fewer than two pairs of numbers turn. A pair
    of numbers is i and i + n of the n pairs, as in transformers.
    """
    rope = trace.config.ropes[layer]
    if rope is None or rope.dim < 4:
        return None
    products = attending.products(trace, layer, head, query, key).products[0].astype(np.float64)
    speed = frequencies(rope, len(trace.ids))
    n = len(speed)
    pairs, order = products[:n] + products[n : 2 * n], np.argsort(-speed, kind="stable")
    fast, slow, still = order[: n // 2], order[n // 2 :], products[2 * n :]
    longest = float(TURN / speed[fast[-1]])
    sums = (float(each.sum()) for each in (pairs[fast], pairs[slow], still))
    fast_sum, slow_sum, still_sum = sums
    return Speeds(len(fast), len(slow), longest, fast_sum, slow_sum, len(still), still_sum)
