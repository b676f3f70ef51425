"""Which token's score a view is about: one of the first candidates, or the reader's own. Kept for
all views that ask. Knows the session and core's ranking.
"""

import streamlit as st

from core.analyse.output import guess, rank_of_text
from pages.parts import html, inputs, run, session, words
from pages.parts.html import Token
from pages.parts.words import text

FIRST = 12  # candidates in the list
LONGEST = 40  # characters of the reader's own


def chosen(trace, position: int) -> int:
    """The id of the chosen token; by default the most probable one after the position."""
    id = session.below("target", trace.config.vocab)
    return run.compute(guess, trace, position, 1).top[0].id if id is None else id


def against(trace, position: int) -> int:
    """The id of the token whose logit is taken away; by default the most probable of the others."""
    token, id = chosen(trace, position), session.below("against", trace.config.vocab)
    if id not in (None, token):
        return id
    first, second = run.compute(guess, trace, position, 2).top
    return second.id if first.id == token else first.id


def pick(trace, position: int, *, difference: bool = False) -> None:
    """The controls: a list of candidates, a box for another token, and with `difference` the same
    for the one whose logit is taken away.
    """
    ids = [each.id for each in run.compute(guess, trace, position, FIRST).top]
    with st.container(horizontal=True, key="target", vertical_alignment="bottom"):
        _list("target", ids, chosen(trace, position), trace, text("target.token"))
        _own("target", trace)
        if difference:
            others = [id for id in ids if id != chosen(trace, position)]
            _list("against", others, against(trace, position), trace, text("target.against"))
            _own("against", trace)
    for name in ("target", "against"):
        if note := st.session_state.pop(f"{name}_note", None):
            html.show(f'<p class="tw-caption">{note}</p>')


def _list(name, ids, now, trace, label):
    """Candidates; the chosen one is among them, whatever it is."""
    options, key = [*ids, *[now] * (now not in ids)], f"{name}_list"
    display = trace.model.tokenizer.display
    st.session_state[key] = now
    st.selectbox(
        label,
        options,
        format_func=display,
        key=key,
        on_change=lambda: session.put(**{name: st.session_state[key]}),
        width=220,
    )


def _own(name, trace):
    """A box for a token that is not in the list; what was typed is looked up once."""

    def take(asked):
        if asked:
            _look_up(name, asked, trace)

    how = {"longest": LONGEST, "empty": text("target.empty"), "width": 180}
    inputs.field(text("target.own"), take, key=f"{name}_own", **how)


def _look_up(name, asked, trace):
    found = rank_of_text(trace, asked)
    if found is None:
        st.session_state[f"{name}_note"] = words.html("target.none", word=Token(asked))
        return
    session.put(**{name: found.id})
    if found.text.strip("␣") != asked.strip() and len(trace.model.tokenizer.encode(asked)) > 1:
        values = {"word": Token(asked), "token": Token(found.text)}
        st.session_state[f"{name}_note"] = words.html("target.first", **values)
