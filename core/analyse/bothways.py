"""Which tokens the comparison with and without a cache runs, and what its steps come to.
Knows runs; no pages.
"""

import statistics
from collections.abc import Sequence

from core.record.trace import Trace

from .agreement import Agreement
from .growing import grow
from .passcost import Cost
from .withcache import Step

STEPS = 16  # of one token each, behind the prefill
LONGEST = 128  # tokens of the prefill


def tokens(trace: Trace) -> tuple[tuple[int, ...], int]:
    """Ids, and how many of them are steps: those of the text, continued where it is short; where it
    cannot go on, its own last tokens are the steps. 0 steps of a single token that ends at once.
    """
    n = len(trace.ids)
    ids = trace.ids if n >= LONGEST + STEPS else grow(trace, STEPS).ids
    ids = ids[: LONGEST + STEPS]
    return ids, min(STEPS, max(0, len(ids) - 1))


def worst(steps: Sequence[Step]) -> Agreement:
    """Of the agreements of all steps, the one that takes most of what is allowed."""
    return max((step.agreement for step in steps), key=lambda a: a.difference / a.tolerance)


def sums(steps: Sequence[Step]) -> dict[str, tuple[float, float]]:
    """With the cache and without, over all steps but the prefill: seconds, FLOPs and bytes."""
    pairs = [(step.cached, step.whole) for step in steps if step.index]
    found = {"time": [tuple(each.seconds for each in pair) for pair in pairs]}
    found |= {name: [tuple(of(each.cost) for each in pair) for pair in pairs]
              for name, of in COSTS.items()}  # fmt: skip
    return {name: tuple(map(sum, zip(*each, strict=True))) for name, each in found.items()}


def slower(steps: Sequence[Step]) -> float:
    """How many times as long a step takes without the cache, the median of all but the prefill."""
    return statistics.median(s.whole.seconds / s.cached.seconds for s in steps if s.index)


def _flops(cost: Cost) -> int:
    return cost.flops


def _bytes(cost: Cost) -> int:
    return cost.n_bytes


COSTS = {"flops": _flops, "bytes": _bytes}
