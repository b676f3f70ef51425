"""A matrix of numbers with names on its rows and columns, as a payload for the canvas component.

Knows arrays, display strings and translated labels. Knows no op, model or page, and draws nothing:
pages/canvas/matrix.js does.
"""

from collections.abc import Sequence

import numpy as np

from viz.payload import pack
from viz.theme import luts

MOST_CELLS = 400_000
LABELS = frozenset({"tooltip", "masked", "selected", "aria", "save_png", "save_csv"})


def matrix(
    values: np.ndarray,
    *,
    rows: Sequence[str],
    columns: Sequence[str] | None = None,
    row_title: str,
    column_title: str,
    palette: str,
    limit: float | None = None,
    low: float | None = None,
    selected: Sequence[int] | None = None,
    marks: Sequence[Sequence[int]] = (),
    causal: bool = False,
    window: int | None = None,
    row_limits: np.ndarray | None = None,
    left_out: int | None = None,
    packed: bool = False,
    labels: dict[str, str],
    name: str = "matrix",
    first_row: int = 0,
    first_column: int = 0,
    column_step: int = 1,
    lens: bool = True,
    saves: bool = True,
    exact: bool = True,
    height: float | None = None,
    indent: float | None = None,
    square: bool = True,
) -> bytes:
    """The payload of values [row, column], any float dtype that is exact in float32.

    rows, columns   display texts, which may repeat; columns=None shows plain indices
    *_title         what an axis is; say "row reads column" in the lesson
    palette         "signed" (-limit..limit) or "amount" (0..limit)
    limit           the value at full colour; by default the largest magnitude present
    low             with "amount": the value without colour, on a logarithmic scale; 0 by default,
                    on a plain one
    selected        the [row, column] to frame
    marks           parts to outline, the second and later ones dashed: [first row, first column,
                    stop row, stop column]
    causal          mask every key after its query (weights hold a plain 0 there); the last row sees
                    every column. NaN and -inf are masked in any case: drawn hatched, not coloured
    window          with causal: how many keys a query sees, its own included; older are masked too
    row_limits      [row]: the value at full colour of each row, where they have scales of their
                    own; with "amount". Only colours follow it, never the numbers
    left_out        with row_limits: a column that has no colour; its numbers are shown all the same
    packed          send no cell above the diagonal, where all are masked: half of a large map
    labels          the translated strings named in LABELS; "tooltip" and "selected" may use {row}
                    {column} {value} {row_index} {column_index} {row_title} {column_title}, and a
                    line break starts a new line. Besides there may be "low" and "high", the ends
                    of the scale where they are no numbers, and "hatched", where that means more
                    than masked; with row_limits "share", the value as {share} of its row's limit,
                    and "left_out", both for {share} in "tooltip"
    name            what saved files are called
    first_*         the number of row and column 0; column_step: how many numbers a column counts
    lens            enlarge the neighbours of the chosen cell where cells are narrow
    saves           offer the picture as a file, and where the cells are `exact`, numbers of the
                    model and no summary of several, the table, too
    height          the most CSS pixels that all cells together may take downwards
    indent          CSS pixels for the row names, so that figures below each other align
    square          named cells are no higher than wide; otherwise as high as `height` allows

    ValueError: not a matrix, more than MOST_CELLS, a count of names or row limits that does not
    fit, an index outside, a limit or size below zero, an unknown palette, a missing label; packed,
    and a number above the diagonal.
    """
    values = np.asarray(values, np.float32)
    _check(values, rows, columns, labels)
    if causal:
        values = _visible(values, window)
    corners = [
        cell
        for top, left, below, beside in marks
        for cell in ((top, left), (below - 1, beside - 1))
    ]
    _check_cells(values.shape, [*corners, *([selected] if selected is not None else [])])
    _check_layout(first_row, first_column, column_step, height, indent)
    limit = _limit(values, limit)
    if low is not None and not (palette == "amount" and 0 < low < limit):
        raise ValueError(f"low is {low}, wanted an amount above 0 and below {limit}")
    meta = {
        "rows": list(rows),
        "columns": None if columns is None else list(columns),
        "row_title": row_title,
        "column_title": column_title,
        "palette": palette,
        "limit": limit,
        "low": None if low is None else float(low),
        "selected": None if selected is None else [int(i) for i in selected],
        "marks": [[int(edge) for edge in mark] for mark in marks],
        "labels": labels,
        "name": name,
        "first_row": int(first_row),
        "first_column": int(first_column),
        "column_step": int(column_step),
        "lens": bool(lens),
        "saves": bool(saves),
        "exact": bool(exact),
        "height": None if height is None else float(height),
        "indent": None if indent is None else float(indent),
        "square": bool(square),
        "left_out": None if left_out is None else int(left_out),
        "packed": list(values.shape) if packed else None,
    }
    own = {} if row_limits is None else {"row_limits": _row_limits(values, row_limits, palette)}
    sent = _below(values, first_row) if packed else values
    return pack(meta, values=sent, **own, **luts(palette))


