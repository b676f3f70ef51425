"""Measures how long each op of a pass took: a tap that looks at the clock and hands the value on.

Knows the clock and the order of the taps; no op by name, no arrays.
"""

import time
from types import MappingProxyType


class Stopwatch:
    """Seconds from tap to tap, added up over the passes of a long prompt.

    What the taps themselves do is not counted. Work between two taps counts to the second one: the
    copy into the KV cache to the scores, the tables of the rotation to what follows the embedding.
    Values that come out of one product (queries, keys and values; gate and up) reach their taps one
    right after the other: the first is charged with all of the product.

    aside: what the taps took, in seconds.
    """

    def __init__(self):
        self._seconds, self._start, self.aside = {}, 0.0, 0.0

    def tap(self, then):
        """A tap of one pass, which begins now; every value goes through `then`."""
        self._start = time.perf_counter()

        def timed(op, layer, value):
            now, place = time.perf_counter(), (op, layer)
            self._seconds[place] = self._seconds.get(place, 0.0) + now - self._start
            value = then(op, layer, value)
            self._start = time.perf_counter()
            self.aside += self._start - now
            return value

        return timed

    @property
    def seconds(self) -> MappingProxyType:
        """By (op, layer), read-only: how long it took, in seconds."""
        return MappingProxyType(self._seconds)
