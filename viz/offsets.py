"""A score over the distance between two tokens, with the distance that is tried and the real one.

Knows arrays, display texts and translated labels; no model, no page.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from viz.figure import GRID, INK, plain, styled
from viz.theme import BACKGROUND, role

MANY = 80  # distances from which on only the line is drawn, and no dot for each
BESIDE = 0.13  # of the axis: as far as the name of a point reaches to either side


@dataclass(frozen=True)
class Mark:
    """A distance with its name: the point that is tried, or the real place."""

    distance: int
    text: str


def offsets(
    scores: np.ndarray,
    *,
    tried: Mark,
    real: Mark | None,
    title: str,
    distance_title: str,
    hover: str,
    hidden: tuple[int, str] | None = None,
    others: Sequence[tuple[str, np.ndarray]] = (),
    dark: bool = False,
) -> go.Figure:
    """scores [distance], from distance 0 on; the tried one is a large point on the line, the real
    one, where it is another, a dashed line.

    hover: a Plotly template, where %{x} is the distance and %{y} the score. hidden: the distance
    from which on a key is not seen, and what to say there. others: further curves with their
    names, drawn thin behind the first.
    """
    figure = go.Figure([_curve(scores, hover, dark), _point(scores, tried, hover, dark)])
    figure.add_traces([_other(*other, hover, dark) for other in others])
    drawn = np.stack([scores, *(curve for _, curve in others)])
    low, high = float(drawn.min()), float(drawn.max())
    room = 0.16 * (high - low) or 1.0  # a flat line lies in the middle
    figure.update_yaxes(title=plain(title), range=[low - room, high + 1.6 * room])
    end = len(scores) - 1
    figure.update_xaxes(title=plain(distance_title), range=[-0.02 * end - 0.3, 1.02 * end + 0.3])
    figure.update_xaxes(zeroline=False)
    if hidden and hidden[0] <= end:
        _hide(figure, *hidden, end, dark)
    if real:
        _line(figure, real, end, dark)
    _name(figure, tried, scores, dark)
    return styled(figure, height=280, dark=dark)


def _curve(scores, hover, dark):
    colour, few = role("attention", dark), len(scores) <= MANY
    return go.Scatter(
        x=np.arange(len(scores)),
        y=np.asarray(scores, float),
        mode="lines+markers" if few else "lines",
        line={"color": colour, "width": 1.5},
        marker={"color": colour, "size": 6},
        hovertemplate=hover + "<extra></extra>",
    )


def _other(name, scores, hover, dark):
    return go.Scatter(
        x=np.arange(len(scores)),
        y=np.asarray(scores, float),
        mode="lines",
        opacity=0.45,
        zorder=-1,
        line={"color": INK[dark], "width": 1},
        hovertemplate=f"{plain(name)}<br>{hover}<extra></extra>",
    )


def _point(scores, tried, hover, dark):
    """The tried distance on the curve."""
    return go.Scatter(
        x=[tried.distance],
        y=[float(scores[tried.distance])],
        mode="markers",
        cliponaxis=False,
        marker={
            "color": role("attention", dark),
            "size": 15,
            "line": {"color": BACKGROUND["dark" if dark else "light"], "width": 2},
        },
        hovertemplate=hover + "<extra></extra>",
    )


def _name(figure, tried, scores, dark):
    """What the tried distance is called: above its point and the curve beside it, before the
    dashed line, and inside the axes.
    """
    at, end = tried.distance, len(scores) - 1
    beside = int(np.ceil(BESIDE * end))
    side = "left" if at < beside else "right" if at > end - beside else "center"
    reach = {"left": (0, 2), "center": (1, 1), "right": (2, 0)}[side]
    near = scores[max(at - reach[0] * beside, 0) : at + reach[1] * beside + 1]
    figure.add_annotation(
        x=at, y=float(near.max()), xanchor=side, yanchor="bottom", yshift=10, showarrow=False,
        text=plain(tried.text), font={"color": INK[dark], "size": 13},
        bgcolor=BACKGROUND["dark" if dark else "light"], opacity=0.92,
    )  # fmt: skip


def _line(figure, real, end, dark):
    figure.add_vline(x=real.distance, line_width=1.5, line_dash="dash", line_color=INK[dark])
    left = real.distance < end / 2
    figure.add_annotation(
        x=real.distance, y=0, yref="paper", yanchor="bottom", text=plain(real.text),
        xanchor="left" if left else "right", showarrow=False, font={"color": INK[dark], "size": 12},
        bgcolor=BACKGROUND["dark" if dark else "light"], opacity=0.92,
    )  # fmt: skip


def _hide(figure, first, text, end, dark):
    """A shade over the distances at which a key is not seen."""
    figure.add_vrect(
        x0=first - 0.5, x1=1.02 * end + 0.3, fillcolor=GRID[dark], opacity=0.6, layer="below",
        line_width=0,
    )  # fmt: skip
    figure.add_annotation(
        x=1, xref="paper", xanchor="right", y=1, yref="paper", yanchor="top", text=plain(text),
        showarrow=False, font={"color": INK[dark], "size": 12},
    )  # fmt: skip
