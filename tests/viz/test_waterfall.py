"""A running sum: each bar from the sum before it to the sum after it, the whole sum last."""

import numpy as np
import pytest

from viz.theme import rgb, role
from viz.waterfall import PALE, waterfall

SO_FAR = np.array([1.0, 3.0, 2.5, -0.5, 4.0])
ROLES = ("residual", "attention", "mlp", "logits")
NAMES = ["a", "<b>", "c", "d", "e", "$f$"]


def draw(**more):
    settings = {"first": "in", "last": "out", "title": "y", "pair_title": "x"} | more
    figure = waterfall(SO_FAR, roles=ROLES, names=NAMES, **settings)
    return figure, figure.data[1]


def test_bars_go_from_sum_to_sum():
    _, bars = draw()
    assert list(bars.base) == [0, 1, 3, 2.5, -0.5, 0]
    ends = np.asarray(bars.base, float) + np.asarray(bars.y, float)
    np.testing.assert_allclose(ends, [*SO_FAR, SO_FAR[-1]])
    assert all(np.diff(bars.x) > 0) and list(bars.customdata)[1::4] == ["&lt;b&gt;", "&#36;f&#36;"]


@pytest.mark.parametrize("dark", [False, True])
def test_what_takes_away_is_pale_and_kinds_differ_without_colour(dark):
    _, bars = draw(dark=dark)
    kinds = ["residual", "attention", "mlp", "attention", "mlp", "logits"]
    alphas = [1, 1, PALE, PALE, 1, 1]
    assert list(bars.marker.color) == [
        f"rgba{(*rgb(role(kind, dark)), alpha)}" for kind, alpha in zip(kinds, alphas, strict=True)
    ]
    assert list(bars.marker.pattern.shape) == ["", "", "/", "", "/", ""]


def test_the_chosen_bar_is_outlined_and_ends_are_named():
    figure, bars = draw(chosen=3)
    assert [width > 0 for width in bars.marker.line.width] == [i == 3 for i in range(6)]
    assert list(figure.layout.xaxis.ticktext) == ["in", "0", "1", "out"]
    assert bars.x[0] == figure.layout.xaxis.tickvals[0]
