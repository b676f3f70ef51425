"""Panels of a step as matrices on the page, with labels in the reader's language. Knows panels,
canvas and words.
"""

from core.analyse.view import Panel
from pages import canvas
from pages.parts import html, words
from pages.parts.words import text
from viz.matrix import matrix

LABELS = ("tooltip", "masked", "selected", "save_png", "save_csv")
TOKEN_AXES = ("seq", "query", "key")
INDENT = 92  # pixels for row names: the same everywhere, so that strips align column by column
# pixels in height: the cells of a figure, of a reduced weight matrix, of a picture on a card
TALLEST, PICTURE, THUMBNAIL = 460, 150, 250


def show(panel: Panel, tokens, key: str, on_cell=None) -> None:
    """One panel under its name: tokens as labels where an axis counts positions, plain numbers
    elsewhere.
    """
    html.show(_caption(panel))
    canvas.matrix(payload(panel, tokens), key=key, on_cell=on_cell)


def thumbnail(panel: Panel, tokens, key: str) -> None:
    """A panel as a small picture, without caption and lens."""
    canvas.matrix(payload(panel, tokens, lens=False, tallest=THUMBNAIL), key=key)


def payload(panel: Panel, tokens, lens: bool = True, tallest: int = 0) -> bytes:
    """The panel as the canvas takes it; a reduced picture has neither lens nor data to save."""
    whole = panel.block == (1, 1)
    return matrix(
        panel.values,
        rows=_names(panel.rows, panel.first_row, panel.values.shape[0], tokens, panel.block[0]),
        columns=_columns(panel, tokens),
        row_title=_axis(panel.rows),
        column_title=_axis(panel.columns),
        palette="amount" if panel.amount else "signed",
        limit=panel.limit,
        selected=panel.selected,
        labels=words.table("matrix", *LABELS) | {"aria": _aria(panel)},
        name=panel.name,
        first_row=panel.first_row,
        column_step=panel.block[1],
        lens=lens and whole,
        saves=whole,
        height=tallest or (TALLEST if whole else PICTURE),
        indent=INDENT,
    )


def _names(axis, first, n, tokens, block):
    """Labels of the rows: tokens, or the numbers they have in the value."""
    if axis in TOKEN_AXES:
        return list(tokens[first : first + n])
    return ["" if not axis else str(first + i * block) for i in range(n)]


def _columns(panel, tokens):
    if panel.columns in TOKEN_AXES:
        return list(tokens[: panel.values.shape[1]])
    return None


def _axis(name):
    return text(f"axes.{name}") if name else ""


def _aria(panel):
    rows, columns = panel.values.shape
    return text("matrix.aria", name=_title(panel), rows=rows, columns=columns)


def _title(panel):
    if panel.part == "weight":
        return text(f"weights.{panel.name}")
    return text(f"constants.{panel.name}") if panel.part == "constant" else words.short(panel.name)


def _caption(panel):
    """Part, name and what the reader should know of how it is drawn."""
    note = ""
    if panel.block != (1, 1):
        rows, columns = panel.block
        note = " · " + words.html("matrix.blocks", rows=rows, columns=columns)
    if panel.values.shape[0] < panel.n_rows:
        first, last = panel.first_row, panel.first_row + panel.values.shape[0] - 1
        note += " · " + words.html("matrix.window", first=first, last=last, n=f"{panel.n_rows:,}")
    if panel.row_scaled:
        note += " · " + words.html("matrix.row_scaled")
    name = f"<code>{panel.name}</code>"
    head = words.html("matrix.caption", part=words.text(f"parts.{panel.part}"), title=_title(panel))
    shown = f'<span class="{panel.role}">{head}</span> {name}<small>{note}</small>'
    return f'<p class="tw-panel-name">{shown}</p>'
