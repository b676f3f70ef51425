"""Reading and writing as two jobs, measured: a prefill runs many tokens at once, a decode step one.

Runs passes and reads a clock. Knows no pages.
"""

import statistics
import time
from dataclasses import dataclass

from core.record.trace import Trace

from .passcost import cost
from .roofline import Point, measured
from .withcache import Pass, room_for, timed, times

LONG = 128  # tokens of the longer prefill
LONGEST = 512  # tokens of the text that are read
STEPS = 4  # decode steps in a round
BUDGET, ROUNDS = 0.6, 5  # seconds and rounds, whichever ends first; one round in any case


@dataclass(frozen=True)
class Jobs:
    """Medians of several rounds.

    Attributes:
        text, long: the prefill of the text's n_text tokens, and of n_long of them, repeated from
            the start where the text is shorter. step: one token after the text.
    """

    n_text: int
    n_long: int
    text: Pass
    long: Pass
    step: Pass

    @property
    def points(self) -> list[Point]:
        """The three on the roofline: "step", "text", "long"."""
        return [measured(name, getattr(self, name)) for name in ("step", "text", "long")]

    @property
    def times(self) -> dict[str, float]:
        """How many times as much the long prefill takes as a step: "time", "flops", "bytes"."""
        return times(self.long, self.step)

    @property
    def per_token(self) -> float:
        """Seconds of the long prefill for each of its tokens."""
        return self.long.seconds / self.n_long


def measure(trace: Trace) -> Jobs:
    """Read the text, write after it, read the longer one; again, as often as a moment allows."""
    model, (ids, longer) = trace.model, texts(trace)
    rounds, start = [], time.perf_counter()
    while not rounds or (time.perf_counter() - start < BUDGET and len(rounds) < ROUNDS):
        rounds.append(_round(model, ids, longer, trace.spec.edits))
    text, long, steps = zip(*rounds, strict=True)
    steps = [seconds for each in steps for seconds in each]
    step = Pass(statistics.median(steps), cost(model, 1, len(ids)))
    return Jobs(len(ids), len(longer), _middle(text), _middle(long), step)


def texts(trace: Trace) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The ids that are read: of the text, and LONG of them. A model whose context is short reads
    fewer, so that a step has room behind them.
    """
    room = max(1, trace.config.context - 1)
    return trace.ids[: min(LONGEST, room)], (trace.ids * LONG)[: min(LONG, room)]


def planned(trace: Trace) -> list[Point]:
    """The points of `Jobs` before anything is measured: FLOPs and bytes by formula."""
    model, (ids, longer) = trace.model, texts(trace)
    costs = {"step": cost(model, 1, len(ids))}
    costs |= {"text": cost(model, len(ids)), "long": cost(model, len(longer))}
    return [Point(name, each.flops, each.n_bytes) for name, each in costs.items()]


def _round(model, ids, longer, edits):
    """One pass over each text, and the seconds of steps that each run the next token after the
    first: all at the same place, so that they cost the same.
    """
    cache = room_for(model, len(ids) + 1)
    text, steps = timed(model, ids, cache, edits)[0], []
    for _ in range(STEPS):
        cache.length = len(ids)
        steps.append(timed(model, ids[-1:], cache, edits)[0].seconds)
    return text, timed(model, longer, room_for(model, len(longer)), edits)[0], steps


def _middle(passes):
    """The pass with the median time: all of them cost the same."""
    return Pass(statistics.median(each.seconds for each in passes), passes[0].cost)
