"""What a head writes towards the chosen next token, in one line with its place among all heads, and
the ways to muting it. Knows the session and core; no page by name.
"""

import streamlit as st

from core.analyse import attribution, roles
from pages.parts import mute, run, session, target, views, words
from pages.parts.html import Token, number
from pages.parts.words import text

HERE = "atlas.head"


def line(trace, position: int, layer: int, head: int) -> None:
    """What the head adds to the logit of the chosen token."""
    id = target.chosen(trace, position)
    found = run.compute(attribution.attribution, trace, id, None, position).heads
    values = {"token": Token(trace.tokens[position]), "position": position}
    values |= {"value": number(float(found[layer, head]), 2), "n": found.size}
    values |= {"target": Token(trace.model.tokenizer.display(id))}
    words.caption(f"{HERE}.writes", **values, place=roles.rank(found, layer, head))


def switch(trace, position: int, layer: int, head: int) -> None:
    """The switch that mutes the head, what becomes of the prediction, and the way to more."""
    with st.container(horizontal=True, key="head_mute", vertical_alignment="center"):
        mute.button(layer, head)
        to_effect("head", f"{HERE}.to_effect")
    if mute.on():
        found = mute.effect(trace, layer, head, position)
        mute.show(trace, layer, head, position, found, target.chosen(trace, position))


def to_effect(before: str, key: str, **values) -> None:
    """A door to the view of a head's effect. With values, which the label names, the head is muted
    there.
    """

    def go():
        views.go("atlas", before, "effect")
        if values:
            session.put(by="muted", kind=None)

    st.button(text(key, **values), key=f"{before}_to_effect", type="tertiary", on_click=go)
