"""Ways to stretch a rotation, on the same axes: how long a turn of each pair takes, and how many
times slower it has become.

Knows arrays, display texts and translated labels; no model, no page. Lines differ by colour, dash
and the shape of their points.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from viz.figure import INK, axis, chart, legend, level, plain
from viz.theme import role

# Of each line in turn, the first the one that the others are compared with. The colours of query,
# key and attention are left out: on the same page they say what a vector is.
STYLES = (
    (None, "solid", "circle"),
    ("logits", "dash", "square"),
    ("value", "dot", "diamond"),
    ("mlp", "solid", "triangle-up"),
    ("residual", "dashdot", "x"),
    ("attention", "solid", "star"),
)
SIZE = {"circle": 5}
UPPER, LOWER = (0.48, 1), (0, 0.42)  # where the two plots stand


@dataclass(frozen=True)
class Way:
    """wavelengths [pair], in tokens; slowed [pair], times."""

    name: str
    wavelengths: np.ndarray
    slowed: np.ndarray


def stretches(
    ways: Sequence[Way],
    *,
    levels: Sequence[tuple[float, str]],
    titles: tuple[str, str, str],
    hovers: tuple[str, str],
    dark: bool = False,
) -> go.Figure:
    """Wavelengths on a logarithmic scale above, slowing below, over the same pairs; at most six
    ways, the plain one first.

    levels: text lengths with their names, drawn across the wavelengths. titles: of the two upright
    axes, then of the pairs. hovers: Plotly templates, where %{x} is the pair and %{y} the value.
    """
    traces = [line for n, way in enumerate(ways) for line in _lines(way, n, hovers, dark)]
    n, most = len(ways[0].wavelengths), max(float(way.slowed.max()) for way in ways)
    across = {"range": [-0.4, n - 0.6], "zeroline": False, "dtick": 1 if n < 10 else None}
    shared = {"matches": "x2", "showticklabels": False, "anchor": "y"}
    lengths = {"type": "log", "dtick": 1, "exponentformat": "none", "domain": UPPER}
    slowed = {"range": [0.7, 1.08 * most], "zeroline": False, "domain": LOWER, "anchor": "x2"}
    return chart(
        traces,
        {**across, **shared},
        {**lengths, "separatethousands": True},
        (titles[0], ""),
        height=520,
        dark=dark,
        left=84,
        xaxis2=axis({**across, "anchor": "y2"}, titles[2], dark, size=12),
        yaxis2=axis({**slowed, "separatethousands": True}, titles[1], dark),
        shapes=[level(length, dark) for length, _ in levels],
        annotations=[_name(*each, dark) for each in levels],
        showlegend=True,
        legend=legend(font={"size": 13}),
    )


def _lines(way, n, hovers, dark):
    """One way in the upper plot and in the lower one."""
    above = _trace(way, n, way.wavelengths, hovers[0], dark).update(xaxis="x", yaxis="y")
    below = _trace(way, n, way.slowed, hovers[1], dark)
    return above, below.update(xaxis="x2", yaxis="y2", showlegend=False)


def _trace(way, n, values, hover, dark):
    name, dash, symbol = STYLES[n]
    colour = role(name, dark) if name else INK[dark]
    return go.Scatter(
        x=np.arange(len(values)),
        y=np.asarray(values, float),
        name=plain(way.name),
        mode="lines+markers",
        line={"color": colour, "width": 2, "dash": dash},
        marker={"color": colour, "size": SIZE.get(symbol, 7), "symbol": symbol},
        hovertemplate=f"{plain(way.name)}<br>{hover}<extra></extra>",
    )


def _name(length, text, dark):
    """The name of a text length above its line at the left, where most curves are far below; it
    covers none, for a curve may pass behind it.
    """
    return {
        "x": 0, "xref": "x domain", "xanchor": "left", "y": float(np.log10(length)), "yref": "y",
        "yanchor": "bottom", "text": plain(text), "showarrow": False,
        "font": {"color": INK[dark], "size": 12},
    }  # fmt: skip
