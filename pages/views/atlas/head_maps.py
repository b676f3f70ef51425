"""The maps of one head: which numbers, in which colours, and what is said of both.

Knows core's map of a head, viz and words; no maths.
"""

from functools import reduce

import streamlit as st

from core.analyse import headmap
from core.analyse.panel import magnitude, window
from pages import canvas
from pages.parts import html, lesson, panels, session, words
from pages.parts.words import text
from viz.matrix import matrix

HERE = "atlas.head"
KINDS = ("weights", "carried", "scores", "capped", "masked")
LARGEST = 512  # tokens up to which a map is shown whole, also two beside each other
HEIGHT = 520  # of all cells of a map, in CSS pixels


def show(trace, found: headmap.HeadMap, cell: tuple[int, int], kind: str, scale: str) -> None:
    """The map of a kind, with the weights beside it where it is of what is read. cell: the chosen
    query and key.
    """
    n, shown = len(trace.ids), ("weights", "carried") if kind == "carried" else (kind,)
    most = LARGEST * LARGEST // (1 if n <= LARGEST else len(shown))
    rows = window(cell[0], n, n, most)
    with st.container(key="head_maps", gap="xsmall"):
        boxes = st.columns(2, gap="medium") if len(shown) > 1 else [st.container(gap="xsmall")]
        for box, each in zip(boxes, shown, strict=True):
            with box:
                _one(trace, found, cell, rows, each, scale)


def _one(trace, found, cell, rows, kind, scale):
    """One map under its name, with a line on its numbers and one on its colours."""
    values = {"layer": found.layer, "head": found.head}
    words.heading(f"{HERE}.map_{kind}", **values)
    key, (first, stop) = f"head_map_{kind}", rows

    def on_cell():
        row, column = st.session_state[key]["cell"]
        session.put(pos=first + row, key_at=column)

    canvas.matrix(_payload(trace, found, cell, rows, kind, scale), key=key, on_cell=on_cell)
    said = reduce(lesson.joined, _said(trace, found, kind, scale))
    html.show(f'<p class="tw-caption">{said}</p>')
    if stop - first < len(trace.ids):
        values = {"n": f"{len(trace.ids):,}", "largest": LARGEST}
        words.caption(f"{HERE}.window", first=first, last=stop - 1, **values)


def _said(trace, found, kind, scale):
    """What the numbers are, and what the colours say, as HTML."""
    yield words.html(f"{HERE}.numbers_{kind}")
    if kind == "carried" and trace.config.norm_place != "before":
        yield words.html(f"{HERE}.before_norm")
    if kind == "weights":
        values = {"faintest": _faintest(), "n": found.n_empty}
        yield words.html(f"{HERE}.colours_{scale}", **values)
        rows = len(found.weights) - 1  # the first has one cell only
        if scale == "fixed" and 2 * found.n_faint > rows:
            values = {"n": found.n_faint, "rows": rows, "least": headmap.FAINT}
            yield words.html(f"{HERE}.faint", **values)
    else:
        yield words.html(f"{HERE}.colours_{'amount' if kind == 'carried' else 'signed'}")


def _faintest():
    return f"{headmap.FAINTEST:g}"


def _payload(trace, found, cell, rows, kind, scale):
    """A map as the canvas takes it: rows `first` to before `stop`."""
    first, stop = rows
    values, own = _values(found, kind), _colours(found, kind, scale)
    name = text(f"{HERE}.map_{kind}", layer=found.layer, head=found.head)
    aria = text("matrix.aria", name=name, rows=stop - first, columns=len(trace.ids))
    labels = _labels(aria, kind, scale) | own.pop("labels", {})
    if "row_limits" in own:
        own["row_limits"] = own["row_limits"][first:stop]
    return matrix(
        values[first:stop],
        rows=list(trace.tokens[first:stop]),
        columns=list(trace.tokens),
        row_title=text("axes.query"),
        column_title=text("axes.key"),
        selected=(cell[0] - first, cell[1]),
        first_row=first,
        labels=labels,
        name=f"{kind}_layer{found.layer}_head{found.head}",
        height=HEIGHT,
        square=stop - first == len(trace.ids),  # a few rows of many columns would be slivers
        **own,
    )


def _values(found, kind):
    """The numbers of a map: NaN for what is not seen, except where they are there all the same."""
    made = {"weights": found.weights, "carried": found.carried}
    return found.seen(made[kind]) if kind in made else getattr(found, kind)


def _colours(found, kind, scale):
    """How a map is coloured, as `matrix` takes it, with labels of its own."""
    if kind in ("scores", "capped", "masked"):  # one scale for before and after the mask
        before = found.scores if kind == "scores" or found.capped is None else found.capped
        return {"palette": "signed", "limit": magnitude(before), "packed": kind == "masked"}
    amount = {"palette": "amount", "packed": True}
    if kind == "carried":
        return amount
    amount["limit"] = 1.0
    if scale == "log":
        low = text(f"{HERE}.low_log", faintest=_faintest())
        return amount | {"low": headmap.FAINTEST, "labels": {"low": low}}
    if scale == "fixed":
        return amount
    labels = {"high": text(f"{HERE}.high_{scale}"), "share": text(f"{HERE}.share_{scale}")}
    amount |= {"row_limits": found.fullest(scale), "labels": labels}
    if scale == "rest":
        amount["left_out"] = 0
        labels["hatched"] = text(f"{HERE}.hatched")
    labels["left_out"] = text(f"{HERE}.left_out")
    return amount


def _labels(aria, kind, scale):
    """What a cell is called: tokens with their positions; with a scale of its own for each row, its
    share, too.
    """
    labels = panels.cell_labels(aria, "row", "column")
    if kind == "weights" and scale in ("row", "rest"):
        labels["tooltip"] += "\n{share}"
    return labels
