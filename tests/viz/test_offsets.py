"""Figures of distance and longer texts: what was given is drawn, marked and named."""

import numpy as np
import pytest

from viz.offsets import MANY, Mark, offsets
from viz.stretches import STYLES, Way, stretches

SCORES = np.array([1.0, 3.0, -2.0, 0.5])
TRIED, REAL = Mark(2, "tried <i>"), Mark(1, "real $x$")
LABELS = {"title": "score <b>", "distance_title": "distance", "hover": "%{x}: %{y}"}


@pytest.fixture(params=[False, True], ids=["light", "dark"])
def dark(request):
    return request.param


def curve(scores=SCORES, tried=TRIED, real=REAL, **more):
    return offsets(scores, tried=tried, real=real, **LABELS, **more)


def test_every_distance_and_the_point_that_is_tried(dark):
    line, point = curve(dark=dark).data
    assert line.x.tolist() == [0, 1, 2, 3] and line.y.tolist() == SCORES.tolist()
    assert (point.x[0], point.y[0]) == (2, -2.0)


def test_both_distances_are_named_and_the_real_one_is_a_line(dark):
    drawn = curve(dark=dark)
    assert [(shape.x0, shape.x1) for shape in drawn.layout.shapes] == [(1, 1)]
    assert {(a.x, a.text) for a in drawn.layout.annotations} == {
        (1, "real &#36;x&#36;"),
        (2, "tried &lt;i&gt;"),
    }
    assert drawn.layout.yaxis.title.text == "score &lt;b&gt;"


def test_where_both_are_the_same_there_is_one_mark():
    drawn = curve(real=None)
    assert not drawn.layout.shapes and len(drawn.layout.annotations) == 1


def test_all_points_are_inside_the_axes():
    drawn = curve()
    low, high = drawn.layout.yaxis.range
    assert low < -2 and high > 3
    first, last = drawn.layout.xaxis.range
    assert first < 0 and last > 3


def test_a_flat_line_and_a_single_distance():
    drawn = curve(np.array([2.0, 2.0]), tried=Mark(1, "t"))
    low, high = drawn.layout.yaxis.range
    assert low < 2 < high
    assert curve(np.array([2.0]), tried=Mark(0, "t"), real=None).data[0].y.tolist() == [2]


@pytest.mark.parametrize("at", [0, 1, 12, 20, 38, 40])
def test_the_name_of_a_point_covers_no_part_of_the_curve(at):
    scores = np.sin(np.arange(41.0))
    (name,) = curve(scores, tried=Mark(at, "t"), real=None).layout.annotations
    low, high = {"left": (at, at + 10), "center": (at - 5, at + 5), "right": (at - 10, at)}[
        name.xanchor
    ]
    assert name.yanchor == "bottom" and 0 <= low and high <= 40
    assert name.y >= scores[low : high + 1].max()


def test_other_curves_lie_thin_behind_and_inside_the_axes(dark):
    drawn = curve(others=[("head <3>", SCORES * 4)], dark=dark)
    _, _, other = drawn.data
    assert other.y.tolist() == (SCORES * 4).tolist() and other.zorder < 0
    assert "head &lt;3&gt;" in other.hovertemplate
    low, high = drawn.layout.yaxis.range
    assert low < -8 and high > 12


def test_keys_outside_a_window_are_shaded_where_there_are_any():
    (shade,) = curve(hidden=(2, "hidden"), real=None).layout.shapes
    assert shade.x0 == 1.5 and shade.x1 > 3
    assert not curve(hidden=(4, "hidden"), real=None).layout.shapes


def test_many_distances_are_a_line_without_dots():
    assert curve(np.zeros(MANY)).data[0].mode == "lines+markers"
    assert curve(np.zeros(MANY + 1)).data[0].mode == "lines"


# --- ways to stretch


def ways(n=3):
    lengths = np.array([6.0, 60, 600])
    return [Way(f"way <{i}>", lengths * (i + 1), np.full(3, i + 1.0)) for i in range(n)]


def stretched(n=3, dark=False):
    return stretches(
        ways(n),
        levels=[(100, "first <b>"), (400, "longer")],
        titles=("tokens", "slower", "pair"),
        hovers=("%{y}", "%{y}"),
        dark=dark,
    )


def test_each_way_is_drawn_in_both_charts_and_named_once(dark):
    data = stretched(dark=dark).data
    assert [line.name for line in data if line.showlegend is not False] == [
        f"way &lt;{i}&gt;" for i in range(3)
    ]
    for i, way in enumerate(ways()):
        above, below = data[2 * i : 2 * i + 2]
        assert above.y.tolist() == way.wavelengths.tolist() and above.yaxis == "y"
        assert below.y.tolist() == way.slowed.tolist() and below.yaxis == "y2"
        assert above.x.tolist() == below.x.tolist() == [0, 1, 2]
        assert way.name.replace("<", "&lt;").replace(">", "&gt;") in above.hovertemplate


def test_lengths_are_level_lines_with_their_names():
    layout = stretched().layout
    assert layout.yaxis.type == "log" and layout.yaxis2.type != "log"
    assert [shape.y0 for shape in layout.shapes] == [100, 400]
    assert [(note.y, note.text) for note in layout.annotations] == [
        (2, "first &lt;b&gt;"),
        (pytest.approx(np.log10(400)), "longer"),
    ]


def test_six_ways_differ_without_colour(dark):
    lines = stretched(len(STYLES), dark).data[::2]
    assert len({line.marker.symbol for line in lines}) == len(STYLES)
    assert len({line.line.color for line in lines}) == len(STYLES)
