"""Beside the steps of attention: the chosen head muted, and what becomes of the prediction. Knows
the step.
"""

import streamlit as st

from pages.parts import journey, mute, words
from pages.parts.html import Token
from pages.parts.words import text

STEPS = ("attn.weights", "attn.mix", "attn.out")


def draw(step) -> None:
    """The switch; where the head is muted, both predictions and a door to more about its effect."""
    place = (step.trace, step.layer, step.head, step.position)
    with st.container(border=True, key="mute"):
        words.caption(f"{mute.HERE}.ask", token=Token(step.trace.tokens[step.position]))
        mute.button(step.layer, step.head)
        if mute.on():
            mute.show(*place, mute.effect(*place))
            if st.button(text(f"{mute.HERE}.more"), key="mute_more", type="tertiary"):
                journey.go("atlas", op="effect", by="muted")
