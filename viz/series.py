"""Numbers of a text's tokens, one after the other: up to two lines over the tokens that were
written. Knows arrays, display texts and translated labels; no model, no page.
"""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from viz.curves import STYLES, Line
from viz.figure import INK, chart, legend, level, plain
from viz.theme import role

MARKED = 60  # tokens up to which each has a point


def series(
    lines: Sequence[Line],
    *,
    title: str,
    step_title: str,
    first: int = 1,
    chosen: int | None = None,
    span: tuple[float, float] | None = None,
    height: int = 190,
    dark: bool = False,
) -> go.Figure:
    """Lines over tokens; a line's values are [token], those of two lines need not be equally many.

    first: the number of the first token. chosen: the index of one, which is marked. span: the ends
    of the upright axis; by default from what the values are, with 0.
    """
    n = max(len(line.values) for line in lines)
    upright = {"range": span} if span else {"rangemode": "tozero"}
    across = {"range": [first - 0.5 - n * 0.01, first + n - 0.5 + n * 0.01], "zeroline": False}
    across |= {"showgrid": False} | ({"dtick": 1} if n <= 12 else {"nticks": 14, "tickformat": "d"})
    here = [] if chosen is None else [_here(first + chosen, n, dark)]
    return chart(
        [_trace(line, each, first, dark) for each, line in enumerate(lines)],
        across,
        upright,
        (title, step_title),
        height=height,
        dark=dark,
        shapes=here,
        showlegend=len(lines) > 1,
        legend=legend(),
    )


def _trace(line, number, first, dark):
    colour, (dash, symbol) = role(line.role, dark), STYLES[number]
    size = 7 if len(line.values) <= MARKED else 3
    return go.Scatter(
        x=np.arange(first, first + len(line.values)),
        y=np.asarray(line.values, float),
        name=plain(line.name),
        mode="lines+markers",
        line={"color": colour, "width": 1.6, "dash": dash},
        marker={"color": colour, "size": size, "symbol": symbol},
        unselected={"marker": {"opacity": 1}},  # a click chooses a token, not a point
        customdata=[plain(text) for text in line.details],
        hovertemplate="%{customdata}<extra></extra>",
    )


def _here(at, n, dark):
    """A pale band behind the chosen token."""
    width = 14 if n <= MARKED else 6
    band = {"line": {"width": width, "color": INK[dark]}, "opacity": 0.13, "layer": "below"}
    return level(at, dark, "y") | band
