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

    tokens = trace.model.tokenizer
    details = [
        text("tokens.bytes", bytes=tokens.token_bytes(id).hex(" ").upper()) for id in trace.ids
    ]
    payload = token_strip(
        trace.tokens,
        trace.ids,
        selected=position,
        roles=roles,
        details=details,
        labels=words.table("strip", "aria", "token"),
        variant=variant,
    )
    canvas.tokens(payload, key=key, on_position=on_position if pick else None)
