"""Prompts that show something, each with the layer and head where it really shows. Knows lessons
and the session.
"""

import streamlit as st

import lessons
from pages.parts import models, session
from pages.parts.words import text


def chips(place: str) -> None:
    """Buttons that put a preset's prompt into the box and go to its layer and head."""
    with st.container(horizontal=True, gap="small", key=f"presets_{place}"):
        for preset in lessons.presets():
            st.button(
                text(f"presets.{preset.id}.label"),
                key=f"preset_{place}_{preset.id}",
                on_click=choose,
                args=(preset,),
            )


def choose(preset: lessons.Preset) -> None:
    """Set the prompt and the place of a preset."""
    session.put(mode="plain", at_layer=preset.layer, at_head=preset.head)
    session.set_prompt(preset.prompt)


def current() -> lessons.Preset | None:
    """The preset on show: its prompt is run as plain text, by the model it was measured on."""
    state = st.session_state
    if state.get("mode") != "plain" or state.get("model") != models.DEFAULT:
        return None
    return next((p for p in lessons.presets() if p.prompt == session.prompt()), None)
