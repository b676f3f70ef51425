"""Walking through a block: which way, which op, which cell, and the bar that steps. Knows the
session; holds no maths.
"""

import streamlit as st

from core.analyse.view import column_axis
from pages import canvas
from pages.parts import inputs, session, words
from pages.parts.words import text

SHORT = ("attn.scores", "attn.masked", "attn.weights", "attn.mix", "resid_mid")  # for a class
LABELS = ("aria", "previous", "next", "named", "layer_up", "layer_down", "count", "layer")


def pick() -> str:
    """The chosen way through the block, as a switch: "full", "short" or "layers"."""
    way = session.get("walk") or session.WALKS[0]
    inputs.switch(
        session.WALKS,
        way,
        key="ways",
        label=text("block.ways"),
        name=lambda each: text(f"block.way_{each}"),
        pick=lambda picked: session.put(walk=picked),
    )
    return way


def steps(catalogue, layer: int, way: str) -> tuple[str, ...]:
    """The ids of the steps of a layer: what comes before the blocks belongs to the first."""
    block = catalogue.blocks[layer]
    if way == "short":
        return tuple(op for op in SHORT if op in block)
    return (*(catalogue.before if layer == 0 else ()), *block)


def current_op(steps: tuple[str, ...], usual: str) -> str:
    """The op of the link or of the last step; the usual one where these steps have none of that
    name: a layer may lack what the one before had.
    """
    if session.get("op") not in steps:
        session.settle(op=None)
    return session.get("op") or usual


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


def settle(view) -> None:
    """A cell that does not exist here leaves the link."""
    if session.get("cell") not in (None, view.index[-1]):
        session.settle(cell=None, cell_axis=None)


def bar(ops, op: str, layer: int = 0, n_layers: int = 0) -> None:
    """Previous and next step, and the layer where there are some: by buttons and by arrow keys."""

    def moved():
        move = st.session_state["walk"]["move"]
        session.put(op=ops[move["step"]])
        if n_layers:
            session.put(at_layer=move["layer"])

    steps, labels = [words.short(name) for name in ops], words.table("stepper", *LABELS)
    data = {"steps": steps, "step": ops.index(op), "layer": layer, "n_layers": n_layers}
    canvas.stepper({**data, "labels": labels}, key="walk", on_move=moved)


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
