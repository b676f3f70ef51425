"""Points on a plane with their names: the scatter of a map of tokens.

Knows arrays, display texts and translated labels; no model, no page. One unit is as long across as
up, so that distances can be compared by eye. A name that finds no free place is left to the hover.
"""

import unicodedata
from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from viz.figure import INK, chart, plain
from viz.theme import role

HEIGHT = 520
ROOM = (410.0, 440.0)  # pixels of the plot that a narrow page (820 wide) has, too
NARROW, WIDE, LINE = 7.4, 13.0, 15.0  # pixels of a letter, of a Chinese one, and of a line
LONGEST = 18  # letters of a name that are written out
AWAY = 6.0  # pixels between the middle of a point and its name
PLACES = {  # where a name may lie: to the right (1) or left (-1) of its point, and above or below
    "top center": (0, 1),
    "bottom center": (0, -1),
    "middle right": (1, 0),
    "middle left": (-1, 0),
    "top right": (1, 1),
    "bottom left": (-1, -1),
    "top left": (-1, 1),
    "bottom right": (1, -1),
}


def scatter(
    points: np.ndarray,
    texts: Sequence[str],
    *,
    titles: tuple[str, str],
    role_name: str,
    chosen: int,
    dark: bool = False,
) -> go.Figure:
    """Points [token, axis] with their texts [token]; the chosen one is a larger diamond."""
    points, n = np.asarray(points, float), len(texts)
    spans = _spans(points)
    scale = min(room / span for room, span in zip(ROOM, spans, strict=True))
    names = [_short(text) for text in texts]
    places = _places(points * scale, [_width(name) for name in names])
    same = {"marker": {"opacity": 1}, "textfont": {"color": INK[dark]}}
    drawn = go.Scatter(
        x=points[:, 0],
        y=points[:, 1],
        mode="markers+text",
        text=[plain(name) if place else "" for name, place in zip(names, places, strict=True)],
        textposition=[place or "top center" for place in places],
        textfont={"family": "monospace", "size": 12, "color": INK[dark]},
        marker={
            "color": role(role_name, dark),
            "opacity": 1,  # with several sizes Plotly would make them pale
            "size": [13 if i == chosen else 8 for i in range(n)],
            "symbol": ["diamond" if i == chosen else "circle" for i in range(n)],
        },
        selected=same,  # a click explains a point: the others do not fade
        unselected=same,
        cliponaxis=False,
        customdata=[plain(text) for text in texts],
        hovertemplate="%{customdata}: %{x:.3f}, %{y:.3f}<extra></extra>",
    )
    ends = [
        [middle - span / 2, middle + span / 2]
        for middle, span in zip(_middles(points), spans, strict=True)
    ]
    across = {"range": ends[0], "showgrid": True}
    upright = {"range": ends[1], "showgrid": True, "scaleanchor": "x"}
    return chart(drawn, across, upright, titles[::-1], HEIGHT, dark)


def room(texts: Sequence[str]) -> int:
    """About how many pixels the longest of some texts takes beside an axis."""
    return int(max(map(_width, texts))) + 12


def _middles(points):
    return (points.min(axis=0) + points.max(axis=0)) / 2


def _spans(points):
    """How long the axes are: the points with some room around them, none of them a mere line."""
    wide = points.max(axis=0) - points.min(axis=0)
    return np.maximum(wide * 1.2, wide.max() * 0.25 or 1.0)


def _short(text):
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _width(text):
    """About how many pixels a name takes."""
    return sum(WIDE if unicodedata.east_asian_width(c) in "WF" else NARROW for c in text)


def _places(points, widths):
    """For each point the first place where its name meets no other name and no point; None where
    there is none. points: in pixels.
    """
    taken = [(*(point - AWAY), *(point + AWAY)) for point in points]
    places = []
    for n, (point, width) in enumerate(zip(points, widths, strict=True)):
        others = taken[:n] + taken[n + 1 :]
        boxes = {place: _box(point, width, *side) for place, side in PLACES.items()}
        free = (p for p, box in boxes.items() if not any(_meet(box, other) for other in others))
        places.append(next(free, None))
        if places[-1]:
            taken.append(boxes[places[-1]])
    return places


def _box(point, width, across, up):
    """Left, bottom, right, top of a name beside its point."""
    x = point[0] + across * (AWAY + width / 2)
    y = point[1] + up * (AWAY + LINE / 2)
    return x - width / 2, y - LINE / 2, x + width / 2, y + LINE / 2


def _meet(a, b):
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
