"""The browser components: a payload of bytes in, the reader's choice out.

Knows streamlit and the .js and .css files beside it; knows no figure, model or sentence. Each
component is registered once, on import: its script is common.js followed by its own, which the
browser fetches from this server (see scripts.py).
"""

from pathlib import Path

import streamlit as st

from pages.canvas import scripts
from viz.payload import pack

HERE = Path(__file__).parent


def _register(name: str, *before: str, style: str = ""):
    """Mount function of a component: common.js, the scripts `before` it, <name>.js; and the .css of
    its name, or those of `style`, in this order.
    """
    files = style.split() or [f"{name}.css"]
    css = "\n".join((HERE / file).read_text("utf-8") for file in files)
    js = scripts.door(name, "common.js", *before, f"{name}.js")
    return st.components.v2.component(f"tokenwalk_{name}", css=css, js=js)


def _ignore() -> None:
    """For a page that wants no callback: Streamlit keeps no state value without one."""


DRAWN = ("figure.js", "saving.js")
PAINTED = ("matrix_place.js", "matrix_paint.js", "matrix_lens.js")

_matrix = _register("matrix", *DRAWN, *PAINTED, style="figure.css")
_atlas = _register("atlas", *DRAWN, style="figure.css")


def matrix(payload: bytes, key: str, on_cell=None) -> list | None:
    """Show a payload of viz.matrix; the chosen cell as [row, column], or None before a choice.

    `on_cell` is called before the page runs again, with the choice in
    st.session_state[key]["cell"].
    """
    return _matrix(data=payload, key=key, on_cell_change=on_cell or _ignore).cell


def atlas(payload: bytes, key: str, on_head=None, on_open=None) -> list | None:
    """Show a payload of viz.atlas; the chosen head as [layer, head], or None before a choice.

    `on_head` is called before the page runs again, with the choice in
    st.session_state[key]["head"]; `on_open`, with the head in ["open"], when one of a payload that
    `opens` was clicked.
    """
    chosen, opened = on_head or _ignore, on_open or _ignore
    return _atlas(data=payload, key=key, on_head_change=chosen, on_open_change=opened).head


# ---- token strip, flow diagram and stepper: below this line --------------------------------------

_tokens = _register("tokens", "chips.js")
_flow = _register("flow", "svg.js", "flow_place.js", "flow_picture.js")
_stepper = _register("stepper", "stepper_play.js")


def tokens(payload: bytes, key: str, on_position=None) -> int | None:
    """Show a payload of viz.tokens; the chosen position, or None before a choice.

    `on_position` is called before the next run, with st.session_state[key]["position"].
    """
    return _tokens(data=payload, key=key, on_position_change=on_position or _ignore).position


def flow(payload: bytes, key: str, on_op=None) -> str | None:
    """Show a payload of viz.flow; the id of the op just clicked, or None in every other run.

    `on_op` is called before the next run, with st.session_state[key]["op"].
    """
    return _flow(data=payload, key=key, on_op_change=on_op or _ignore).op


def stepper(bar: dict, key: str, on_move=None) -> dict | None:
    """Show the bar that walks through steps and layers; the move just made, or None.

    bar: steps (in order), step and layer (0-based), n_layers (0: no layers here); of: which list
    of `steps` each layer has, where they are several and the walk goes on from layer to layer;
    names: what the steps are called, where that is not what they are; before, beyond: what lies
    before the first step and behind the last one, if anything does: those are the steps -1 and
    len(steps). play: the paces of playing, in seconds, where it can. keys: [keys, what they do].
    labels: "aria", "previous", "next", "named" with {label} and {step}, "layer_up", "layer_down",
    "count" with {step} and {steps}, "layer" with {layer} and {last}, "keys"; to play: "play",
    "stop", "pace" and "seconds" with {seconds}.
    `on_move` is called before the next run, with {"step", "op", "layer"} in
    st.session_state[key]["move"]; op is the step itself, None outside the steps.
    The bar runs ahead of the page; the revision tells it which of its reports a page has seen.
    """
    revision = f"{key}-revision"

    def moved() -> None:
        st.session_state[revision] = st.session_state[key]["move"]["revision"]
        (on_move or _ignore)()

    payload = pack({**bar, "revision": st.session_state.get(revision, 0)})
    return _stepper(data=payload, key=key, on_move_change=moved).move


# ---- a list in the page's own HTML ---------------------------------------------------------------

_rows = st.components.v2.component(
    "tokenwalk_rows", js=scripts.door("rows", "rows.js"), isolate_styles=False
)


def rows(key: str, on_row, name: str = "row") -> None:
    """Listen to the table rows of the page that have a number (data-row, or data-<name>).
    on_row(number) is called before the next run when one is clicked, or has the focus and Enter is
    pressed. Shows nothing itself.
    """
    doors(key, lambda row: on_row(int(row)), name)


def doors(key: str, on_door, name: str = "door") -> None:
    """The same for buttons in the page's HTML that say in data-<name> where they lead:
    on_door(what one says).
    """
    _rows(key=key, data={"name": name}, on_row_change=lambda: on_door(st.session_state[key]["row"]))


