"""One number of a matrix product taken apart: its products as a row, and the place in the weight
matrix that it comes from, at full size.

Reads a trace through the panels of a step; no figures, no sentences. Weight matrices are stored
[output, input], as the files have them: a number of the output is a row of the matrix times the
input row.
"""

from dataclasses import dataclass, replace

import numpy as np

from core.model.axes import OP_AXES

from .explain import Explanation
from .panel import Panel, follow, part_of, rows_around, strip
from .panel import strongest as shown_by
from .reader import Reader

ZOOM = (24, 48)  # rows and columns of a matrix that are shown at full size
MOST_INPUTS = 12_000  # numbers of the input that are shown for all positions: 48 kB


@dataclass(frozen=True)
class Product:
    """One number of a matrix product.

    Attributes:
        out: which row of the weight matrix makes it. term: the product that is pointed at.
        products: input × weight, number by number, as a strip; float32 of the float64 products.
        positive, negative: the sums of the products of each sign; n_positive, n_negative: how many.
        total: of all products. bias: what is added to it, or None. recorded: what the pass has.
        shape: of the matrix, (outputs, inputs).
    """

    out: int
    term: int
    products: Panel
    positive: float
    negative: float
    n_positive: int
    n_negative: int
    total: float
    bias: float | None
    recorded: float
    shape: tuple[int, int]


def product(trace, view, e: Explanation) -> Product:
    """The number that a step's view is around. e: the explanation of it."""
    (x,), (row, *_) = view.inputs, view.weights
    values, term = e.values, x.selected[1]
    shown = values.astype(np.float32)
    products = strip(f"{view.op}.products", "output", row.role, shown, ("", x.columns), 0, term)
    bias = e.steps[0].value if e.steps else None
    up, down = values[values > 0], values[values < 0]
    shape = Reader(trace, view.op, view.layer).weight().shape
    sums = (float(up.sum()), float(down.sum()), len(up), len(down), e.total)
    return Product(row.first_row, term, products, *sums, bias, e.recorded, shape)


def enlarged(trace, view, product: Product, corner=None) -> tuple[Panel, Panel] | None:
    """The weight matrix around the chosen number and term as it is, and the reduced picture with
    that part outlined; None where the matrix is shown whole. corner: the first row and column that
    were in sight before.
    """
    row, reduced = view.weights[:2]
    if reduced.block == (1, 1):
        return None
    matrix = Reader(trace, view.op, view.layer).weight()
    at = (product.out, product.term)
    sizes = zip(corner or (None, None), at, ZOOM, matrix.shape, strict=True)
    first = tuple(follow(*size) for size in sizes)
    part = part_of(row.name, "weight", row.role, matrix, (row.rows, row.columns), at, first, ZOOM)
    box = _in_blocks(first, part.values.shape, reduced.block)
    return part, reduced.boxed(box)


def _in_blocks(first, shape, block):
    """A part of a matrix in the cells of its reduced picture: all that it touches."""
    starts = [at // size for at, size in zip(first, block, strict=True)]
    ends = [-(-(at + n) // size) for at, n, size in zip(first, shape, block, strict=True)]
    return (*starts, *ends)


def strongest(trace, view, cell) -> tuple[int, int]:
    """(output, term) of the number that a cell of the reduced picture of the matrix shows."""
    return shown_by(Reader(trace, view.op, view.layer).weight(), view.weights[1].block, cell)


def input_rows(trace, view) -> Panel:
    """The input of all positions as rows, the last numbers of heads side by side; as many around
    the chosen one as a page has room for.
    """
    reader, (x,) = Reader(trace, view.op, view.layer), view.inputs
    rows = reader.read()
    rows, axes = rows.reshape(len(rows), -1), (x.rows, x.columns)
    at = (x.first_row, x.selected[1])
    panel = rows_around(x.name, "input", x.role, rows, axes, *at, most=MOST_INPUTS)
    return replace(panel, terms="columns")


def has_heads(op: str) -> bool:
    """Whether the output of a matrix product is cut into heads."""
    return OP_AXES[op][-1] == "head_dim"
