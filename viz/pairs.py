"""Probabilities of tokens in two runs, as a pair of bars each. Knows arrays, display texts and
translated labels; no model, no page.
"""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from viz.figure import INK, chart, legend, listed, plain
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
    traces = [
        _bars(values, texts, name, written, look, n)
        for values, name, written, look in zip((before, after), names, shown, looks, strict=True)
    ]
    labels = [f"▸ {each}" if i == chosen else each for i, each in enumerate(texts)]
    return chart(
        traces,
        {"range": [0, END], "tickformat": ".0%", "dtick": 0.25},
        {"range": [n - 0.45, -0.55], "automargin": True, **listed(labels)},
        ("", title),
        AROUND + ROW * n,
        dark,
        left=10,
        barmode="group",
        bargap=0.25,
        showlegend=True,
        legend=legend(y=1, font={"color": INK[dark]}),
    )


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
