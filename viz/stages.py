"""Probabilities before and after a stage of sampling, as one bar inside another. Knows arrays,
display texts and translated labels; no model, no page.
"""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from viz.figure import INK, chart, legend, listed, plain
from viz.theme import role

ROW, AROUND = 27, 92  # pixels in height of a bar, and of what stands above and below all of them
LOWEST = 64  # pixels of all bars: with less Plotly takes the room that the axis needs
END = 1.62  # of the longest bar: the axis, with room for the numbers beside it
THICK, THIN = 0.82, 0.46  # of a row
NONE = "rgba(0,0,0,0)"


def stages(
    texts: Sequence[str],
    before: np.ndarray,
    after: np.ndarray,
    cut: Sequence[bool],
    *,
    names: tuple[str, str],
    shown: Sequence[str],
    title: str,
    chosen: int | None = None,
    single: bool = False,
    dark: bool = False,
) -> go.Figure:
    """Horizontal bars, the first text on top: an outline for what was before, hatched where it is
    cut, and in it a full bar for what is after.

    texts, shown (what is written beside a bar), cut: [n]; before, after: probabilities [n]. names:
    of both in the legend. title: of the axis, which ends a little behind the longest bar. chosen:
    the number of the text that is marked. single: full bars alone, for what has nothing before it.
    """
    before, after, colour = (
        np.asarray(before, float),
        np.asarray(after, float),
        role("logits", dark),
    )
    hatch = {"shape": ["/" if each else "" for each in cut], "fgcolor": INK[dark], "size": 5}
    outline = {"color": NONE, "line": {"color": INK[dark], "width": 1}}
    outline |= {"pattern": hatch | {"bgcolor": NONE, "solidity": 0.25}}
    outer = [] if single else [_bars(before, texts, names[0], outline, THICK)]
    inner = _bars(after, texts, names[1], {"color": colour}, THIN)
    traces = [*outer, inner, _beside(np.maximum(before, after), shown, dark)]
    labels = [f"▸ {each}" if i == chosen else each for i, each in enumerate(texts)]
    high = float(max(before.max(), after.max())) or 1.0
    return chart(
        traces,
        {"range": [0, END * high], "tickformat": ".2~%", "tickvals": _ticks(high)},
        {"range": [len(texts) - 0.4, -0.6], "automargin": True, **listed(labels)},
        ("", title),
        AROUND + max(LOWEST, ROW * len(texts)),
        dark,
        left=10,
        barmode="overlay",
        showlegend=not single,
        legend=legend(y=1, font={"color": INK[dark]}),
    )


def _ticks(high):
    """0 and a few round shares up to the longest bar and a little more, never above 1."""
    power = 10.0 ** np.floor(np.log10(high))
    step = next(n * power for n in (0.2, 0.5, 1, 2) if high / (n * power) <= 5)
    return step * np.arange(int(min(1.2 * high, 1) / step + 1e-9) + 1)


def _bars(values, texts, name, marker, width):
    same = {"marker": {"opacity": 1}}  # a click on a bar fades no other
    return go.Bar(
        x=values,
        y=np.arange(len(texts)),
        width=width,
        orientation="h",
        name=plain(name),
        marker=marker,
        customdata=[plain(each) for each in texts],
        hovertemplate="%{customdata}: %{x:.6%}",
        selected=same,
        unselected=same,
    )


def _beside(ends, shown, dark):
    """The numbers, right of both bars."""
    font = {"size": 12, "color": INK[dark]}
    same = {"textfont": {"color": INK[dark]}}
    return go.Scatter(
        x=ends,
        y=np.arange(len(shown)),
        mode="text",
        text=[f" {plain(each)}" for each in shown],
        textposition="middle right",
        textfont=font,
        cliponaxis=False,
        hoverinfo="skip",
        showlegend=False,
        selected=same,
        unselected=same,
    )
