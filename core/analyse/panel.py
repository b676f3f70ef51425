"""Flat pieces of values and weights, small enough to draw. Knows arrays and axis names; no trace,
no figures.
"""

from dataclasses import dataclass, replace

import numpy as np

MOST_CELLS = 66_000  # 264 kB: of a long prompt only rows around the chosen one are shown
LARGEST_WHOLE = (256, 64)  # cells of a matrix that a page has room for, some pixels each
LARGEST_PICTURE = (48, 144)  # to so many cells a larger one is reduced, block by block
EDGE = 2  # neighbours of the chosen number that stay in sight


@dataclass(frozen=True)
class Mark:
    """A part of a whole matrix that is outlined.

    Attributes:
        kind: "used" for the numbers that make the chosen output, "head" or "kv_head" for the part
            of a head.
        number: which of its kind. across: True where it is made of columns. first, stop: which.
    """

    kind: str
    number: int
    across: bool
    first: int
    stop: int

    def turned(self) -> "Mark":
        """The same part of the matrix laid on its side."""
        return replace(self, across=not self.across)


@dataclass(frozen=True)
class Panel:
    """A two-dimensional piece of a value or of a weight.

    Attributes:
        name: op id, weight name or constant. role: its colour.
        part: "output", "input", "weight" or "constant".
        values: float32 [row, column]; NaN where there is nothing (a later key in a map of weights).
        rows, columns: axis names. first_row: what row 0 is. n_rows: how many there are in all.
        selected: (row, column) of the chosen cell in `values`, or None.
        limit: the magnitude of full colour. amount: True for shares between 0 and 1.
        row_scaled: True where only the chosen row sets the limit, and others may pass it.
        block: how many rows and columns one cell stands for (the largest in magnitude is shown).
        terms: "columns" or "rows" where these count the terms of the explained sum, else "". With
            marks, the other axis counts the numbers of the output.
        marks: what is outlined in a whole matrix.
        first_column: what column 0 is, in a part of a matrix.
        boxes: other parts that are outlined: (first row, first column, stop row, stop column).
    """

    name: str
    part: str
    role: str
    values: np.ndarray
    rows: str
    columns: str
    limit: float
    selected: tuple[int, int] | None = None
    first_row: int = 0
    n_rows: int = 0
    amount: bool = False
    row_scaled: bool = False
    block: tuple[int, int] = (1, 1)
    terms: str = ""
    marks: tuple[Mark, ...] = ()
    first_column: int = 0
    boxes: tuple[tuple[int, int, int, int], ...] = ()

    def scaled(self, limit: float) -> "Panel":
        """The same panel with another value at full colour."""
        return replace(self, limit=limit)

    def boxed(self, *boxes: tuple[int, int, int, int]) -> "Panel":
        """The same panel with these parts outlined."""
        return replace(self, boxes=boxes)


def strip(name, part, role, row, axes, at=0, selected=None, amount=False) -> Panel:
    """One row as a panel. at: what the row is on its axis; selected: the chosen column."""
    values = row.reshape(1, -1)
    limit = 1.0 if amount else magnitude(values)
    chosen = None if selected is None else (0, selected)
    return Panel(name, part, role, values, *axes, limit, chosen, at, 1, amount)


def rows_around(
    name, part, role, values, axes, row, column=None, amount=False, most=MOST_CELLS
) -> Panel:
    """All rows, or as many as fit around the chosen one, which sets the scale of a signed panel:
    one outlier row (often the first token) would bleach the others. most: how many cells fit.
    """
    first, stop = window(row, *values.shape, most)
    by_row = axes[1] != "key" and not amount
    limit = 1.0 if amount else magnitude(values[row] if by_row else values)
    chosen = None if column is None else (row - first, column)
    shown = values[first:stop]
    n_rows, by_row = len(values), by_row and len(values) > 1
    return Panel(name, part, role, shown, *axes, limit, chosen, first, n_rows, amount, by_row)


def fits(shape) -> bool:
    """Whether a matrix can be shown whole, each cell large enough to point at."""
    return all(n <= most for n, most in zip(_upright(shape), LARGEST_WHOLE, strict=True))


