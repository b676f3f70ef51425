"""Bars at whole numbers: one for each that occurs, at its number, named in words that are given."""

import numpy as np
import pytest

from viz.tally import tally

LABELS = {"title": "$x$", "count_title": "<b>", "hover": "%{x}: %{y}"}


@pytest.mark.parametrize("dark", [False, True])
def test_a_bar_stands_at_each_number_that_occurs(dark):
    figure = tally(np.array([0, 5, 0, 100]), role_name="residual", dark=dark, **LABELS)
    (bars,) = figure.data
    assert bars.x.tolist() == [1, 3] and bars.y.tolist() == [5, 100]
    low, high = figure.layout.yaxis.range
    assert figure.layout.yaxis.type == "log" and low < 0 and high > np.log10(100)
    assert figure.layout.xaxis.title.text == "&#36;x&#36;"
    assert figure.layout.yaxis.title.text == "&lt;b&gt;"


def test_nothing_to_count_is_no_error():
    assert tally(np.array([0]), role_name="residual", **LABELS).data[0].x.tolist() == []
