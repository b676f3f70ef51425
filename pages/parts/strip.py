"""The token strip of the current run: pick a position. Knows the canvas and the session."""

import streamlit as st

from pages import canvas
from pages.parts import session, words
from pages.parts.words import text
from viz.tokens import token_strip


def show(
    trace, position: int, key: str, roles=None, variant: str = "row", pick: bool = True
) -> None:
    """All tokens of a run, the one at `position` chosen; choosing another moves the page there."""

    def on_position():
        session.put(pos=st.session_state[key]["position"])

    tokenizer = trace.model.tokenizer
    control = set(tokenizer.special.values())
    payload = token_strip(
        trace.tokens,
        trace.ids,
        selected=position,
        roles=roles,
        details=[_detail(tokenizer, id, id in control) for id in trace.ids],
        special=[id in control for id in trace.ids],
        labels=words.table("strip", "aria", "token"),
        variant=variant,
    )
    canvas.tokens(payload, key=key, on_position=on_position if pick else None)


def _detail(tokenizer, id, is_control):
    """The line below a token's name: its bytes, and whether it is a control token."""
    key = "tokens.control_bytes" if is_control else "tokens.bytes"
    return text(key, bytes=tokenizer.token_bytes(id).hex(" ").upper())
