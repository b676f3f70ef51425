"""Lines over moments: what was given is drawn, the chosen moment is marked, text is no mark-up."""

import pytest

from viz.curves import Line, curves


@pytest.fixture(params=[False, True], ids=["light", "dark"])
def dark(request):
    return request.param


def draw(*lines, dark=False, **more):
    settings = {"title": "y", "moment_title": "x", "chosen": 1} | more
    return curves(["0", "90", "<b>"], lines, dark=dark, **settings)


FALLING = Line("loss <i>", [4.0, 3.0, 2.0], "logits", ["a", "$b$", "<c>"])
RISING = Line("score", [0.1, 0.5, 0.9], "attention", ["d", "e", "f"])


def test_moments_are_evenly_spaced_and_named(dark):
    axis = draw(FALLING, dark=dark).layout.xaxis
    assert list(axis.tickvals) == [0, 1, 2]
    assert list(axis.ticktext) == ["0", "90", "&lt;b&gt;"]


def test_values_and_what_the_hover_says(dark):
    line = draw(FALLING, dark=dark).data[0]
    assert line.y.tolist() == [4.0, 3.0, 2.0] and line.x.tolist() == [0, 1, 2]
    assert list(line.customdata) == ["a", "&#36;b&#36;", "&lt;c&gt;"]
    assert line.name == "loss &lt;i&gt;"


def test_lines_differ_without_colour():
    first, second, third = draw(RISING, RISING, RISING).data
    assert len({line.line.dash for line in (first, second, third)}) == 3
    assert len({line.marker.symbol for line in (first, second, third)}) == 3


def test_the_chosen_moment_is_marked():
    (mark,) = draw(FALLING, chosen=2).layout.shapes
    assert (mark.x0, mark.x1) == (2, 2)


def test_a_floor_is_a_level_line_with_its_name(dark):
    drawn = draw(FALLING, dark=dark, floor=(1.5, "floor <b>"))
    level = [shape for shape in drawn.layout.shapes if shape.y0 == shape.y1 == 1.5]
    assert len(level) == 1
    (note,) = drawn.layout.annotations
    assert note.text == "floor &lt;b&gt;" and note.y == 1.5


def test_the_axis_holds_all_lines_and_begins_at_zero():
    low, high = draw(RISING, FALLING).layout.yaxis.range
    assert low == 0 and high > 4
    assert draw(RISING, upper=1.05).layout.yaxis.range == (0, 1.05)


def test_a_single_line_needs_no_legend():
    assert not draw(FALLING).layout.showlegend
    assert draw(FALLING, RISING).layout.showlegend
