"""A sum step by step: bars that each begin where the one before ended, and the whole sum at the
end.

Knows arrays, display texts and translated labels; no model, no page. What adds is drawn full, what
takes away pale; the second of a pair is hatched, so that colour is not needed to tell them apart.
"""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from viz.figure import INK, chart, plain
from viz.theme import rgb, role

PALE = 0.38  # opacity of what takes away
APART, WIDTH = 0.21, 0.4  # of the two bars of a pair, from their middle; of each
BEFORE, BEHIND = -1.6, 0.7  # where the first bar stands, and how far behind the pairs the sum does
MOST_TICKS = 20


def waterfall(
    so_far: np.ndarray,
    *,
    roles: tuple[str, str, str, str],
    names: Sequence[str],
    first: str,
    last: str,
    title: str,
    pair_title: str,
    chosen: int | None = None,
    dark: bool = False,
) -> go.Figure:
    """The sum after a first part, then after each of two parts per pair: so_far [1 + 2 * pair].

    roles: of the first part, of the two of a pair, of the sum. names: what the hover says of each
    bar, the sum included, [2 + 2 * pair]. first, last: what stands below the first bar and below
    the sum. chosen: the number of an outlined bar.
    """
    so_far = np.asarray(so_far, float)
    n_pairs = len(so_far) // 2
    starts = np.concatenate([[0.0], so_far[:-1], [0.0]])
    heights = np.concatenate([so_far, so_far[-1:]]) - starts
    bars = _bars(starts, heights, roles, dark)
    bars.update(customdata=[plain(name) for name in names], x=_places(n_pairs))
    bars.marker.line.width = [2.5 if i == chosen else 0 for i in range(len(heights))]
    ends = [BEFORE - 1.4, n_pairs + BEHIND + 1.4]
    across = {"showgrid": False, "zeroline": False, "range": ends, **_ticks(n_pairs, first, last)}
    traces = [_line(so_far, n_pairs, dark), bars]
    return chart(traces, across, {"zeroline": True}, (title, pair_title), 300, dark, bargap=0)


def _ticks(n_pairs, first, last):
    pairs = range(0, n_pairs, -(-n_pairs // MOST_TICKS))
    texts = [plain(first), *map(str, pairs), plain(last)]
    return {"tickvals": [BEFORE, *pairs, n_pairs + BEHIND], "ticktext": texts, "tickangle": 0}


def _places(n_pairs):
    """Where the bars stand: [2 + 2 * pair]."""
    pairs = (np.arange(n_pairs)[:, None] + [-APART, APART]).reshape(-1)
    return np.concatenate([[BEFORE], pairs, [n_pairs + BEHIND]])


def _bars(starts, heights, roles, dark):
    n_pairs = (len(heights) - 2) // 2
    kinds = [roles[0], *roles[1:3] * n_pairs, roles[3]]
    alphas = [PALE if height < 0 else 1 for height in heights[:-1]] + [1]
    colours = [
        f"rgba{(*rgb(role(kind, dark)), alpha)}" for kind, alpha in zip(kinds, alphas, strict=True)
    ]
    hatched = ["", *("", "/") * n_pairs, ""]
    pattern = {"shape": hatched, "fgcolor": "#ffffff" if not dark else "#0e1117"}
    return go.Bar(
        y=heights,
        base=starts,
        width=[0.8, *[WIDTH] * 2 * n_pairs, 0.8],
        marker={"color": colours, "line": {"color": INK[dark]}}
        | {"pattern": pattern | {"size": 4, "solidity": 0.25, "fillmode": "overlay"}},
        hovertemplate="%{customdata}<extra></extra>",
        selected={"marker": {"opacity": 1}},
        unselected={"marker": {"opacity": 1}},
    )


def _line(so_far, n_pairs, dark):
    """The sum so far as thin level lines, each from a bar to the next."""
    places = _places(n_pairs)
    gaps = np.full(len(so_far), np.nan)
    x = np.stack([places[:-1], places[1:], gaps], axis=1).reshape(-1)
    y = np.stack([so_far, so_far, gaps], axis=1).reshape(-1)
    line = {"color": INK[dark], "width": 1}
    return go.Scatter(x=x, y=y, mode="lines", line=line, hoverinfo="skip", opacity=0.5)
