"""Plotly figures: bars of candidates, the histogram of all logits, a rank through the layers.

Knows arrays, display texts and translated labels; no model, no page. Every axis is numeric with
texts as ticks, so that repeated tokens never merge, and every text is escaped, since Plotly reads
mark-up in them.
"""

import csv
import io
from collections.abc import Sequence
from html import escape

import numpy as np
import plotly.graph_objects as go

from viz.theme import BACKGROUND, role

INK = {False: "#334155", True: "#cbd5e1"}
CHOSEN, OTHER = 1.0, 0.55  # opacity of bars
ROOM = 0.18  # of the axis, for numbers beside bars
HEADROOM = 0.3  # of the axis, above the highest bar, for the texts of marks
BESIDE = 4  # bars on either side that such a text may reach over
SHORT, LONG = 18, 40  # pixels of their arrows
BESIDE_AXIS, BELOW_AXIS = 72, 52  # pixels for the numbers of an axis and its title
GRID = {False: "#e2e8f0", True: "#334155"}


def plain(text: str) -> str:
    """A text that Plotly shows as it is: mark-up escaped, and `$` kept from starting a formula."""
    return escape(text, quote=False).replace("$", "&#36;")


def saving(name: str) -> dict:
    """Plotly's settings for a figure whose only button saves it as a picture called `name`."""
    picture = {"format": "svg", "filename": name}
    return {
        "displaylogo": False,
        "modeBarButtons": [["toImage"]],
        "toImageButtonOptions": picture,
    }


