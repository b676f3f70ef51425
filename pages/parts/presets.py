"""Prompts that show something, each with the layer and head where it really shows, and what becomes
of them when the model changes. Knows lessons, models and the session.
"""

import streamlit as st

import lessons
from pages.parts import models, session
from pages.parts.words import text


def chips(place: str) -> None:
    """Buttons that put a preset's prompt into the box and go to its layer and head."""
    with st.container(horizontal=True, gap="small", key=f"presets_{place}"):
        for preset in models.presets(session.get("model")):
            st.button(
                text(f"{preset.texts}.label"),
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
    name = session.get("model")
    measured = models.opened_as(name) in (models.DEFAULT, models.NANO)
    return _of_prompt(models.presets(name)) if measured and session.get("mode") == "plain" else None


def to_model(name: str) -> None:
    """Go to another model. The reader's own text stays; a preset's becomes the one that shows the
    same there.
    """
    before, after = models.presets(session.get("model")), models.presets(name)
    session.put(model=name, asked_model=None)
    session.forget_place()
    if before == after:
        return
    if shown := _of_prompt(before):
        choose(lessons.matching(shown, after[0].of))
    else:
        session.put(at_layer=after[0].layer, at_head=after[0].head)


def _of_prompt(presets) -> lessons.Preset | None:
    return next((preset for preset in presets if preset.prompt == session.prompt()), None)
