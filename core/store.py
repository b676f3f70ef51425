"""A shared store bounded in bytes: models, traces and opened layers live here, once for everybody.

Knows nothing of what it holds but the size. Values must be read-only.
"""

import threading
from collections import OrderedDict


class ByteStore:
    """Least-recently-used values, dropped when the sum of their sizes passes the limit. Safe across
    threads.

    A value larger than the limit is made and returned, but not kept.
    """

    def __init__(self, limit: int):
        self.limit, self.nbytes = limit, 0
        self._values: OrderedDict = OrderedDict()
        self._lock, self._making = threading.Lock(), {}

    def __contains__(self, key) -> bool:
        return key in self._values

    def get(self, key, make, size):
        """The value for `key`; made by `make()` if it is not there, in one thread only. size(value)
        -> bytes.
        """
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key][0]
            making = self._making.setdefault(key, threading.Lock())
        with making:
            with self._lock:
                if key in self._values:
                    return self._values[key][0]
            try:
                value = make()
                with self._lock:
                    self._keep(key, value, size(value))
            finally:  # a key whose make failed can be tried again, and leaves nothing behind
                with self._lock:
                    self._making.pop(key, None)
        return value

    def _keep(self, key, value, nbytes):
        if nbytes > self.limit:
            return
        self.nbytes -= self._values.pop(key, (None, 0))[1]  # two threads may have made it at once
        self._values[key] = (value, nbytes)
        self.nbytes += nbytes
        while self.nbytes > self.limit:
            _, (_, freed) = self._values.popitem(last=False)
            self.nbytes -= freed

    def drop(self, key) -> None:
        """Forget one value, if it is there."""
        with self._lock:
            self.nbytes -= self._values.pop(key, (None, 0))[1]

    def clear(self):
        """Forget everything."""
        with self._lock:
            self._values.clear()
            self.nbytes = 0
