"""Ways to stretch a rotation, on the same axes: how long a turn of each pair takes, and how many
times slower it has become.

Knows arrays, display texts and translated labels; no model, no page. Lines differ by colour, dash
and the shape of their points.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from viz.figure import INK, plain, styled
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
    figure = make_subplots(2, 1, shared_xaxes=True, row_heights=[0.55, 0.45], vertical_spacing=0.06)
    for n, way in enumerate(ways):
        figure.add_trace(_trace(way, n, way.wavelengths, hovers[0], dark), 1, 1)
        below = _trace(way, n, way.slowed, hovers[1], dark)
        figure.add_trace(below.update(showlegend=False), 2, 1)
    for level in levels:
        _level(figure, *level, dark)
    n, most = len(ways[0].wavelengths), max(float(way.slowed.max()) for way in ways)
    figure.update_xaxes(range=[-0.4, n - 0.6], zeroline=False, dtick=1 if n < 10 else None)
    figure.update_xaxes(title=plain(titles[2]), row=2)
    figure.update_yaxes(title=plain(titles[0]), type="log", dtick=1, exponentformat="none", row=1)
    figure.update_yaxes(title=plain(titles[1]), range=[0.7, 1.08 * most], zeroline=False, row=2)
    figure.update_yaxes(separatethousands=True)
    return _with_legend(styled(figure, height=520, dark=dark))


def _with_legend(figure):
    above = {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0}
    fixed = {"itemclick": False, "itemdoubleclick": False, "font_size": 13}
    return figure.update_layout(showlegend=True, legend=above | fixed)


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


def _level(figure, length, text, dark):
    """A text length across the wavelengths, named above its line at the left, where most curves
    are far below; the name covers none, for a curve may pass behind it.
    """
    figure.add_hline(y=length, line_width=1.5, line_dash="dash", line_color=INK[dark], row=1, col=1)
    figure.add_annotation(
        x=0, xref="x domain", xanchor="left", y=float(np.log10(length)), yref="y",
        yanchor="bottom", text=plain(text), showarrow=False, font={"color": INK[dark], "size": 12},
    )  # fmt: skip
