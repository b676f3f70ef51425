"""Lets an operation that works row by row, and a product whose library has one thread, use all
cores on large arrays.

NumPy is parallel in matrix products only. No row looks at another, so that the numbers of an
operation by rows are the same in any number of parts; those of a product in parts are the same
whenever it is cut in as many. Knows arrays; no operation.
"""

import functools
import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np

BLAS_THREADS = int(os.environ.get("OPENBLAS_NUM_THREADS") or os.cpu_count() or 1)
N_PARTS = int(os.environ.get("TOKENWALK_CORES") or BLAS_THREADS)
LARGE = 1 << 20  # bytes; below, handing over takes longer than the work
HEAVY = 1 << 24  # multiplications of a product; below, the same
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


def product(x, weight):  # [seq, in], [out, in] -> [seq, out]
    """x @ weight.T. Where the library's products have fewer threads than there are cores for us,
    the columns of a heavy one are cut into one part per core.
    """
    if N_PARTS <= BLAS_THREADS or len(x) * weight.size < HEAVY:
        return x @ weight.T
    out = np.empty((len(x), len(weight)), x.dtype)
    n = -(-len(weight) // N_PARTS)
    parts = [slice(first, first + n) for first in range(0, len(weight), n)]
    list(POOL.map(lambda part: np.matmul(x, weight[part].T, out=out[:, part]), parts))
    return out
