"""Numbers computed again in float64 beside the recorded ones: how far apart, and what is allowed.
Knows numbers only.
"""

from dataclasses import dataclass

import numpy as np

from .explain import SMALLEST, TOLERANCE


@dataclass(frozen=True)
class Agreement:
    """Numbers beside the record, told by the one that takes most of what is allowed for it.

    Attributes:
        difference: how far that number is from the record. tolerance: how far it may be.
        equal: whether every number is within its tolerance.
    """

    difference: float
    tolerance: float
    equal: bool


def compare(again, recorded, tolerance=0.0) -> Agreement:
    """Numbers of any one shape beside the record. tolerance: of each or of all; 0: exactly equal.
    Two equal infinities have no difference.
    """
    again, recorded = np.atleast_1d(again, recorded)
    out = np.zeros(again.shape)
    off = np.abs(np.subtract(again, recorded, out=out, where=again != recorded, dtype=np.float64))
    allowed = np.broadcast_to(tolerance, off.shape)
    worst = np.unravel_index(np.argmax(off / np.maximum(allowed, SMALLEST)), off.shape)
    return Agreement(float(off[worst]), float(allowed[worst]), bool((off <= allowed).all()))


def rounding(sizes):
    """How far float32 may be from numbers whose rounding goes by these sizes, as in `explain`."""
    return TOLERANCE * sizes + SMALLEST
