"""Lets an operation that works row by row use all cores on a large array.

NumPy is parallel in matrix products only. No row looks at another, so that the numbers are the same
in any number of parts. Knows arrays; no operation.
"""

import functools
import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np

N_PARTS = int(os.environ.get("OPENBLAS_NUM_THREADS") or os.cpu_count() or 1)  # as in products
LARGE = 1 << 20  # bytes; below, handing over takes longer than the work
POOL = ThreadPoolExecutor(N_PARTS, thread_name_prefix="rows")


def by_rows(function):
    """The function, with the first axis of a large first argument cut into one part per core."""

    @functools.wraps(function)
    def in_parts(x, *rest):
        if N_PARTS < 2 or x.ndim < 2 or x.nbytes < LARGE:
            return function(x, *rest)
        out, n = np.empty_like(x), -(-len(x) // N_PARTS)

        def fill(first):
            out[first : first + n] = function(x[first : first + n], *rest)

        list(POOL.map(fill, range(0, len(x), n)))
        return out

    return in_parts
