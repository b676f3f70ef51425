"""How often each whole number occurs, as upright bars. Knows arrays and translated labels; no
model, no page.
"""

import numpy as np
import plotly.graph_objects as go

from viz.figure import chart
from viz.theme import role


def tally(
    counts: np.ndarray,
    *,
    role_name: str,
    title: str,
    count_title: str,
    hover: str,
    dark: bool = False,
) -> go.Figure:
    """Counts [number] from 0 on, on a logarithmic scale; numbers that never occur have no bar.

    hover: a Plotly template, where %{x} is the number and %{y} how often it occurs.
    """
    numbers = np.flatnonzero(counts)
    drawn = go.Bar(
        x=numbers,
        y=np.asarray(counts)[numbers],
        width=0.85,
        marker={"color": role(role_name, dark)},
        hovertemplate=hover + "<extra></extra>",
    )
    top = float(np.log10(max(np.max(counts, initial=1), 2)))
    powers = {"type": "log", "range": [-0.3, top + 0.3], "dtick": 1, "tickformat": ",d"}  # of 10
    return chart(drawn, {"showgrid": False}, powers, (count_title, title), 220, dark)
