"""Tokens: the text becomes ids, byte by byte, with every space visible."""

import streamlit as st

from core.analyse.pieces import reading
from core.analyse.view import table_panels
from pages.parts import html, lesson, panels, run, session, small, strip, unknown, words
from pages.parts.html import Token, token

page = words.page("tokens")
lesson.heading(page)
trace = run.trace(numbers=False)
prompt = session.prompt()
position = session.position(len(trace.ids))
read = run.compute(reading, trace, prompt)
numbers = lesson.sizes(trace) | {"n_characters": read.n_characters, "n_bytes": read.n_bytes}
values = numbers | lesson.token_values(trace, position)
with st.container(key="stage"):
    left, right = st.columns([1, 2], gap="medium")
with left:
    lesson.tabs(page, numbers)
    lesson.look(page, **values)
    lesson.predict(page, values, dict)
    small.note(page, trace.model)
with right:
    for sentence in unknown.sentences(trace.model.tokenizer):
        run.notice(sentence)
    html.show(f'<p class="tw-panel-name">{words.html("tokens.strip", **numbers)}</p>')
    strip.show(trace, position, key="tokens_strip")
    chosen = read.tokens[position]
    with st.container(border=True):
        html.show(
            words.html(
                "tokens.chosen",
                token=Token(chosen.text),
                id=f"{chosen.id:,}",
                position=position,
                vocab=numbers["vocab"],
                n_bytes=chosen.n_bytes,
                hex=chosen.hex,
            )
        )
        if chosen.special:
            html.show(words.html("tokens.unknown" if chosen.unknown else "tokens.special"))
    html.show(f'<p class="tw-panel-name">{words.html("tokens.way")}</p>')
    html.show(
        f'<p class="tw-caption">{words.html(f"tokens.pieces_{trace.model.tokenizer.rule}")}</p>'
    )
    html.show(f'<p class="tw-loop">{" ".join(token(piece) for piece in read.pieces)}</p>')
    head = [words.html(f"tokens.{name}") for name in ("position", "text", "bytes_head", "id")]
    rows = [
        [str(t.position), token(t.text), f"<code>{t.hex}</code>", f"{t.id:,}"] for t in read.tokens
    ]
    with st.container(height=min(460, 60 + 34 * len(rows)), border=False):
        html.show(html.table(head, rows, "left"))
    for panel in table_panels(trace, position):
        html.show(f'<p class="tw-caption">{words.html("tokens.table", **numbers)}</p>')
        panels.show(panel, trace, key="tokens_table")
