"""Start: what happens when you press Enter? The journey of the reader's own text, as pictures of
its own numbers.
"""

import streamlit as st

from core.analyse.heads import run_summing
from core.analyse.overview import overview
from core.analyse.view import embedding_panel
from pages.parts import (
    cards,
    checks,
    guessing,
    html,
    lesson,
    presets,
    run,
    session,
    sidebar,
    small,
    words,
)

page = words.page("start")
html.show(f'<h1 class="tw-title">{html.rich(page.title)}</h1>')
html.show(f'<p class="tw-gist">{html.rich(page.gist, model=run.title())}</p>')
opened = run.model()
small.note(page, opened)
with st.container(key="asking"):
    box, side = st.columns([3, 1.25], gap="medium", vertical_alignment="top")
with box:
    sidebar.prompt_box(height=80)
    presets.chips("main")
with side:
    guessing.ask(page, opened.config.vocab)

trace = run.trace(how=run_summing)
preset = presets.current()
framed = session.frame(trace.config) or ((preset.layer, preset.head) if preset else None)
seen = run.compute(overview, trace, framed)
numbers = lesson.sizes(trace)
values = numbers | lesson.token_values(trace, len(trace.ids) - 1)
values |= {"layer": seen.framed[0], "head": seen.framed[1], "model": run.title()}
guessing.notices(trace, seen, page, values)

with st.container(key="cards_top"):
    one, two, three = st.columns([1.32, 1.55, 4.9])
    with one:
        cards.tokens(trace)
    with two:
        cards.embedding(trace, embedding_panel(trace))
    with three:
        cards.heads(trace, seen)
with st.container(key="cards_bottom"):
    four, five, six = st.columns([2.8, 2.2, 1.6])
    shown = guessing.may_show()
    for column, number, name, role in (
        (four, 4, "lens", "mlp"),
        (five, 5, "scores", "logits"),
        (six, 6, "loop", "key"),
    ):
        with column:
            if shown:
                getattr(cards, name)(trace, seen)
            else:
                cards.covered(number, name, role, vocab=f"{trace.config.vocab:,}")
checks.line(trace, seen.framed[0])

with st.container(key="lessons"):
    left, right = st.columns([1, 1], gap="medium")
with left:
    lesson.tabs(page, numbers)
with right:
    lesson.look(page, **values)
    small.table(opened)
