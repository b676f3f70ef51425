"""Charts as data: tokens stay apart and are no mark-up, scales and texts are what was given."""

import csv
import io

import numpy as np
import pytest

from viz import figure

HOSTILE = ["<b>", "the", "the", "$x$", "&lt;", "a<br>b"]


@pytest.fixture(params=[False, True], ids=["light", "dark"])
def dark(request):
    return request.param


def test_repeated_tokens_are_bars_of_their_own_and_mark_up_is_text(dark):
    drawn = figure.bars(
        HOSTILE, np.arange(6, 0, -1), role_name="logits", title="t", digits=".2f", dark=dark
    )
    axis = drawn.layout.yaxis
    assert list(axis.tickvals) == list(range(len(HOSTILE)))
    assert axis.ticktext[0] == "&lt;b&gt;"
    assert axis.ticktext[3] == "&#36;x&#36;"
    assert axis.ticktext[4] == "&amp;lt;"
    assert not any("<" in text for text in axis.ticktext)
    assert list(drawn.data[0].customdata) == list(axis.ticktext)


def test_no_line_runs_through_the_numbers_beside_the_bars(dark):
    axis = figure.bars(
        ["a"], [1], role_name="logits", title="", digits=".1f", dark=dark
    ).layout.yaxis
    assert axis.showgrid is False and axis.zeroline is False


def test_the_chosen_bar_is_full_and_the_others_are_lighter():
    drawn = figure.bars(["a", "b"], [1, 2], role_name="mlp", title="t", digits=".1f", chosen=1)
    assert list(drawn.data[0].marker.opacity) == [0.55, 1.0]


def test_negative_values_have_room():
    low, high = figure.bars(
        ["a"], [-3.0], role_name="mlp", title="", digits=".1f"
    ).layout.xaxis.range
    assert low < -3 and high > 0


def test_a_histogram_keeps_its_counts_and_escapes_its_mark(dark):
    counts, edges = np.array([1, 0, 5]), np.array([0.0, 1, 2, 3])
    drawn = figure.histogram(
        counts,
        edges,
        role_name="logits",
        title="x",
        count_title="n",
        marks=[(2.5, "<i>")],
        dark=dark,
    )
    assert drawn.data[0].y.tolist() == [1, 0, 5]
    assert drawn.data[0].x.tolist() == [0.5, 1.5, 2.5]
    assert drawn.layout.annotations[0].text == "&lt;i&gt;"
    assert drawn.layout.yaxis.type == "log"


def test_bars_of_two_figures_begin_at_the_same_place():
    names = {"role_name": "residual", "title": "x", "digits": ".1f"}
    short, long = (figure.bars([text], [1], left=120, **names).layout for text in ("a", "a" * 30))
    assert short.margin.l == long.margin.l == 120
    assert not short.yaxis.automargin and not long.yaxis.automargin
    assert figure.bars(["a"], [1], **names).layout.yaxis.automargin


COUNTS = np.array([1, 10, 1000, 100, 10, 5, 4, 3, 2, 1, 1, 1])


def marked(marks):
    names = {"role_name": "logits", "title": "x", "count_title": "n"}
    return figure.histogram(COUNTS, np.arange(13.0), marks=marks, **names).layout


def test_a_name_stands_above_every_bar_that_it_may_reach_over():
    ends = marked([(0.0, "a"), (2.5, "<b>$x$"), (12.0, "c")]).annotations
    assert [mark.x for mark in ends] == [0.0, 2.5, 12.0]
    assert [mark.y for mark in ends] == [3.0, 3.0, np.log10(3)]
    assert ends[1].text == "&lt;b&gt;&#36;x&#36;"


def test_names_beside_each_other_stand_at_two_heights_within_the_axis():
    layout = marked([(2.1, "a"), (2.2, "b")])
    a, b = layout.annotations
    assert a.ay != b.ay
    low, high = layout.yaxis.range
    assert (high - 3) / (high - low) * 240 > 50  # pixels above the highest bar


def test_a_clicked_bar_says_how_its_text_looks_and_the_others_stay_readable(dark):
    """Plotly fails at a click where the font of a chosen text is not given."""
    names = {"role_name": "residual", "title": "x", "digits": ".1f"}
    (trace,) = figure.bars(["a", "b"], [2, 1], dark=dark, **names).data
    ink = figure.INK[dark]
    assert trace.selected.textfont.color == trace.unselected.textfont.color == ink
    assert 0.5 < trace.unselected.marker.opacity < trace.selected.marker.opacity == 1


@pytest.mark.parametrize(
    "most, ticks",
    [
        (7, [1, 2, 5, 10, 20, 50]),
        (900, [1, 10, 100, 1000]),
        (9000, [1, 10, 100, 1000, 10000]),
    ],
)
def test_the_ticks_of_a_histogram_have_room(most, ticks):
    drawn = figure.histogram(
        np.array([1, most]), np.array([0.0, 1, 2]), role_name="logits", title="x", count_title="n"
    )
    assert list(drawn.layout.yaxis.tickvals) == ticks


@pytest.mark.parametrize("n_layers, step", [(2, 1), (6, 1), (30, None)])
def test_a_layer_is_a_whole_number(n_layers, step):
    ones = np.ones(n_layers)
    drawn = figure.ranks(
        ones, ones, role_name="mlp", layer_title="layer", rank_title="place", hover="%{y}"
    )
    assert drawn.layout.xaxis.dtick == step


def test_rank_one_is_on_top(dark):
    drawn = figure.ranks(
        np.array([5000, 30, 1]), np.array([0, 0.1, 0.9]), role_name="mlp",
        layer_title="layer", rank_title="place", hover="%{y}", dark=dark,
    )  # fmt: skip
    bottom, top = drawn.layout.yaxis.range
    assert bottom > np.log10(5000) and top < 0
    assert drawn.layout.yaxis.ticktext[0] == "#1"
    assert drawn.data[0].hovertemplate == "%{y}<extra></extra>"


def test_csv_reads_back_and_holds_no_formula():
    text = figure.table(("token", "p"), [("=1+1", 0.5), ('a,"b"', 0.25), ("-x", 1), ("\tx", 2)])
    rows = list(csv.reader(io.StringIO(text)))
    assert rows == [
        ["token", "p"],
        ["'=1+1", "0.5"],
        ['a,"b"', "0.25"],
        ["'-x", "1"],
        ["'\tx", "2"],
    ]


def test_an_unknown_role_is_refused():
    with pytest.raises(KeyError):
        figure.bars(["a"], [1], role_name="sky", title="", digits=".1f")
