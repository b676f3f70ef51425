"""A line on which tokens own pieces, with a mark where a number fell; and counts beside what was to
be expected. Knows arrays, display texts and translated labels; no model, no page.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from viz.figure import BELOW_AXIS, INK, chart, legend, level, listed, plain
from viz.theme import BACKGROUND, rgb, role

SHADES = (0.5, 0.28)  # opacity of neighbours, in turn
LEAST = 11  # pixels of a name: a piece that has no room for it stays without
TICKS = 7


@dataclass(frozen=True)
class Part:
    """A piece from start to stop. name: written in it where there is room. hover: what it says when
    pointed at. state: "drawn", "chosen", "rest" for several tokens as one, or "".
    """

    start: float
    stop: float
    name: str
    hover: str
    state: str = ""


def cumulative(
    parts: Sequence[Part], *, mark: tuple[float, str], title: str, dark: bool = False
) -> go.Figure:
    """Parts beside each other along the axis. mark: a number and its name, drawn as an upright line
    through them.
    """
    starts = np.array([part.start for part in parts])
    widths = np.array([part.stop for part in parts]) - starts
    drawn = go.Bar(
        base=starts,
        x=widths,
        y=np.zeros(len(parts)),
        width=0.8,
        orientation="h",
        marker=_marker(parts, dark),
        text=[plain(part.name) for part in parts],
        textposition="inside",
        insidetextanchor="middle",
        textangle=0,
        insidetextfont={"family": "monospace", "size": 14, "color": _inks(parts, dark)},
        customdata=[plain(part.hover) for part in parts],
        hovertemplate="%{customdata}<extra></extra>",
        selected={"marker": {"opacity": 1}},
        unselected={"marker": {"opacity": 1}},
    )
    ends = [float(starts[0]), float(parts[-1].stop)]
    across = {"range": ends, "zeroline": False, "showgrid": False, "nticks": TICKS}
    upright = {"range": [-0.62, 0.5], "visible": False}
    at = level(mark[0], dark, "y") | {"line": {"width": 2.5, "color": INK[dark]}}
    return chart(
        drawn,
        across,
        upright,
        ("", title),
        150,
        dark,
        shapes=[at],
        annotations=[_named(*mark, ends, dark)],
        uniformtext={"minsize": LEAST, "mode": "hide"},
        margin={"l": 12, "r": 12, "t": 26, "b": BELOW_AXIS},
    )


def _marker(parts, dark):
    """Neighbours in two shades, the drawn one full, the chosen one framed, the rest hatched."""
    colour = rgb(role("logits", dark))
    shades = [1 if p.state == "drawn" else SHADES[n % 2] for n, p in enumerate(parts)]
    frames = [2.5 if p.state == "chosen" else 0.6 for p in parts]
    ground = BACKGROUND["dark" if dark else "light"]
    lines = [INK[dark] if p.state == "chosen" else ground for p in parts]
    return {
        "color": [f"rgba{(*colour, shade)}" for shade in shades],
        "line": {"width": frames, "color": lines},
        "pattern": {
            "shape": ["/" if p.state == "rest" else "" for p in parts],
            "fgcolor": ground,
            "fillmode": "overlay",
            "size": 6,
            "solidity": 0.18,
        },
    }


def _inks(parts, dark):
    ground = BACKGROUND["dark" if dark else "light"]
    return [ground if part.state == "drawn" else INK[dark] for part in parts]


def _named(at, name, ends, dark):
    """The name of the mark above it, inside the figure also at its ends."""
    share = (at - ends[0]) / ((ends[1] - ends[0]) or 1)
    side = "left" if share < 0.2 else "right" if share > 0.8 else "center"
    return {
        "x": at, "xanchor": side, "y": 1.0, "yref": "paper", "yanchor": "bottom",
        "text": plain(name), "showarrow": False, "font": {"color": INK[dark], "size": 14},
    }  # fmt: skip


def rolled(
    texts: Sequence[str],
    counts: Sequence[int],
    expected: Sequence[float],
    spread: Sequence[float],
    *,
    names: tuple[str, str],
    title: str,
    chosen: int | None = None,
    dark: bool = False,
) -> go.Figure:
    """Counts [bin] as bars from the left, the first on top; what was to be expected as a mark with
    a whisker of two standard deviations (`spread`) on either side.

    names: of bars and marks in the legend. chosen: a bar that is drawn full.
    """
    n, places = len(texts), np.arange(len(texts))
    opacity = [1.0 if chosen in (None, i) else 0.55 for i in range(n)]
    bars = go.Bar(
        x=np.asarray(counts, float),
        y=places,
        orientation="h",
        name=plain(names[0]),
        marker={"color": role("logits", dark), "opacity": opacity},
        customdata=[plain(text) for text in texts],
        hovertemplate="%{customdata}: %{x:,}<extra></extra>",
        selected={"marker": {"opacity": 1}},
        unselected={"marker": {"opacity": 0.55}},
    )
    ink = {"color": INK[dark], "thickness": 1.5, "width": 4}
    marks = go.Scatter(
        x=np.asarray(expected, float),
        y=places,
        mode="markers",
        name=plain(names[1]),
        marker={"symbol": "line-ns", "size": 15, "line": {"width": 2.5, "color": INK[dark]}},
        error_x={"type": "data", "array": 2 * np.asarray(spread, float), **ink},
        hovertemplate="%{x:,.2f}<extra></extra>",
        unselected={"marker": {"opacity": 1}},
    )
    most = max(*map(float, counts), *(e + 2 * s for e, s in zip(expected, spread, strict=True)), 1)
    across = {"range": [0, 1.06 * most], "tickformat": ",d"}
    upright = {"autorange": "reversed", "automargin": True} | listed(texts)
    below = legend(traceorder="normal")
    return chart(
        [bars, marks],
        across,
        upright,
        ("", title),
        90 + 24 * n,
        dark,
        showlegend=True,
        legend=below,
    )
