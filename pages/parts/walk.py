"""Walking through a block: which way, which op, which cell, and the bar that steps. Knows the
session; holds no maths.
"""

import streamlit as st

from core.analyse.view import column_axis
from pages import canvas
from pages.parts import inputs, journey, session, words
from pages.parts.words import text

SHORT = ("attn.scores", "attn.masked", "attn.weights", "attn.mix", "resid_mid")  # for a class
LABELS = ("aria", "previous", "next", "named", "layer_up", "layer_down", "to_layer")
LABELS += ("count", "layer", "keys", "play", "stop", "pace", "seconds")
KEYS = {"steps": "← →", "layers": "⇧ ↑ ↓", "figure": "← ↑ → ↓", "diagram": "⏎", "list": "?"}
PACES = (1, 2, 4)  # seconds per step while the walk plays


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


def alone(block) -> bool:
    """Whether the walk is in the half of a block in which each token is by itself."""
    op, full = session.get("op"), session.get("walk") in (None, "full")
    return full and op in block and (op.startswith("mlp") or op == "resid_post")


def beside(key: str):
    """A row for a text and a switch at its end; below each other where there is no room."""
    ends = {"horizontal_alignment": "distribute", "vertical_alignment": "center"}
    return st.container(horizontal=True, key=key, gap="small", **ends)


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


def to_op(op: str, way: str) -> None:
    """Go to an op of the block; one that the short walk leaves out is a step of the whole walk."""
    session.put(op=op, walk=session.WALKS[0] if way == "short" and op not in SHORT else way)


def to_page(name: str, **place) -> None:
    """Go to another page, as soon as this one runs again: `leave` goes. For callbacks."""
    session.put(door={"name": name, **place})


def leave() -> None:
    """Go to the page that the last step led to, if it led to another one."""
    if door := session.get("door"):
        session.settle(door=None)
        journey.go(**door)


def settle(view) -> None:
    """A cell that does not exist here leaves the link."""
    if session.get("cell") not in (None, view.index[-1]):
        session.settle(cell=None, cell_axis=None)


def bar(data: dict, key: str, on_move, **labels: str) -> None:
    """The bar that steps, by buttons and by arrow keys, with the list of all keys. data: as
    `canvas.stepper` takes it, without words; labels: other words than the usual ones.
    """
    has = {"layers": data["n_layers"], "diagram": "play" in data}
    told = [name for name in KEYS if has.get(name, True)]
    keys = [[KEYS[name].split(), text(f"stepper.key_{name}")] for name in told]
    said = words.table("stepper", *LABELS) | labels
    canvas.stepper(data | {"keys": keys, "labels": said}, key=key, on_move=on_move)


def block_bar(catalogue, layer: int, op: str, way: str) -> None:
    """Through the ops of the block and on to the next layer, then to the next page; the short walk
    stays in its layer.
    """
    lists = [steps(catalogue, n, way) for n in range(len(catalogue.blocks))]
    data = {"layer": layer, "n_layers": len(lists), "step": lists[layer].index(op), "play": PACES}
    data |= {"names": {id: words.short(id) for id in (*catalogue.before, *set().union(*lists))}}
    if way == "short":
        data |= {"steps": lists[layer]}
    else:
        several = list(dict.fromkeys(lists))
        data |= {"steps": several, "of": [several.index(each) for each in lists]}
        data |= {"before": text("pages.embedding"), "beyond": words.short([*catalogue.after][0])}
    bar(data, "stepper", lambda: _moved(catalogue))


def _moved(catalogue):
    move = st.session_state["stepper"]["move"]
    if move["op"] is not None:
        session.put(op=move["op"], at_layer=move["layer"])
    elif move["step"] < 0:
        to_page("embedding")
    else:
        to_page("output", op=[*catalogue.after][0])


def output_bar(catalogue, op: str) -> None:
    """Through the ops behind the blocks; before them comes the last op of the last block,
    behind them the next page.
    """
    ops, last = [*catalogue.after], len(catalogue.blocks) - 1
    end = [*catalogue.blocks[last]][-1]

    def moved():
        move = st.session_state["stepper"]["move"]
        if move["step"] == len(ops):
            to_page(journey.after("output"))
        elif move["op"] is None:
            to_page("block", op=end, at_layer=last, together=session.kept("block", "together"))
        else:
            session.put(op=move["op"])

    data = {"steps": ops, "names": {id: words.short(id) for id in ops}, "step": ops.index(op)}
    data |= {"layer": 0, "n_layers": 0, "before": words.short(end)}
    data |= {"beyond": text(f"pages.{journey.after('output')}")}
    bar(data, "stepper", moved, aria=text("stepper.aria_output"))


def roles(view, n_tokens: int) -> list[str | None]:
    """Which tokens the step is about: the one that looks, the one looked at."""
    marks: list[str | None] = [None] * n_tokens
    if view.output.columns == "key":
        marks[view.index[2]] = "key"
        marks[view.index[1]] = "query"
    return marks
