"""Lines through a few moments of time, evenly spaced: how numbers change from one to the next.

Knows arrays, display texts and translated labels; no model, no page. Lines differ by colour, by
dash and by the shape of their points, so that they are told apart without colour too.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from viz.figure import INK, plain, styled
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
    figure = go.Figure([_trace(line, n, dark) for n, line in enumerate(lines)])
    figure.add_vline(x=chosen, line_width=14, line_color=INK[dark], opacity=0.13, layer="below")
    if floor:
        _level(figure, *floor, dark)
    most = max(max(line.values) for line in lines)
    end = upper or 1.1 * most or 1.0
    how = _by_rank(most) if ranks else {"range": [0, end], "rangemode": "tozero", "zeroline": True}
    figure.update_yaxes(title=plain(title), **how)
    ticks = {"tickvals": np.arange(len(moments)), "ticktext": [plain(name) for name in moments]}
    figure.update_xaxes(title=plain(moment_title), range=[-0.4, len(moments) - 0.6], **ticks)
    figure.update_xaxes(showgrid=False, zeroline=False)
    styled(figure, height=270, dark=dark)
    above = {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0}
    fixed = {"itemclick": False, "itemdoubleclick": False}
    return figure.update_layout(showlegend=len(lines) > 1, legend=above | fixed)


def _by_rank(last):
    """An axis of ranks from 1, on top, to the last one that is shown."""
    lowest = float(np.log10(max(last, 10)))
    steps = 10 ** np.arange(0, int(np.ceil(lowest)) + 1)
    names = [f"#{step:,}" for step in steps]
    ends = [lowest + 0.15, -0.25]
    return {"type": "log", "range": ends, "tickvals": steps, "ticktext": names, "zeroline": False}


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


def _level(figure, value, name, dark):
    """A thin level line with its name below it, where no curve comes."""
    figure.add_hline(y=value, line_width=1.5, line_dash="dash", line_color=INK[dark])
    figure.add_annotation(
        x=0, xref="paper", xanchor="left", y=value, yanchor="top", text=plain(name),
        showarrow=False, font={"color": INK[dark], "size": 12},
    )  # fmt: skip