def _visible(values: np.ndarray, window: int | None) -> np.ndarray:
    """values [query, key], NaN where a key comes after its query or too long before it; the last
    query is the newest.
    """
    queries, keys = values.shape
    ago = np.subtract.outer(np.arange(keys - queries, keys), np.arange(keys))
    seen = (ago >= 0) & (ago < (keys if window is None else window))
    return np.where(seen, values, np.float32(np.nan))


def _below(values: np.ndarray, first_row: int) -> np.ndarray:
    """The cells of values [query, key] up to the diagonal, row after row: [cell]."""
    sent = np.tri(*values.shape, first_row, dtype=bool)
    if np.isfinite(values[~sent]).any():
        raise ValueError("packed, and there are numbers above the diagonal")
    return values[sent]


def _row_limits(values: np.ndarray, row_limits, palette: str) -> np.ndarray:
    """One limit per row, float32; 0 leaves a row without colour."""
    limits = np.asarray(row_limits, np.float32)
    if palette != "amount" or limits.shape != values.shape[:1] or not (limits >= 0).all():
        raise ValueError(f"row_limits {limits} do not fit {len(values)} rows of {palette!r}")
    return limits


def _limit(values: np.ndarray, limit: float | None) -> float:
    """The value at full colour. All zeros have no scale of their own: 1 stands in for it."""
    if limit is None:
        limit = np.abs(values, where=np.isfinite(values), out=np.zeros_like(values)).max()
    if not (np.isfinite(limit) and limit >= 0):
        raise ValueError(f"limit is {limit}, wanted a number that is not negative")
    return float(limit) or 1.0


def _check(values: np.ndarray, rows, columns, labels: dict) -> None:
    if values.ndim != 2 or values.size == 0:
        raise ValueError(f"values have shape {values.shape}, wanted [row, column], not empty")
    if values.size > MOST_CELLS:
        raise ValueError(f"values have {values.size} cells, wanted at most {MOST_CELLS}")
    for axis, names in enumerate((rows, columns)):
        if names is not None and len(names) != values.shape[axis]:
            raise ValueError(f"axis {axis} of shape {values.shape} has {len(names)} names")
    if missing := LABELS - labels.keys():
        raise ValueError(f"labels lack {sorted(missing)}")


def _check_cells(shape: tuple[int, int], cells) -> None:
    for row, column in cells:
        if not (0 <= row < shape[0] and 0 <= column < shape[1]):
            raise ValueError(f"cell {(row, column)} is outside shape {shape}")


def _check_layout(first_row, first_column, column_step, height, indent) -> None:
    least = {"first_row": (first_row, 0), "first_column": (first_column, 0)}
    least |= {"column_step": (column_step, 1), "height": (height, 1), "indent": (indent, 0)}
    for name, (value, smallest) in least.items():
        if value is not None and not value >= smallest:
            raise ValueError(f"{name} is {value}, wanted at least {smallest}")
