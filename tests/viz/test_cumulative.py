"""The line of a draw and the counts of many, as Plotly is given them."""

import numpy as np

from viz.cumulative import Part, cumulative, rolled
from viz.figure import BELOW_AXIS

PARTS = [
    Part(0.0, 0.5, "<b>$a$", "<b>: 0 … 0.5"),
    Part(0.5, 0.75, "b", "b", "drawn"),
    Part(0.75, 0.8, "c", "c", "chosen"),
    Part(0.8, 1.0, "9 others", "rest", "rest"),
]


def made(mark=0.6, dark=False):
    return cumulative(PARTS, mark=(mark, "u = <0.6"), title="p", dark=dark)


def test_pieces_lie_where_they_are_given_and_the_mark_among_them():
    (bars,) = made().data
    starts = np.array(bars.base, float)
    np.testing.assert_allclose(starts, [0, 0.5, 0.75, 0.8])
    np.testing.assert_allclose(starts + bars.x, [0.5, 0.75, 0.8, 1])
    (line,), (name,) = made().layout.shapes, made().layout.annotations
    assert line.x0 == line.x1 == name.x == 0.6
    assert tuple(made().layout.xaxis.range) == (0, 1)


def test_states_look_different_without_colour():
    marker = made().data[0].marker
    assert list(marker.pattern.shape) == ["", "", "", "/"]
    assert list(marker.line.width) == [0.6, 0.6, 2.5, 0.6]
    assert marker.color[1].endswith("1)") and len(set(marker.color)) == 3


def test_texts_are_no_mark_up_and_no_formula():
    figure = made()
    assert figure.data[0].text[0] == "&lt;b&gt;&#36;a&#36;"
    assert figure.data[0].customdata[0].startswith("&lt;b&gt;")
    assert figure.layout.annotations[0].text == "u = &lt;0.6"


def test_the_name_of_a_mark_at_an_end_stays_inside():
    anchors = [made(u).layout.annotations[0].xanchor for u in (0.0, 0.5, 0.99)]
    assert anchors == ["left", "center", "right"]


def test_counts_stand_beside_what_was_to_be_expected():
    figure = rolled(
        ["a", "b"], [7, 3], [6.0, 4.0], [1.5, 1.5], names=("came", "expected"), title="n", chosen=1
    )
    bars, marks = figure.data
    assert list(bars.x) == [7, 3] and list(marks.x) == [6, 4]
    assert list(marks.error_x.array) == [3, 3] and list(bars.marker.opacity) == [0.55, 1.0]
    assert figure.layout.xaxis.range[1] >= 9


def test_no_name_and_no_number_of_an_axis_is_cut_off():
    margin = made().layout.margin
    assert margin.b >= BELOW_AXIS and made().layout.height - margin.b - margin.t > 60
    how = {"names": ("came", "expected"), "title": "n"}
    assert rolled(["49,142 others"], [7], [6.0], [1.5], **how).layout.yaxis.automargin
