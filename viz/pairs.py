"""Probabilities of tokens in two runs, as a pair of bars each. Knows arrays, display texts and
translated labels; no model, no page.
"""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from viz.figure import INK, plain, styled
from viz.theme import role

ROW, AROUND = 38, 96  # pixels in height of a pair, and of what stands above and below all of them
END = 1.14  # of the axis: room for the number beside a bar of 1


def pairs(
    texts: Sequence[str],
    before: np.ndarray,
    after: np.ndarray,
    *,
    names: tuple[str, str],
    shown: tuple[Sequence[str], Sequence[str]],
    title: str,
    chosen: int | None = None,
    dark: bool = False,
) -> go.Figure:
    """Horizontal bars from 0 to 1, two below each other for each text, the first text on top.

    texts [n]; before, after: probabilities [n]. names: what both are called in the legend. shown:
    the probabilities as they are written beside the bars, [n] each. title: of the axis. chosen: the
    number of the text that is marked.
    """
    colour, n = role("logits", dark), len(texts)
    looks = ({"color": colour}, {"color": f"rgba{_clear(colour)}", "line": _line(colour)})
    figure = go.Figure(
        [
            _bars(values, texts, name, written, look, n)
            for values, name, written, look in zip(
                (before, after), names, shown, looks, strict=True
            )
        ]
    )
    labels = [f"▸ {plain(each)}" if i == chosen else plain(each) for i, each in enumerate(texts)]
    figure.update_yaxes(
        range=[n - 0.45, -0.55], tickfont_family="monospace", tickvals=np.arange(n), ticktext=labels
    )
    figure.update_xaxes(title=plain(title), range=[0, END], tickformat=".0%", dtick=0.25)
    figure.update_yaxes(showgrid=False, zeroline=False)
    styled(figure, height=AROUND + ROW * n, left=10, dark=dark)
    legend = {"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom", "font_color": INK[dark]}
    legend |= {"itemclick": False, "itemdoubleclick": False}
    return figure.update_layout(barmode="group", bargap=0.25, showlegend=True, legend=legend)


def _bars(values, texts, name, written, look, n):
    """One bar of each pair."""
    return go.Bar(
        x=np.asarray(values, float),
        y=np.arange(n),
        orientation="h",
        name=plain(name),
        marker=look,
        text=list(written),
        textposition="outside",
        constraintext="none",
        textfont={"size": 12},
        cliponaxis=False,
        customdata=[plain(each) for each in texts],
        hovertemplate="%{customdata}: %{x:.6%}",
    )


def _clear(colour):
    """A colour (#rrggbb) as one to see through: (red, green, blue, opacity)."""
    return (*(int(colour[at : at + 2], 16) for at in (1, 3, 5)), 0.22)


def _line(colour):
    return {"color": colour, "width": 1.5}
