"""Lines through a few moments of time, evenly spaced: how numbers change from one to the next.

Knows arrays, display texts and translated labels; no model, no page. Lines differ by colour, by
dash and by the shape of their points, so that they are told apart without colour too.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from viz.figure import INK, by_rank, chart, legend, level, plain
from viz.theme import role

STYLES = (("solid", "circle"), ("dash", "square"), ("dot", "diamond"))  # of the first line, ...


@dataclass(frozen=True)
class Line:
    """values [moment]; details: what the hover says beside each value, [moment]."""

    name: str
    values: Sequence[float]
    role: str
    details: Sequence[str]


def curves(
    moments: Sequence[str],
    lines: Sequence[Line],
    *,
    title: str,
    moment_title: str,
    chosen: int,
    floor: tuple[float, str] | None = None,
    upper: float | None = None,
    ranks: bool = False,
    dark: bool = False,
) -> go.Figure:
    """Up to three lines over the moments, one of which is chosen and marked.

    floor: a value with its name, drawn as a level line. upper: the end of the axis; by default a
    little above the largest value. ranks: the values are ranks, 1 on top, on a logarithmic scale.
    """
    most = max(max(line.values) for line in lines)
    end = upper or 1.1 * most or 1.0
    upright = {"range": [0, end], "rangemode": "tozero", "zeroline": True}
    ticks = {"tickvals": np.arange(len(moments)), "ticktext": [plain(name) for name in moments]}
    across = {"range": [-0.4, len(moments) - 0.6], "showgrid": False, "zeroline": False}
    return chart(
        [_trace(line, n, dark) for n, line in enumerate(lines)],
        {**across, **ticks, "automargin": True},
        {**by_rank(most), "zeroline": False} if ranks else upright,
        (title, moment_title),
        height=270,
        dark=dark,
        shapes=[_here(chosen, dark), *([level(floor[0], dark)] if floor else ())],
        annotations=[_name(*floor, dark)] if floor else None,
        showlegend=len(lines) > 1,
        legend=legend(),
    )


def _trace(line, n, dark):
    colour = role(line.role, dark)
    dash, symbol = STYLES[n]
    return go.Scatter(
        x=np.arange(len(line.values)),
        y=np.asarray(line.values, float),
        name=plain(line.name),
        mode="lines+markers",
        line={"color": colour, "width": 2, "dash": dash},
        marker={"color": colour, "size": 9, "symbol": symbol},
        unselected={"marker": {"opacity": 1}},  # a click chooses a moment, not a point
        customdata=[plain(text) for text in line.details],
        hovertemplate="%{customdata}<extra></extra>",
    )


def _here(moment, dark):
    """A pale band behind the chosen moment."""
    band = {"line": {"width": 14, "color": INK[dark]}, "opacity": 0.13, "layer": "below"}
    return level(moment, dark, "y") | band


def _name(value, name, dark):
    """The name of a level line below it, where no curve comes."""
    return {
        "x": 0, "xref": "paper", "xanchor": "left", "y": value, "yanchor": "top",
        "text": plain(name), "showarrow": False, "font": {"color": INK[dark], "size": 12},
    }  # fmt: skip
