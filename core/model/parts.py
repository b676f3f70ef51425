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


def by_rows(fill):
    """`fill(out, x, *rest)` as a function of x and the rest that returns out, an array like x. The
    first axis of a large x is cut into one part per core.
    """

    @functools.wraps(fill)
    def filled(x, *rest):
        out = np.empty_like(x)
        if N_PARTS < 2 or x.ndim < 2 or x.nbytes < LARGE:
            fill(out, x, *rest)
            return out
        n = -(-len(x) // N_PARTS)
        parts = [slice(first, first + n) for first in range(0, len(x), n)]
        list(POOL.map(lambda part: fill(out[part], x[part], *rest), parts))
        return out

    return filled
