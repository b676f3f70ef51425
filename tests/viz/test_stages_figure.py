"""Bars of a stage: what is cut is hatched and has no full bar, and no axis goes beyond 100%."""

import numpy as np
import pytest

from viz import stages


def drawn(before, after, cut, **how):
    named = {"names": ("before", "after"), "shown": ["x"] * len(cut), "title": "probability"}
    texts = [f"<b>{n}</b>" for n in range(len(cut))]
    return stages.stages(texts, before, after, cut, **named, **how)


@pytest.mark.parametrize("dark", [False, True])
def test_what_is_cut_is_hatched_and_empty(dark):
    figure = drawn([0.6, 0.4], [1.0, 0.0], [False, True], chosen=0, dark=dark)
    outline, full, beside = figure.data
    assert list(outline.marker.pattern.shape) == ["", "/"]
    assert list(outline.x) == [0.6, 0.4] and list(full.x) == [1, 0] and full.width < outline.width
    assert list(beside.x) == [1.0, 0.4]  # the numbers stand right of both
    assert list(figure.layout.yaxis.ticktext) == ["▸ &lt;b&gt;0&lt;/b&gt;", "&lt;b&gt;1&lt;/b&gt;"]
    assert figure.layout.showlegend and figure.layout.yaxis.automargin  # names of any length


def test_bars_alone_have_no_outline_and_no_legend():
    figure = drawn([0.6, 0.4], [0.6, 0.4], [False, False], single=True)
    assert len(figure.data) == 2 and not figure.layout.showlegend


@pytest.mark.parametrize("longest", [1.0, 0.999, 0.77, 0.5, 0.2, 0.11, 0.052, 3e-5, 1e-12])
def test_ticks_are_few_begin_at_zero_and_end_near_the_longest_bar(longest):
    figure = drawn([longest], [longest / 2], [False])
    ticks = np.asarray(figure.layout.xaxis.tickvals)
    assert ticks[0] == 0 and 3 <= len(ticks) <= 7
    assert longest * 0.5 < ticks[-1] <= min(1, 1.2 * longest) + 1e-12
    assert figure.layout.xaxis.range[1] > 1.5 * longest  # room for the numbers