# ---- the link ------------------------------------------------------------------------------------

_copylink = st.components.v2.component(
    "tokenwalk_copylink",
    css=(HERE / "copylink.css").read_text("utf-8"),
    js=scripts.door("copylink", "history.js", "button.js", "copylink.js"),
)


def copy_link(labels: dict, key: str) -> None:
    """A button that copies the address of the view, and tells the browser the page's language.

    labels: "copy", "copied", and "lang", the code of the language.
    """
    _copylink(data=labels, key=key)


_keep = st.components.v2.component(
    "tokenwalk_keep",
    css=(HERE / "copylink.css").read_text("utf-8"),
    js=scripts.door("keep", "button.js", "keep.js"),
)


def keep(labels: dict, key: str) -> None:
    """A button that saves the view as one HTML file that opens without a network.

    labels: "keep", "working", "kept", "saved", "note"; "lang", the code of the language; "file",
    the name of the file without its ending; "about": [name, value] pairs that say what the view is
    of.
    """
    _keep(data=labels, key=key)


# ---- dials ---------------------------------------------------------------------------------------

_dials = _register("dials", *DRAWN, "dials_paint.js", style="player.css dials.css")


def dials(payload: bytes, key: str, on_position=None, on_dial=None) -> int | None:
    """Show a payload of viz.dials; the position a reader moved its slider to, or None before that.

    `on_position` is called before the next run, with st.session_state[key]["position"], and
    `on_dial` when one of many was clicked, with st.session_state[key]["dial"]["index"].
    """
    moved, clicked = on_position or _ignore, on_dial or _ignore
    return _dials(data=payload, key=key, on_position_change=moved, on_dial_change=clicked).position


# ---- a text with its tokens, and the merges of a piece -------------------------------------------

_reading = _register("reading", "chips.js")
_merges = _register("merges", "svg.js", "saving.js", "merges_tree.js", "merges_save.js")


def reading(payload: bytes, key: str, on_position=None) -> int | None:
    """Show a payload of viz.reading; the chosen position, or None before a choice.

    `on_position` is called as in `tokens`.
    """
    return _reading(data=payload, key=key, on_position_change=on_position or _ignore).position


def merges(payload: bytes, key: str, on_step=None) -> int | None:
    """Show a payload of viz.merging; how many merges are done, or None before a choice.

    `on_step` is called before the next run, with st.session_state[key]["cell"].
    """
    return _merges(data=payload, key=key, on_cell_change=on_step or _ignore).cell


# ---- the tokens of a text with the attention of one of them --------------------------------------

_arcs = _register("arcs", "svg.js", "saving.js", "chips.js", "arcs_save.js")


def arcs(payload: bytes, key: str, on_position=None, on_other=None) -> int | None:
    """Show a payload of viz.arcs; the chosen position, or None before a choice.

    `on_position` is called as in `tokens`, and `on_other` when the other token of a pair was
    chosen, with st.session_state[key]["other"].
    """
    chosen, paired = on_position or _ignore, on_other or _ignore
    return _arcs(data=payload, key=key, on_position_change=chosen, on_other_change=paired).position


# ---- the logit lens ------------------------------------------------------------------------------

_lens = _register("lens", *DRAWN, style="figure.css")


def lens(payload: bytes, key: str, on_cell=None) -> list | None:
    """Show a payload of viz.lens; the chosen cell as [row, column], or None before a choice.

    `on_cell` is called as in `matrix`.
    """
    return _lens(data=payload, key=key, on_cell_change=on_cell or _ignore).cell


# ---- a KV cache that grows -----------------------------------------------------------------------

_growing = _register(
    "growing", *DRAWN, "growing_paint.js", style="figure.css player.css growing.css"
)


def growing(payload: bytes, key: str, on_step=None, on_row=None) -> int | None:
    """Show a payload of viz.growing; the step where a reader came to rest, or None before that.

    `on_step` is called before the next run, with st.session_state[key]["step"], and `on_row` when
    another head was chosen, with [layer, KV head] in st.session_state[key]["row"].
    """
    stepped, chosen = on_step or _ignore, on_row or _ignore
    return _growing(data=payload, key=key, on_step_change=stepped, on_row_change=chosen).step


# ---- a text as it is written ---------------------------------------------------------------------

_written = _register("written", "chips.js")


def written(payload: bytes, key: str, on_position=None) -> int | None:
    """Show a payload of viz.written; the chosen token, or None before a choice.

    `on_position` is called as in `tokens`. A text that is followed makes the page run when it is
    whole.
    """
    chosen = on_position or _ignore
    shown = _written(data=payload, key=key, on_position_change=chosen, on_whole_change=_ignore)
    return shown.position


# ---- the tree of a beam search -------------------------------------------------------------------

_branches = _register("branches", "svg.js", "saving.js", "branches_draw.js")


def branches(payload: bytes, key: str, on_branch=None) -> list | None:
    """Show a payload of viz.branches; the branch just clicked as [column, place], or None in every
    other run.

    `on_branch` is called before the next run, with st.session_state[key]["branch"].
    """
    return _branches(data=payload, key=key, on_branch_change=on_branch or _ignore).branch
