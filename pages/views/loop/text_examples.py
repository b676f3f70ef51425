"""Texts that show something, at a click: a prompt with its mode and settings. Knows the session and
the models on offer.
"""

import streamlit as st

from pages.parts import html, models, session, settings, words
from pages.parts.words import text

GREEDY = {"temperature": 0.0}
PENALTY = GREEDY | {"repetition_penalty": 1.1}
HOT = {"temperature": 2.0}
LOOP_PROMPT, STORY_PROMPT = "Hi", "Once upon a time, there was"
QUESTION_PROMPT = "What is the capital of France?"
NANO_PROMPT = "The capital of France is"
# name -> prompt (None: whatever there is), mode, settings that are not as usual
DEFAULT = {
    "repeats": (LOOP_PROMPT, "plain", GREEDY),
    "broken": (LOOP_PROMPT, "plain", PENALTY),
    "hot": (STORY_PROMPT, "plain", HOT),
    "bare": (QUESTION_PROMPT, "plain", GREEDY),
    "chat": (QUESTION_PROMPT, "chat", GREEDY),
}
NANO = {
    "repeats": (NANO_PROMPT, "plain", GREEDY),
    "broken": (NANO_PROMPT, "plain", PENALTY),
    "hot": (NANO_PROMPT, "plain", HOT),
}
ANY = {"hot": (None, None, HOT)}  # what is said of the others was seen in those two models


def show() -> None:
    """The buttons, and what is to be seen where one of them is on show."""
    offered = _offered()
    with st.container(horizontal=True, gap="small", key="loop_examples"):
        for name, what in offered.items():
            label = text(f"loop.text.example.{name}")
            st.button(label, key=f"example_{name}", on_click=_choose, args=what)
    if now := next((name for name, what in offered.items() if _is_on_show(*what)), None):
        html.show(f'<p class="tw-caption">{words.html(f"loop.text.note.{now}")}</p>')


def _offered():
    name = session.get("model")
    if models.opened_as(name) == models.DEFAULT:
        return DEFAULT
    return NANO if models.presets(name)[0].of == models.NANO else ANY


def _choose(prompt, mode, wanted):
    settings.forget()
    usual = {name: settings.USUAL[name] for name in ("seed", "max_new_tokens")}
    settings.put(**usual, **wanted)
    if prompt is not None:
        session.put(mode=mode)
        session.set_prompt(prompt)
    session.put(cell=settings.USUAL["max_new_tokens"], at=None)


def _is_on_show(prompt, mode, wanted):
    if prompt is not None and (prompt, mode) != (session.prompt(), session.get("mode")):
        return False
    now = {name: value for name, value in settings.values().items() if name != "max_new_tokens"}
    return all(value == wanted.get(name, settings.USUAL[name]) for name, value in now.items())
