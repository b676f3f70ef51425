"""The roofline: FLOPs per second over FLOPs per byte, both logarithmic, with two limits as a roof
and passes as points.

Knows numbers, display texts and translated labels; no model, no page.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from viz.figure import INK, chart, legend, plain
from viz.theme import role

BEYOND = 2.5  # times the outermost points, where the axes end
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "triangle-down", "cross", "x", "star")


@dataclass(frozen=True)
class Mark:
    """A pass: FLOPs per byte and FLOPs per second. hollow: it did not run. hover: said of it."""

    name: str
    intensity: float
    rate: float
    hollow: bool
    hover: str


def roofline(
    marks: Sequence[Mark],
    *,
    flops_per_second: float,
    bytes_per_second: float,
    titles: tuple[str, str],
    limits: tuple[str, str],
    ridge: str,
    dark: bool = False,
) -> go.Figure:
    """The plot. titles: of the upright axis and of the other. limits: names of the sloping line
    (bytes) and of the level one (FLOPs); ridge: of the corner.
    """
    corner = flops_per_second / bytes_per_second
    across = [mark.intensity for mark in marks] + [corner]
    low, high = min(across) / BEYOND, max(across) * BEYOND
    x = np.array([low, corner, high])
    roof = np.minimum(flops_per_second, x * bytes_per_second)
    upright = [mark.rate for mark in marks] + [*roof]
    sides = [_side(x[:2], roof[:2], limits[0], "solid", dark)]
    sides.append(_side(x[1:], roof[1:], limits[1], "dash", dark))
    return chart(
        [*sides, *(_point(mark, n, dark) for n, mark in enumerate(marks))],
        _log(low, high) | {"tickformat": "~g"},
        _log(min(upright) / 2, flops_per_second * BEYOND) | {"tickformat": "~s"},  # M, G
        titles,
        height=500,
        dark=dark,
        showlegend=True,
        legend=legend(font={"size": 12}),
        annotations=[_corner(corner, flops_per_second, ridge, dark)],
    )


def _log(low, high):
    """A logarithmic axis from low to high, with ticks at 1, 2, 5, 10, ..."""
    return {"type": "log", "range": [float(np.log10(low)), float(np.log10(high))], "dtick": "D2"}


def _side(x, y, name, dash, dark):
    line = {"color": INK[dark], "width": 2, "dash": dash}
    return go.Scatter(x=x, y=y, mode="lines", name=plain(name), line=line, hoverinfo="skip")


def _point(mark, n, dark):
    colour = role("residual" if mark.hollow else "logits", dark)
    symbol = SYMBOLS[n % len(SYMBOLS)] + ("-open" if mark.hollow else "")
    return go.Scatter(
        x=[mark.intensity],
        y=[mark.rate],
        mode="markers",
        name=plain(mark.name),
        marker={"color": colour, "size": 12, "symbol": symbol, "line": {"width": 2}},
        customdata=[plain(mark.hover)],
        hovertemplate="%{customdata}<extra></extra>",
    )


def _corner(x, y, text, dark):
    return {
        "x": float(np.log10(x)), "y": float(np.log10(y)), "text": plain(text), "ax": 0, "ay": -22,
        "arrowcolor": INK[dark], "font": {"color": INK[dark], "size": 12},
    }  # fmt: skip
