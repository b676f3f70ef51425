"""The KV cache: rotated keys and values of every layer, one row per position. Knows no text or
weights.
"""

import numpy as np


class KVCache:
    """Keys (after RoPE) and values that later positions read: what need not be computed twice.

    Attributes:
        keys, values: float32 [layer, seq, kv_head, head_dim]; rows from `length` on are still free.
        length: positions filled.
    """

    def __init__(self, n_layers: int, capacity: int, n_kv_heads: int, head_dim: int):
        # The rows of a head lie one after another in memory: attention reads head by head.
        shape = (n_layers, n_kv_heads, capacity, head_dim)
        self.keys = np.zeros(shape, np.float32).swapaxes(1, 2)
        self.values = np.zeros(shape, np.float32).swapaxes(1, 2)
        self.length = 0

    @property
    def nbytes(self) -> int:
        """Bytes of the filled rows."""
        return 2 * self.keys[:, : self.length].nbytes

    def append(self, layer: int, k, v):
        """Write the new rows of one layer after the filled ones; return all its keys and values.

        The length grows by `advance`, when every layer has written.
        """
        stop = self.length + len(k)
        self.keys[layer, self.length : stop] = k
        self.values[layer, self.length : stop] = v
        return self.keys[layer, :stop], self.values[layer, :stop]

    def advance(self, n: int):
        """Count the n rows that every layer has written."""
        self.length += n

    def rows(self, first: int, stop: int):
        """Keys and values of positions first..stop-1 of all layers, copied, read-only: two float32
        [layer, seq, kv_head, head_dim].
        """
        pair = self.keys[:, first:stop].copy(), self.values[:, first:stop].copy()
        for array in pair:
            array.flags.writeable = False
        return pair

    def extend(self, keys, values):
        """Write rows of all layers after the filled ones, as if they had been run here."""
        stop = self.length + keys.shape[1]
        self.keys[:, self.length : stop] = keys
        self.values[:, self.length : stop] = values
        self.length = stop

    def copy(self, room: int) -> "KVCache":
        """The filled rows with `room` free ones behind: to go on from here and leave this one as it
        is.
        """
        n_layers, _, n_kv_heads, head_dim = self.keys.shape
        twin = KVCache(n_layers, self.length + room, n_kv_heads, head_dim)
        twin.keys[:, : self.length] = self.keys[:, : self.length]
        twin.values[:, : self.length] = self.values[:, : self.length]
        twin.length = self.length
        return twin

    def freeze(self):
        """Make the arrays read-only; return the cache."""
        for array in (self.keys, self.values):
            array.flags.writeable = array.base.flags.writeable = False
        return self
