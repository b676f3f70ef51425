"""The settings of beam search: plain values of the session, as links bring them."""

import streamlit as st

from pages.parts import session
from pages.parts.words import text

HERE = "loop.beams"
RANGES = {  # usual, from, to, step
    "n_beams": (3, 1, 6, 1),
    "length_penalty": (1.0, -2.0, 3.0, 0.1),
    "at": (8, 1, 20, 1),  # tokens
}


def values() -> tuple[int, float, int]:
    """Beams, length penalty and number of tokens. What a link asks for beyond what the page offers
    leaves the link.
    """
    return tuple(_value(name) for name in RANGES)


def _value(name):
    usual, low, high, _ = RANGES[name]
    held = session.get(name)
    try:
        value = usual if held is None else type(usual)(held)
        if low <= value <= high:
            return value
    except ValueError:
        pass
    session.settle(**{name: None})
    return usual


def controls() -> None:
    """Their widgets in a row."""
    with st.container(key="beams_controls", horizontal=True, vertical_alignment="bottom"):
        for name in RANGES:
            with st.container(width=190):
                _slider(name)


def _slider(name):
    usual, low, high, step = RANGES[name]
    key = f"beams_{name}"
    st.session_state[key] = _value(name)

    def put():
        value = st.session_state[key]
        other = {} if name == "length_penalty" else {"cell": None}  # another tree
        session.put(**{name: None if value == usual else value}, **other)

    how = {"key": key, "help": text(f"{HERE}.help_{name}"), "on_change": put}
    st.slider(text(f"{HERE}.{name}"), low, high, step=step, **how)
