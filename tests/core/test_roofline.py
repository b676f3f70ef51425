"""The roofline: its arithmetic by hand, what measuring does, and where other ways would lie."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from core.analyse import roofline
from core.analyse.passcost import Cost, cost
from core.analyse.roofline import VARIANTS, Limits, Point, Variant, calculated, changed, measured
from core.analyse.withcache import Pass

# 4 GFLOP/s and 2 GB/s: they meet at 2 FLOPs per byte
LIMITS = Limits((9e9, 4e9, 2e9), (1e9, 2e9, 8e9), 1.0)


def test_limits_are_medians():
    assert (LIMITS.flops_per_second, LIMITS.bytes_per_second, LIMITS.ridge) == (4e9, 2e9, 2.0)
    assert [LIMITS.rate(x) for x in (0.5, 2, 100)] == [1e9, 4e9, 4e9]


@pytest.mark.parametrize(
    ("flops", "bound", "predicted"),
    [(1e9, "memory", 0.5), (2e9, "arithmetic", 0.5), (8e9, "arithmetic", 2.0)],
)
def test_a_point_by_hand(flops, bound, predicted):
    point = Point("decode", flops, 1e9, seconds=2 * predicted)
    assert point.intensity == flops / 1e9 and not point.calculated
    assert (point.bound(LIMITS), point.predicted(LIMITS)) == (bound, predicted)
    assert point.rate == flops / (2 * predicted) and point.reached(LIMITS) == 0.5
    assert point.rate / LIMITS.rate(point.intensity) == 0.5  # the same, read off the figure


def test_a_calculated_point_has_no_time():
    point = Point("bits_4", 8, 4)
    assert point.calculated and point.rate is None and point.reached(LIMITS) is None


def test_a_pass_that_ran_is_a_point(tiny):
    spent = cost(tiny, 1, 5)
    point = measured("decode", Pass(0.25, spent))
    assert (point.flops, point.n_bytes, point.seconds) == (spent.flops, spent.n_bytes, 0.25)
    assert point.intensity == spent.intensity and not point.calculated


def test_variants_by_hand():
    step = Cost(1000, 0, weight_bytes=400, row_bytes=8, read_bytes=40, written_bytes=20)

    def moved(**changes):
        point = changed("x", step, Variant(**changes))
        return point.flops, point.n_bytes, point.texts

    assert moved() == (1000, 468, 1)  # nothing changed: the step itself
    assert moved(texts=8) == (8000, 400 + 8 * 68, 8)
    assert moved(weight_bytes=2, cache_bytes=2) == (1000, 234, 1)
    assert moved(weight_bytes=1) == (1000, 100 + 2 + 60, 1)


def test_bits_are_those_of_the_formats():
    assert VARIANTS["bits_8"].weight_bytes == 1.0625 and VARIANTS["bits_4"].weight_bytes == 0.5625


def test_smollm_calculated(smollm):
    points = {point.name: point for point in calculated(smollm, 0)}
    assert list(points) == ["batch_8", "batch_64", "float16", "bits_8", "bits_4"]
    assert all(point.calculated for point in points.values())
    assert points["float16"].intensity == pytest.approx(1.00, abs=0.005)
    assert points["bits_8"].intensity == pytest.approx(1.88, abs=0.005)
    assert points["bits_4"].n_bytes == pytest.approx(134_515_008 * 0.5625, rel=0.002)
    assert points["batch_8"].intensity == pytest.approx(8 * 0.5, rel=0.01)
    assert points["batch_64"].intensity == pytest.approx(64 * 0.5, rel=0.02)


def test_a_batch_gains_less_as_texts_grow(tiny):
    """Each text reads keys and values of its own: at best the intensity of these alone."""
    step = replace(cost(tiny, 1, 1000), row_bytes=0)
    many = changed("x", step, Variant(texts=10**9))
    assert many.intensity == pytest.approx(step.flops / (step.read_bytes + step.written_bytes))
    assert many.intensity > changed("x", step, Variant(texts=8)).intensity > step.intensity


def test_rates_leave_the_first_call_out(monkeypatch):
    clock, took = [0.0], iter([1.0, 0.5, 0.25, 0.125, 0.125])

    def product(x, weight):
        clock[0] += next(took)

    monkeypatch.setattr(roofline, "time", SimpleNamespace(perf_counter=lambda: clock[0]))
    monkeypatch.setattr(roofline, "product", product)
    assert roofline._rates(None, None, 100) == (200, 400, 800)  # over the budget: the fewest


def test_rates_stop_at_the_budget_or_at_most(monkeypatch):
    clock, each = [0.0], [roofline.BUDGET / 8]

    def product(x, weight):
        clock[0] += each[0]

    monkeypatch.setattr(roofline, "time", SimpleNamespace(perf_counter=lambda: clock[0]))
    monkeypatch.setattr(roofline, "product", product)
    assert len(roofline._rates(None, None, 1)) == 7
    each[0] = roofline.BUDGET / 1e6
    assert len(roofline._rates(None, None, 1)) == roofline.MOST


def test_measuring_runs_the_products_of_a_pass(monkeypatch):
    calls = []

    def product(x, weight):
        calls.append((x.shape, weight.shape, weight.flags.f_contiguous, weight.dtype))
        return x @ weight.T

    monkeypatch.setattr(roofline, "product", product)
    monkeypatch.setattr(roofline, "BUDGET", 0)
    monkeypatch.setattr(roofline, "READ_BYTES", 1 << 23)
    limits = roofline.measure()
    f32 = np.dtype(np.float32)
    arithmetic = ((512, 1024), (2048, 1024), True, f32)
    assert calls == [arithmetic] * 4 + [((1, 1024), (2048, 1024), True, f32)] * 4
    assert len(limits.products) == len(limits.reads) == roofline.FEWEST
    assert limits.flops_per_second > 0 < limits.bytes_per_second and limits.seconds > 0
