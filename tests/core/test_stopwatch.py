"""The stopwatch of a run: what it charges to which op, and that a trace keeps it."""

import itertools
import sys

import numpy as np
import pytest

from core import RunSpec, run
from core.record import stopwatch
from core.record.stopwatch import Stopwatch
from core.run import TRACES


@pytest.fixture
def clock(monkeypatch):
    """A clock that says these times one after the other."""

    def set_to(*times):
        monkeypatch.setattr(stopwatch.time, "perf_counter", iter(times).__next__)

    return set_to


def test_time_from_tap_to_tap_counts_and_that_of_the_tap_itself_does_not(clock):
    clock(10.0, 11.0, 15.0, 15.25, 16.0)  # begin; first tap: in, out; second tap: in, out
    watch, value = Stopwatch(), np.ones(2)
    tap = watch.tap(lambda op, layer, value: value * 2)
    assert tap("embed", None, value).tolist() == [2, 2]
    tap("resid_pre", 0, value)
    assert dict(watch.seconds) == {("embed", None): 1.0, ("resid_pre", 0): 0.25}


def test_passes_of_a_long_prompt_add_up_and_the_time_between_them_is_nobodys(clock):
    clock(0.0, 1.0, 1.0, 50.0, 52.0, 52.0)
    watch = Stopwatch()
    for _ in range(2):
        watch.tap(lambda op, layer, value: value)("embed", None, None)
    assert dict(watch.seconds) == {("embed", None): 3.0}


def test_a_trace_has_a_time_for_every_op_of_the_pass_and_keeps_it(tiny_name):
    spec = RunSpec(tiny_name, ids=(3, 5, 3))
    TRACES.clear()
    trace = run(spec)
    blocks = enumerate(trace.catalogue.blocks)
    ops = [(op, None) for op in trace.catalogue.before]
    ops += itertools.chain.from_iterable([(op, n) for op in block] for n, block in blocks)
    assert list(trace.timings) == ops  # in the order of the pass
    assert all(seconds >= 0 for seconds in trace.timings.values())
    assert 0 < sum(trace.timings.values()) < trace.seconds
    with pytest.raises(TypeError):
        trace.timings["embed", None] = 0.0
    again = run(RunSpec(tiny_name, ids=(3, 5, 3), temperature=1.0))
    assert again.timings is trace.timings


def test_the_times_count_to_what_a_trace_holds(tiny_name):
    """A short run of a deep model holds hardly more numbers than times."""
    trace = run(RunSpec(tiny_name, ids=(3,)))
    times = dict(trace.timings)
    held = sys.getsizeof(times) + sum(sum(map(sys.getsizeof, each)) for each in times.items())
    counted = trace.nbytes - trace.stream.nbytes - trace.cache.nbytes
    assert held <= counted < 2 * held
