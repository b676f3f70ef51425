"""Learning: one training at a few moments, from random weights to the model."""

import streamlit as st

from pages.parts import html, inner, lesson, moments, run, training, walk, words

page = words.page("learning")
lesson.heading(page)
found = training.found(run.model())
if found is None:
    training.elsewhere()
    st.stop()
trace = run.trace()
story = training.story(found)
at = story.names.index(walk.current_op(story.names, story.names[0]))
numbers = lesson.sizes(trace)
values = numbers | lesson.token_values(trace, len(trace.ids) - 1) | training.values(story, at)

with st.container(key="stage"):
    left, right = st.columns([1.02, 2.2], gap="medium")
with left:
    lesson.tabs(page, numbers)
    lesson.look(page, "wide", **values)
    lesson.predict(page, values, dict)
with right:
    lesson.look(page, "narrow", **values)
    html.show(f'<p class="tw-gist">{words.html("learning.now", **values)}</p>')
    loss, skills = st.columns(2)
    with loss:
        moments.loss(story, at)
    with skills:
        moments.skills(story, at)
    moments.guesses(story, at, values)
inner.show(story, at, trace)
with st.bottom:
    training.bar(story, at)
