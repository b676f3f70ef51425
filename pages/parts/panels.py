"""Panels of a step as matrices on the page, with labels in the reader's language. Knows panels,
canvas and words.
"""

from core.analyse.view import Panel
from core.model.axes import TOKEN_AXES
from pages import canvas
from pages.parts import html, words
from pages.parts.words import text
from viz.matrix import matrix

LABELS = ("tooltip", "masked", "selected", "several", "save_png", "save_csv")
INDENT = 92  # pixels for row names: the same everywhere, so that strips align column by column
# pixels in height: the cells of a figure, of a reduced weight matrix, of a picture on a card
TALLEST, PICTURE, THUMBNAIL = 460, 150, 250
WHOLE, LOW, HIGH = 320, 5, 8  # of a whole matrix, and the least and the most of a cell of it


def show(panel: Panel, trace, key: str, on_cell=None, name: str = "", **drawn) -> None:
    """One panel under its name: tokens as labels where an axis counts positions, plain numbers
    elsewhere. name: another than that of its part. drawn: what `payload` takes.
    """
    html.show(_caption(panel, name))
    canvas.matrix(payload(panel, trace, name=name, **drawn), key=key, on_cell=on_cell)


def head_map(weights, names, *, aria: str, name: str, labels=None, **drawn) -> bytes:
    """The attention map of a head as the canvas takes it: weights [query, key], which have full
    colour at 1; later keys are masked.

    names: of rows and columns; aria: the figure in words; name: what its files are called. labels:
    beside those of every map, or in their place. drawn: what `matrix` takes, in the place of this.
    """
    given = {"palette": "amount", "limit": 1.0, "causal": True, "columns": names} | drawn
    return matrix(
        weights,
        rows=names,
        row_title=text("axes.query"),
        column_title=text("axes.key"),
        labels=cell_labels(aria) | (labels or {}),
        name=name,
        **given,
    )


def cell_labels(aria: str, *numbered: str, flat: bool = False) -> dict[str, str]:
    """What a figure of cells says. aria: the figure in words. numbered: of "row" and "column",
    those whose number stands behind the name, so that equal tokens can be told apart. flat: a cell
    is called by its column alone, that of a single row without a number.
    """
    labels = words.table("matrix", *LABELS)
    if flat:
        labels |= {key: text(f"matrix.{key}_column") for key in ("tooltip", "selected")}
    for place in numbered:
        named = f"{{{place}}}", f"{{{place}}} ({{{place}_index}})"
        labels = {key: label.replace(*named) for key, label in labels.items()}
    return labels | {"aria": aria}


def thumbnail(panel: Panel, trace, key: str) -> None:
    """A panel as a small picture, without caption and lens."""
    canvas.matrix(payload(panel, trace, lens=False, tallest=THUMBNAIL), key=key)


def payload(
    panel: Panel,
    trace,
    lens: bool = True,
    tallest: int = 0,
    name="",
    rows=None,
    masked="",
    saved="",
) -> bytes:
    """The panel as the canvas takes it; a reduced picture has no lens, and its cells are no numbers
    to save; a thumbnail of one is no picture to save. name: what it is called; rows: names of its
    rows; masked: what an empty cell is; saved: what its files are called.
    """
    whole = panel.block == (1, 1)
    n_rows, n_columns = panel.values.shape
    tall = max(LOW * n_rows, min(HIGH * n_rows, WHOLE)) if panel.marks else TALLEST
    return matrix(
        panel.values,
        rows=rows or _row_names(panel, trace),
        columns=list(trace.tokens[:n_columns]) if panel.columns in TOKEN_AXES else None,
        row_title=_axis(panel.rows),
        column_title=_axis(panel.columns),
        palette="amount" if panel.amount else "signed",
        limit=panel.limit,
        selected=panel.selected,
        marks=[*(_corners(mark, n_rows, n_columns) for mark in panel.marks), *panel.boxes],
        labels=_labels(panel, name) | ({"masked": masked} if masked else {}),
        name=saved or panel.name,
        first_row=panel.first_row,
        first_column=panel.first_column,
        column_step=panel.block[1],
        lens=lens and whole,
        saves=whole or lens,
        exact=whole,
        height=tallest or (tall if whole else PICTURE),
        indent=INDENT,
    )


def _row_names(panel, trace):
    """Labels of the rows: tokens, or the numbers they have in the value; both for a vocabulary."""
    first, n, step = panel.first_row, panel.values.shape[0], panel.block[0]
    if panel.rows in TOKEN_AXES:
        return list(trace.tokens[first : first + n])
    numbers = range(first, first + n * step, step)
    if panel.rows == "vocab":
        return [f"{i} {trace.model.tokenizer.display(i)}" for i in numbers]
    return [str(i) if panel.rows else "" for i in numbers]


def _labels(panel, name):
    """What a cell is called: a token with its position."""
    axes = {"row": panel.rows, "column": panel.columns}
    numbered = (place for place, axis in axes.items() if axis in TOKEN_AXES)
    return cell_labels(_aria(panel, name), *numbered, flat=not panel.rows)


def _corners(mark, n_rows, n_columns):
    """A mark as the canvas takes it: from the first row and column to the last."""
    if mark.across:
        return 0, mark.first, n_rows, mark.stop
    return mark.first, 0, mark.stop, n_columns


def _axis(name):
    return text(f"axes.{name}") if name else ""


def _aria(panel, name):
    rows, columns = panel.values.shape
    return text("matrix.aria", name=name or _title(panel), rows=rows, columns=columns)


def _title(panel):
    if panel.part == "weight":
        return text(f"weights.{panel.name}")
    return text(f"constants.{panel.name}") if panel.part == "constant" else words.short(panel.name)


def _caption(panel, own):
    """Part, name and what the reader should know of how it is drawn."""
    note = ""
    if panel.block != (1, 1):
        rows, columns = panel.block
        note = " · " + words.html("matrix.blocks", rows=rows, columns=columns)
    if panel.values.shape[0] < panel.n_rows:
        first, last = panel.first_row, panel.first_row + panel.values.shape[0] - 1
        note += " · " + words.html("matrix.window", first=first, last=last, n=f"{panel.n_rows:,}")
    for mark in panel.marks:
        key = f"matrix.{mark.kind}_{'columns' if mark.across else 'rows'}"
        values = {"number": mark.number, "first": mark.first, "last": mark.stop - 1}
        note += " · " + words.html(key, **values)
    if panel.row_scaled:
        note += " · " + words.html("matrix.row_scaled")
    name = "" if own else f"<code>{panel.name}</code>"
    part = words.text(f"parts.{panel.part}")
    head = (
        html.rich("[[own]]", own=own)
        if own
        else words.html("matrix.caption", part=part, title=_title(panel))
    )
    shown = f'<span class="{panel.role}">{head}</span> {name}<small>{note}</small>'
    return f'<p class="tw-panel-name">{shown}</p>'
