"""Where a branch leaves a text, and by which token. Knows the session and core's readings."""

import streamlit as st

from core.analyse import written as told
from pages.parts import html, run, session, words
from pages.parts.html import Token

LONGEST = 40  # characters of the reader's own token


def place(most: int) -> int:
    """The token that is exchanged; the first where none is chosen."""
    return session.below("at", most) or 0


def other(trace, found, at: int) -> int:
    """The token that takes its place; the best of the others where none is chosen."""
    now, id = found.tokens[at].id, session.below("target", trace.config.vocab)
    if id not in (None, now):
        return id
    return next((each.id for each in found.tokens[at].best if each.id != now), now)


def look_up(found, at: int, asked: str, tokenizer, take) -> None:
    """take(id) with the token that a reader typed; what there is to say is kept for `note`."""
    id = run.compute(told.reading, found, at, asked, tokenizer)
    if id is None:
        st.session_state["fork_note"] = words.html("target.none", word=Token(asked))
        return
    take(id)
    if len(tokenizer.encode(asked.strip())) > 1:
        values = {"word": Token(asked), "token": Token(tokenizer.display(id))}
        st.session_state["fork_note"] = words.html("target.first", **values)


def note() -> None:
    """What was said of the token that was typed last, once."""
    if said := st.session_state.pop("fork_note", None):
        html.show(f'<p class="tw-caption">{said}</p>')
