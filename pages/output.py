"""Output: the last norm, a score for every token of the vocabulary, softmax, the next token."""

import streamlit as st

from core.analyse import explain
from core.analyse.output import candidate, guess
from core.analyse.view import final_view, score_parts
from pages.parts import (
    doors,
    explanation,
    html,
    lesson,
    misread,
    panels,
    run,
    scores,
    session,
    small,
    strip,
    terms,
    walk,
    words,
)
from pages.parts.html import Token, percent
from pages.parts.words import text

trace = run.trace(lambda: lesson.heading(words.page("output")))
after = trace.catalogue.after
page = words.page("output", after.values())
lesson.heading(page)
position = session.position(len(trace.ids))
steps = tuple(after)
op = walk.current_op(steps, steps[-1])
last = trace.catalogue.last  # the scores that the softmax reads
kind = "logits" if op == "logits" else last
best = run.compute(guess, trace, position, scores.how_many(trace.config.vocab), kind)
id = scores.chosen_id(best, trace.config.vocab)
mine = candidate(trace, id, position, kind)
numbers = lesson.sizes(trace)
values = numbers | lesson.token_values(trace, position)
values |= {
    "top_token": Token(best.top[0].text),
    "top_p": percent(best.top[0].prob),
    "n_for_90": f"{best.n_for_90:,}",
    "min_p": f"{best.smallest:.1e}",
}
this = words.op(after[op])

with st.container(key="stage"):
    left, middle, right = st.columns([1.02, 1.88, 1.9], gap="medium")
with left:
    lesson.tabs(page, numbers)
    about = this if op == "final_norm" else page  # whose own is about bars
    lesson.look(about, "wide", **values)
    lesson.predict(page, values, dict)
    misread.at_output(after[op], trace, this, values)
    small.note(page, trace.model)
with middle:
    lesson.look(about, "narrow", **values)
    strip.show(trace, position, key="output_tokens")
    asked = words.html("output.after", position=position, position_text=values["token"])
    html.show(f'<p class="tw-gist">{asked}</p>')
    scores.pick_op(steps, op)
    if op == "final_norm":
        view = final_view(trace, position, session.get("cell"))
        walk.settle(view)
        on_cell = walk.chosen(op, op, view.output)
        panels.show(view.output, trace, key=op, on_cell=on_cell)
        parts = view.inputs + view.weights
    else:
        scores.candidates(best, op, id, trace.config.vocab)
        scores.vocabulary(best, mine, op, kind, last)
        parts = run.compute(score_parts, trace, op, position, id, terms.chosen(op))
    terms.show_parts(parts, trace, op)
    about_token = op != "final_norm" and session.get("cell") is not None
    doors.show("output", "lens.layers", "lens.parts", **{"target": id} if about_token else {})
    with st.expander(text("output.about_step", name=this.title)):
        lesson.tabs(this, numbers, after[op])
        lesson.look(this, **values)
with right:
    index = view.index if op == "final_norm" else (position, id)
    explained = run.compute(explain, trace, op, None, index)
    with st.container(border=True):
        if op != "final_norm":
            scores.chosen(mine, kind, numbers["vocab"])
        explanation.show(explained, trace, terms.pointed(parts))
    terms.show_parts(parts, trace, op, whole=True)
with st.bottom:
    walk.output_bar(trace.catalogue, op)