def picture(name, part, role, matrix, axes, cell, marks=()) -> Panel:
    """A matrix [output, input]: whole where it fits, else reduced to blocks."""
    draw = whole if fits(matrix.shape) else reduced
    return draw(name, part, role, matrix, axes, cell, marks)


def whole(name, part, role, matrix, axes, cell, marks=()) -> Panel:
    """Every cell of a matrix; a wide one is laid on its side, so that its cells are not slivers."""
    terms = "columns"
    if matrix.shape != _upright(matrix.shape):
        matrix, axes, cell, terms = matrix.T, axes[::-1], cell[::-1], "rows"
        marks = tuple(mark.turned() for mark in marks)
    panel = Panel(name, part, role, matrix, *axes, magnitude(matrix), cell, 0, len(matrix))
    return replace(panel, terms=terms, marks=tuple(marks))


def reduced(name, part, role, matrix, axes, cell, marks=()) -> Panel:
    """A matrix with each block of cells as one; the block with the cell is chosen."""
    block = tuple(-(-n // most) for n, most in zip(matrix.shape, LARGEST_PICTURE, strict=True))
    values = largest_of_blocks(matrix, block)
    chosen = (cell[0] // block[0], cell[1] // block[1])
    limit = magnitude(values)
    return Panel(name, part, role, values, *axes, limit, chosen, 0, len(values), block=block)


def part_of(name, part, role, matrix, axes, cell, corner, shape) -> Panel:
    """Some rows and columns of a matrix as they are, around the chosen cell. corner: the first of
    each; shape: how many of each.
    """
    (row, column), (rows, columns) = corner, shape
    values = matrix[row : row + rows, column : column + columns]
    chosen = (cell[0] - row, cell[1] - column)
    limit = magnitude(values)
    panel = Panel(name, part, role, values, *axes, limit, chosen, row, len(values))
    return replace(panel, first_column=column)


def follow(first: int | None, at: int, shown: int, n: int) -> int:
    """The first of `shown` numbers of n that are in sight, `at` among them. first: the one before:
    it stays, or moves as little as it must; None, or one too far away, puts `at` into the middle.
    """
    shown = min(shown, n)
    if first is None or not first <= at < first + shown:
        first = at - shown // 2
    edge = min(EDGE, (shown - 1) // 2)
    first = min(max(first, at + edge + 1 - shown), at - edge)
    return min(max(first, 0), n - shown)


def strongest(matrix, block, cell) -> tuple[int, int]:
    """Which number of a matrix a cell of its reduced picture shows: (row, column)."""
    (rows, columns), (row, column) = block, cell
    part = matrix[row * rows : (row + 1) * rows, column * columns : (column + 1) * columns]
    down, across = divmod(int(np.argmax(np.abs(part))), part.shape[1])
    return row * rows + down, column * columns + across


def _upright(shape):
    """The shape of a matrix as it is shown whole: a wide one stands."""
    rows, columns = shape
    return (columns, rows) if columns > max(rows, LARGEST_WHOLE[1]) else (rows, columns)


def window(row: int, n_rows: int, n_columns: int, most: int = MOST_CELLS) -> tuple[int, int]:
    """Which rows are shown of n_rows: all, or those around `row` that make up `most` cells."""
    n = min(n_rows, max(most // n_columns, 1))
    first = min(max(row - n // 2, 0), n_rows - n)
    return first, first + n


def magnitude(values) -> float:
    """The largest finite magnitude; 1 where there is none, so that a scale can be drawn."""
    sizes = np.abs(values[np.isfinite(values)])
    return float(sizes.max()) if sizes.size and sizes.max() > 0 else 1.0


def largest_of_blocks(matrix, block):
    """Every block by its number of largest magnitude, with its sign: [row', column']."""
    high, low = matrix, matrix
    for axis in (0, 1):
        edges = np.arange(0, matrix.shape[axis], block[axis])
        high = np.maximum.reduceat(high, edges, axis=axis)
        low = np.minimum.reduceat(low, edges, axis=axis)
    return np.where(high >= -low, high, low)
