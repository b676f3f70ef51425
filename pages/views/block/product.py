"""A matrix product: the input row, the row of the weights that meets it, their products; and where
in the matrix that row lies.

Knows the session and core's products; no maths.
"""

import streamlit as st

from core.analyse import products
from core.analyse.view import place_of_output
from pages.parts import html, run, session, terms, walk, words
from pages.parts.html import number
from pages.parts.words import text
from pages.views.block import whole

HERE = "block.product"
LOW = 9  # pixels of a row of the part at full size


def draw(step) -> None:
    """The value, and what makes it."""
    whole.output(step)
    draw_parts(step)


def draw_parts(step, above: str = "") -> None:
    """What a matrix product is made of: one number's products, or the input of all positions; and
    the matrix. above: HTML that belongs to the strips of one number, directly above the first.
    """
    made = run.compute(products.product, step.trace, step.view, step.explained)
    if step.together:
        _all_inputs(step, made)
    else:
        _one_number(step, made, above)
    _matrix(step, made)


def choose(step, out: int, term: int | None = None) -> None:
    """Make a number of the output the chosen one, and a term of its sum. out: its number among all
    outputs of the matrix.
    """
    head, column = place_of_output(step.config, step.id, out, step.head)
    session.put(at_head=head, cell=column, cell_axis=walk.column_axis(step.id))
    if term is not None:
        session.put(term=(step.id, term))


# ---- one number ----------------------------------------------------------------------------------


def _one_number(step, made, above):
    """Input, weights and products, column below column, and their sum."""
    (x,), (row, _, *bias) = step.view.inputs, step.view.weights
    words.heading(f"{HERE}.one", **_names(step, made))
    _shapes(step, made, 1)
    if above:
        html.show(above)
    whole.show_parts(step, (x, row))
    key = f"products_{step.id}"

    def on_cell():
        session.put(term=(step.id, session.get(key)["cell"][1]))

    how = {"name": text(f"{HERE}.products"), "on_cell": on_cell}
    name = step.file(made.products.name, f"cell{step.column}")
    whole.show(step, made.products, key=key, saved=name, **how)
    html.show(_sum(made))
    for n, panel in enumerate(bias):
        whole.show(step, panel, key=f"bias_{step.id}_{n}")


def _sum(made):
    """What the positive products add up to, what the negative ones, and what is left."""
    largest = max(abs(made.positive), abs(made.negative)) or 1.0
    lines = [
        (words.html(f"{HERE}.positive", n=f"{made.n_positive:,}"), made.positive),
        (words.html(f"{HERE}.negative", n=f"{made.n_negative:,}"), made.negative),
        (words.html(f"{HERE}.sum"), made.total),
    ]
    if made.bias is not None:
        lines.append((words.html(f"{HERE}.bias"), made.bias))
        lines.append((words.html(f"{HERE}.with_bias"), made.total + made.bias))
    rows = [
        [name, terms.bar(value, max(largest, abs(value))), f"<b>{number(value)}</b>"]
        for name, value in lines
    ]
    return html.table([], rows, "tw-tug")


def _names(step, made):
    """What the sentences name: the output's number, the matrix, its sizes."""
    n_out, n_in = made.shape
    row = step.view.weights[0]
    return {
        "weight": row.name,
        "out": made.out,
        "n_out": f"{n_out:,}",
        "n_in": f"{n_in:,}",
        "input": step.view.inputs[0].name,
        "output": step.id,
    }


def _shapes(step, made, n):
    """Which shapes are multiplied, for n positions."""
    heads = products.has_heads(step.id)
    key = f"{HERE}.shapes_heads" if heads else f"{HERE}.shapes"
    values = _names(step, made) | {"n": n}
    if heads:
        size = step.config.head_dim
        values |= {"n_heads": made.shape[0] // size, "head_dim": size}
    words.caption(key, **values)


# ---- all positions -------------------------------------------------------------------------------


def _all_inputs(step, made):
    """The input rows of all positions: each meets the same matrix."""
    n, key = len(step.trace.ids), f"inputs_{step.id}"
    words.heading(f"{HERE}.together", **_names(step, made))
    _shapes(step, made, n)
    panel = run.compute(products.input_rows, step.trace, step.view)

    def on_cell():
        row, term = session.get(key)["cell"]
        session.put(pos=panel.first_row + row, term=(step.id, term))

    whole.show(step, panel, key=key, on_cell=on_cell)


# ---- the matrix ----------------------------------------------------------------------------------


def _matrix(step, made):
    """The weights: where they are shown whole, beside the explanation; else behind a click."""
    values = _names(step, made)
    if step.view.weights[1].block == (1, 1):
        words.caption(f"{HERE}.whole", **values)
    elif (box := _fold()).open:
        with box:
            _around(step, made, values)


def _fold():
    """The box that hides the matrix: at the next product it is as it was left at this one."""
    key = "matrix_around"

    def on_change():
        session.settle(unfolded=session.get(key))

    st.session_state[key] = bool(session.get("unfolded"))
    return st.expander(text(f"{HERE}.around"), key=key, on_change=on_change)


def _around(step, made, values):
    """A part of the matrix as it is, and the whole in blocks."""
    corner = session.get("zoom") or (None, None)
    corner = corner[1] if corner[0] == step.id else None
    part, reduced = run.compute(products.enlarged, step.trace, step.view, made, corner)
    session.settle(zoom=(step.id, (part.first_row, part.first_column)))
    _part(step, part, values)
    _blocks(step, reduced, values)


def _part(step, part, values):
    """The numbers around the chosen one."""
    key = f"zoom_{step.id}"

    def on_cell():
        row, column = session.get(key)["cell"]
        choose(step, part.first_row + row, part.first_column + column)

    how = {"name": text(f"{HERE}.part"), "tallest": LOW * len(part.values)}
    how["saved"] = f"{step.saved(part)}_part"
    whole.show(step, part, key=key, on_cell=on_cell, **how)
    words.caption(f"{HERE}.part_caption", **values)


def _blocks(step, reduced, values):
    """The whole matrix in blocks; a click on one goes to the number that it shows."""
    key = f"reduced_{step.id}"

    def on_cell():
        cell = tuple(session.get(key)["cell"])
        choose(step, *products.strongest(step.trace, step.view, cell))

    whole.show(step, reduced, key=key, on_cell=on_cell)
    words.caption(f"{HERE}.blocks_caption", **values)
