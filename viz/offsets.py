"""A score over the distance between two tokens, with the distance that is tried and the real one.

Knows arrays, display texts and translated labels; no model, no page.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from viz.figure import GRID, INK, chart, level, plain
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
    traces = [_curve(scores, hover, dark), _point(scores, tried, hover, dark)]
    traces += [_other(*other, hover, dark) for other in others]
    drawn = np.stack([scores, *(curve for _, curve in others)])
    low, high = float(drawn.min()), float(drawn.max())
    room = 0.16 * (high - low) or 1.0  # a flat line lies in the middle
    end = len(scores) - 1
    shapes, notes = _real(real, end, dark) if real else ((), ())
    if hidden and hidden[0] <= end:
        shapes = (_shade(hidden[0], end, dark), *shapes)
        notes = (_said(hidden[1], dark), *notes)
    return chart(
        traces,
        {"range": [-0.02 * end - 0.3, 1.02 * end + 0.3], "zeroline": False},
        {"range": [low - room, high + 1.6 * room]},
        (title, distance_title),
        height=280,
        dark=dark,
        shapes=shapes,
        annotations=(*notes, _name(tried, scores, dark)),
    )


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


def _name(tried, scores, dark):
    """What the tried distance is called: above its point and the curve beside it, before the
    dashed line, and inside the axes.
    """
    at, end = tried.distance, len(scores) - 1
    beside = int(np.ceil(BESIDE * end))
    side = "left" if at < beside else "right" if at > end - beside else "center"
    reach = {"left": (0, 2), "center": (1, 1), "right": (2, 0)}[side]
    near = scores[max(at - reach[0] * beside, 0) : at + reach[1] * beside + 1]
    return _note(tried.text, dark, 13) | {
        "x": at, "y": float(near.max()), "xanchor": side, "yanchor": "bottom", "yshift": 10,
        "bgcolor": BACKGROUND["dark" if dark else "light"], "opacity": 0.92,
    }  # fmt: skip


def _real(real, end, dark):
    """A dashed line at the real distance, and its name."""
    left = real.distance < end / 2
    name = _note(real.text, dark) | {
        "x": real.distance, "y": 0, "yref": "paper", "yanchor": "bottom",
        "xanchor": "left" if left else "right",
        "bgcolor": BACKGROUND["dark" if dark else "light"], "opacity": 0.92,
    }  # fmt: skip
    return (level(real.distance, dark, "y"),), (name,)


def _shade(first, end, dark):
    """A shade over the distances at which a key is not seen."""
    ends = {"x0": first - 0.5, "x1": 1.02 * end + 0.3, "y0": 0, "y1": 1, "yref": "y domain"}
    look = {"fillcolor": GRID[dark], "opacity": 0.6, "layer": "below", "line": {"width": 0}}
    return {"type": "rect", **ends, **look}


def _said(text, dark):
    """What stands in the shade."""
    corner = {"xref": "paper", "xanchor": "right", "yref": "paper", "yanchor": "top"}
    return _note(text, dark) | {"x": 1, "y": 1, **corner}


def _note(text, dark, size=12):
    return {"text": plain(text), "showarrow": False, "font": {"color": INK[dark], "size": size}}
