"""The reader's own guess before the model's, and what is worth saying about a prompt. Knows the
session and words.
"""

import streamlit as st

from core.analyse.output import rank_of_text
from pages.parts import html, models, presets, run, session, unknown, words
from pages.parts.html import Token, percent
from pages.parts.words import text


def ask(page, vocab: int) -> None:
    """The page's question, a line for the reader's guess, and a switch that covers the answer."""
    label = text("guess.label")
    st.text_input(label, key="guess", max_chars=60, placeholder=text("guess.placeholder"))
    st.toggle(text("guess.cover"), key="cover")
    html.show(f'<p class="tw-caption">{html.rich(page.predict, vocab=f"{vocab:,}")}</p>')


def may_show() -> bool:
    """Whether the answer may be seen: always, unless the reader wants to guess first and has not
    yet.
    """
    return not st.session_state.get("cover") or bool((st.session_state.get("guess") or "").strip())


def notices(trace, seen, page, values) -> None:
    """Where the guess stands; a trailing space; Chinese; bytes without a token; what the preset
    shows.
    """
    _rank(trace, seen, page, values)
    prompt, is_default = session.prompt(), run.model_name() == models.DEFAULT
    if ends_in_stray_space(prompt) and st.session_state.get("mode") != "chat":
        _trailing_space(trace, prompt)
    elif has_han(prompt) and is_default:
        run.notice(words.html("notice.chinese"))
    elif session.language() != "en" and presets.current() is None and is_default:
        run.notice(words.html("notice.english_model"))
    for sentence in unknown.sentences(trace.model.tokenizer):
        run.notice(sentence)
    preset = presets.current()
    if preset is not None and may_show():  # the note tells what the run shows
        place = {"layer": preset.layer, "head": preset.head}
        html.show(f'<p class="tw-caption">{words.html(f"{preset.texts}.note", **place)}</p>')


def _rank(trace, seen, page, values):
    """The answer to the page's question: where the guess stands, or its first token."""
    guess = (st.session_state.get("guess") or "").strip()
    if not guess:
        return
    found = run.compute(rank_of_text, trace, guess)
    if found is None:
        run.notice(words.html("guess.no_token"))
        return
    best = seen.guess.top[0]
    values = values | {"guess_rank": f"{found.rank:,}", "top_token": Token(best.text)}
    answer = html.rich(page.reveal, **values, top_p=percent(best.prob))
    ranked = words.html("guess.ranked", token=Token(found.text), prob=percent(found.prob))
    run.notice(html.paragraphs(f"{answer} {ranked}"))


def _trailing_space(trace, prompt):
    """The prompt ends in a space, which the model expects at the start of the next token: offer it
    without.
    """

    def shorten():
        session.set_prompt(prompt.rstrip(" "))

    run.notice(words.html("notice.space", token=Token(trace.tokens[-1])))
    st.button(text("notice.space_remove"), key="remove_space", on_click=shorten)


def ends_in_stray_space(prompt: str) -> bool:
    """Whether a text ends with one space that the next token would bring itself: not after a digit
    or its comma, since digits come without one, and not where it is part of an indent.
    """
    before = prompt[:-1].removesuffix(",")[-1:]
    return prompt.endswith(" ") and bool(before.strip()) and not before.isdigit()


def has_han(text: str) -> bool:
    """Whether a text holds Chinese characters."""
    return any("\u4e00" <= c <= "\u9fff" for c in text)
