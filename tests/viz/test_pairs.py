"""Pairs of bars: the values, their order, and texts that Plotly must not read as mark-up."""

import numpy as np

from viz.pairs import pairs

SHOWN = ["50.0%", "25.0%", "0.0%"], ["10.0%", "60.0%", "99.996%"]


def test_both_values_of_each_text_stand_below_each_other():
    texts, before, after = ["␣a", "<b>x</b>", "$y$"], [0.5, 0.25, 0.0], [0.1, 0.6, 0.2]
    made = pairs(texts, before, after, names=("with", "without"), shown=SHOWN, title="p", chosen=1)
    first, second = made.data
    np.testing.assert_array_equal(first.x, before)
    np.testing.assert_array_equal(second.x, after)
    assert (list(first.text), list(second.text)) == SHOWN
    assert (first.name, second.name) == ("with", "without")
    assert list(first.y) == list(second.y) == [0, 1, 2]
    low, high = made.layout.yaxis.range
    assert low > high  # the first on top
    ticks = made.layout.yaxis.ticktext
    assert ticks[0] == "␣a" and ticks[1] == "▸ &lt;b&gt;x&lt;/b&gt;" and "$" not in ticks[2]
    assert made.layout.xaxis.range[0] == 0 and made.layout.xaxis.range[1] > 1


def test_the_two_can_be_told_apart_in_both_themes():
    for dark in (False, True):
        first, second = pairs(
            ["a"], [1], [0], names=("1", "2"), shown=("1", "0"), title="", dark=dark
        ).data
        assert first.marker.color != second.marker.color
        assert second.marker.line.color == first.marker.color
    assert pairs(["a"], [1], [0], names=("1", "2"), shown=("1", "0"), title="").layout.showlegend
