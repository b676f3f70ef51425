"""The plot of a roofline: the roof is the smaller of both limits, points lie where they are said to
lie, and text is no mark-up.
"""

import pytest

from viz.roofline import Mark, roofline

RAN = Mark("<b>", 0.5, 3e8, False, "a<i>")
PLANNED = Mark("plan", 40.0, 4e9, True, "c")


@pytest.fixture(params=[False, True], ids=["light", "dark"])
def drawn(request):
    return roofline(
        [RAN, PLANNED],
        flops_per_second=4e9,
        bytes_per_second=2e9,
        titles=("y", "x"),
        limits=("memory", "arithmetic"),
        ridge="corner",
        dark=request.param,
    )


def test_the_roof_rises_to_the_ridge_and_is_level_behind_it(drawn):
    memory, arithmetic = drawn.data[:2]
    assert memory.x[1] == arithmetic.x[0] == 2.0 and memory.y[1] == 4e9
    assert [y / x for x, y in zip(memory.x, memory.y, strict=True)] == pytest.approx([2e9, 2e9])
    assert list(arithmetic.y) == [4e9, 4e9] and arithmetic.x[1] > 40
    assert memory.line.dash != arithmetic.line.dash


def test_points_lie_where_they_belong_and_calculated_ones_are_hollow(drawn):
    ran, planned = drawn.data[2:]
    assert (ran.x[0], ran.y[0], planned.x[0], planned.y[0]) == (0.5, 3e8, 40.0, 4e9)
    assert planned.marker.symbol.endswith("-open") and not ran.marker.symbol.endswith("-open")
    assert ran.name == "&lt;b&gt;" and ran.customdata[0] == "a&lt;i&gt;"


def test_both_axes_are_logarithmic_and_hold_all_points(drawn):
    for axis, values in ((drawn.layout.xaxis, (0.5, 40)), (drawn.layout.yaxis, (3e8, 4e9))):
        low, high = axis.range
        assert axis.type == "log" and 10**low < values[0] and 10**high > values[1]
