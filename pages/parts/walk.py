"""Walking through a block: which op, which cell, and the bar that steps. Knows the session; holds
no maths.
"""

import streamlit as st

from core.analyse.view import column_axis
from core.record.catalogue import BLOCK_IDS
from pages import canvas
from pages.parts import session, words
from pages.parts.words import text


def current_op() -> str:
    """The op of the link or of the last step; the first where there is none of that name."""
    op = session.get("op")
    return op if op in BLOCK_IDS else BLOCK_IDS[0]


def column(op: str) -> int | None:
    """The chosen column, where one was chosen on an axis of the same kind; None lets the step
    choose.
    """
    axis = session.get("cell_axis")
    return session.get("cell") if axis in (None, column_axis(op)) else None


def chosen(key: str, op: str, panel):
    """A callback for a figure of the op's value: the chosen cell becomes position and column."""

    def on_cell():
        row, at = st.session_state[key]["cell"]
        session.put(pos=panel.first_row + row, cell=at, cell_axis=column_axis(op))

    return on_cell


def to_op(op: str) -> None:
    """Go to an op of the block."""
    session.put(op=op)


def bar(op: str, layer: int, n_layers: int) -> None:
    """Previous and next step, and the layer: by buttons and by arrow keys."""
    steps = [words.short(name) for name in BLOCK_IDS]
    labels = words.table(
        "stepper", "aria", "previous", "next", "layer_up", "layer_down", "count", "layer"
    )
    data = {
        "steps": steps,
        "step": BLOCK_IDS.index(op),
        "layer": layer,
        "n_layers": n_layers,
        "labels": labels,
    }
    canvas.stepper(data, key="walk", on_move=_moved)


def _moved():
    move = st.session_state["walk"]["move"]
    session.put(op=BLOCK_IDS[move["step"]])
    st.session_state["layer"] = move["layer"]


def roles(view, n_tokens: int) -> list[str | None]:
    """Which tokens the step is about: the one that looks, the one looked at."""
    marks: list[str | None] = [None] * n_tokens
    if view.output.columns == "key":
        marks[view.index[2]] = "key"
        marks[view.index[1]] = "query"
    return marks


def shortcuts() -> None:
    """What the keys do, for who wants to know."""
    st.caption(text("stepper.keys"))