def table(head: Sequence[str], rows: Sequence[Sequence]) -> str:
    """Rows as CSV text. A text that a spreadsheet would run as a formula gets an apostrophe."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(head)
    writer.writerows([[_harmless(cell) for cell in row] for row in rows])
    return out.getvalue()


def _harmless(cell):
    return "'" + cell if isinstance(cell, str) and cell[:1] in tuple("=+-@\t\r") else cell


def bars(
    texts: Sequence[str],
    values: np.ndarray,
    *,
    role_name: str,
    title: str,
    digits: str,
    chosen: int | None = None,
    dark: bool = False,
    upper: float | None = None,
    left: int | None = None,
) -> go.Figure:
    """Horizontal bars, the first on top: texts [n], values [n]; `chosen` is drawn full, the others
    lighter.

    digits: how values are written beside the bars, as d3 formats them. upper: the end of the axis.
    left: pixels for the texts, so that bars of two figures compare; by default what they take.
    """
    n, colour = len(texts), role(role_name, dark)
    opacity = [CHOSEN if chosen in (None, i) else OTHER for i in range(n)]
    drawn = go.Bar(
        x=np.asarray(values, float),
        y=np.arange(n),
        orientation="h",
        marker={"color": colour, "opacity": opacity},
        texttemplate=f"%{{x:{digits}}}",
        textposition="outside",
        cliponaxis=False,
        customdata=[plain(t) for t in texts],
        hovertemplate=f"%{{customdata}}: %{{x:{digits}}}<extra></extra>",
        selected=_clicked(CHOSEN, dark),
        unselected=_clicked(OTHER, dark),
    )
    low, high = min(0.0, float(np.min(values))), upper or max(0.0, float(np.max(values))) * 1.18
    room = ROOM * (high - low) if low < 0 else 0  # for the numbers left of negative bars
    beside = {"autorange": "reversed", "automargin": left is None} | listed(texts)
    across = {"range": [low - room, high or 1]}
    return chart(drawn, across, beside, ("", title), 60 + 24 * n, dark, left=left or 10)


def listed(texts: Sequence[str]) -> dict:
    """An upright axis with a text beside each bar [n]; lines through numbers help nobody there."""
    ticks = {"tickvals": np.arange(len(texts)), "ticktext": [plain(text) for text in texts]}
    return ticks | {"tickfont": {"family": "monospace"}, "showgrid": False, "zeroline": False}


def _clicked(opacity, dark):
    """How bars look after a click. Without a font for the texts beside them Plotly fails at it."""
    return {"marker": {"opacity": opacity}, "textfont": {"color": INK[dark]}}


def histogram(
    counts: np.ndarray,
    edges: np.ndarray,
    *,
    role_name: str,
    title: str,
    count_title: str,
    marks: Sequence[tuple[float, str]] = (),
    dark: bool = False,
) -> go.Figure:
    """Counts [bin] between edges [bin + 1], on a logarithmic scale; marks are (x, text), each
    above the bars with an arrow down to its x.
    """
    drawn = go.Bar(
        x=(edges[:-1] + edges[1:]) / 2,
        y=counts,
        width=np.diff(edges) * 0.92,
        marker={"color": role(role_name, dark)},
        customdata=np.stack([edges[:-1], edges[1:]], axis=1),
        hovertemplate="%{customdata[0]:.2f} … %{customdata[1]:.2f}: %{y:,}<extra></extra>",
    )
    top = float(np.log10(max(counts.max(), 2)))
    low, high = -0.3, top + (HEADROOM * (top + 0.3) if marks else 0.7)
    upright = {"type": "log", "range": [low, high], "tickvals": _decades(top), "tickformat": ",d"}
    notes = [_mark(mark, counts, edges, place, dark) for place, mark in enumerate(marks)]
    return chart(drawn, {}, upright, (count_title, title), 300, dark, annotations=notes)


def _mark(mark, counts, edges, place, dark):
    """A text above every bar that it may reach over, with an arrow down to its x. Texts beside each
    other stand at two heights.
    """
    x, text = mark
    bar = int(np.searchsorted(edges, x))
    highest = counts[max(bar - BESIDE - 1, 0) : bar + BESIDE].max(initial=1)
    return {
        "x": x,
        "y": float(np.log10(max(highest, 1))),
        "text": plain(text),
        "ax": 0,
        "ay": -LONG if place % 2 else -SHORT,
        "arrowcolor": INK[dark],
        "font": {"color": INK[dark], "family": "monospace"},
    }


def _decades(top):
    """1, 10, 100, ... on an axis that ends at 10^top, with 2 and 5 between them on a short one."""
    between = (1, 2, 5) if top < 1.5 else (1,)
    return [step * 10**power for power in range(int(top + 0.7) + 1) for step in between]


def ranks(
    values: np.ndarray,
    probs: np.ndarray,
    *,
    role_name: str,
    layer_title: str,
    rank_title: str,
    hover: str,
    dark: bool = False,
    height: int = 250,
) -> go.Figure:
    """A rank after each layer [layer], 1 on top, on a logarithmic scale.

    hover: a Plotly template, where %{x} is the layer, %{y} the rank and %{customdata} the
    probability.
    """
    colour = role(role_name, dark)
    drawn = go.Scatter(
        x=np.arange(len(values)),
        y=np.asarray(values),
        customdata=np.asarray(probs),
        mode="lines+markers",
        line={"color": colour, "width": 2},
        marker={"color": colour, "size": 6},
        hovertemplate=hover + "<extra></extra>",
    )
    # where layers are few, Plotly would put ticks between them
    across = {"dtick": 1 if len(values) < 10 else None}
    return chart(drawn, across, by_rank(values.max()), (rank_title, layer_title), height, dark)


def by_rank(last: int) -> dict:
    """An upright axis of ranks from 1, on top, to the last one that is shown."""
    lowest = float(np.log10(max(last, 10)))
    steps = 10 ** np.arange(0, int(np.ceil(lowest)) + 1)
    ticks = {"tickvals": steps, "ticktext": [f"#{step:,}" for step in steps]}
    return {"type": "log", "range": [lowest + 0.15, -0.25], **ticks}


def chart(
    traces,
    x: dict,
    y: dict,
    titles: tuple[str, str],
    height: int,
    dark: bool,
    *,
    left: int = 0,
    **layout,
) -> go.Figure:
    """Traces with what all figures share: transparent, one ink, no mode bar clutter, room for the
    labels. All at once, for every change of a figure takes Plotly longer than making it.

    x, y: what is particular about the axes; one with texts of any length says "automargin", for
    which Plotly draws once more. titles: of the upright axis and of the other. left: pixels beside
    the plot. layout: what else is particular.
    """
    left = left or (0 if y.get("automargin") else BESIDE_AXIS)
    below = 10 if x.get("automargin") else BELOW_AXIS
    shared = {
        "height": height,
        "margin": {"l": left, "r": 10, "t": 10, "b": below},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"color": INK[dark], "size": 13},
        "hoverlabel": {
            "bgcolor": BACKGROUND["dark" if dark else "light"],
            "font": {"color": INK[dark]},
        },
        "showlegend": False,
        "dragmode": False,
    }
    axes = {"xaxis": axis(x, titles[1], dark, size=12), "yaxis": axis(y, titles[0], dark)}
    return go.Figure(traces, shared | axes | layout)


def axis(own: dict, title: str, dark: bool, **font) -> dict:
    """An axis as all figures have it. own: what is particular about it. font: of its ticks."""
    lines = {"gridcolor": GRID[dark], "zerolinecolor": GRID[dark]}
    shared = {"color": INK[dark], "automargin": False, "fixedrange": True, **lines}
    ticks = {"color": INK[dark], **font, **own.get("tickfont", {})}
    named = {"text": plain(title), "font": {"color": INK[dark]}} if title else None
    return shared | own | {"tickfont": ticks, "title": named}


def legend(**own) -> dict:
    """A legend above the plot, whose entries a click does not hide."""
    above = {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"}
    return above | {"itemclick": False, "itemdoubleclick": False} | own


def level(at: float, dark: bool, across: str = "x") -> dict:
    """A dashed line through the whole plot: level at a y; with "y" upright at an x."""
    along = "y" if across == "x" else "x"
    ends = {f"{across}ref": f"{across} domain", f"{across}0": 0, f"{across}1": 1}
    place = {f"{along}ref": along, f"{along}0": at, f"{along}1": at}
    return (
        {"type": "line", "line": {"width": 1.5, "dash": "dash", "color": INK[dark]}} | ends | place
    )
