"""The walk through a block: one op around one cell, its lesson, its figures, its explanation."""

import streamlit as st

from core.analyse import explain
from core.analyse.view import step_view
from core.model.axes import is_layer_op
from pages.parts import (
    diagram,
    explanation,
    html,
    inputs,
    lesson,
    misread,
    run,
    session,
    sinks,
    small,
    strip,
    terms,
    walk,
    words,
    work,
)
from pages.parts.step import Step
from pages.parts.words import text
from pages.views.block import figures


def show(trace, layer: int, head: int, position: int, way: str) -> None:
    """The whole view below the page's title. way: "full" or "short", through the ops of a layer."""
    catalogue = trace.catalogue
    steps = walk.steps(catalogue, layer, way)
    step = _step(trace, walk.current_op(steps, steps[0]), layer, head, position)
    walk.settle(step.view)
    numbers, whole = (
        _numbers(step, layer, steps),
        words.page("block", catalogue.blocks[layer].values()),
    )
    values = numbers | lesson.token_values(trace, position)
    this = words.op(step.op, *["together"] * step.together)
    where = words.html("block.step", **numbers, op=step.id, name=this.title)
    gist = f'<p class="tw-gist">{lesson.joined(where, html.rich(this.gist, **values))}</p>'
    with walk.beside("step_top"):
        st.html(gist, width="content")
        _one_or_all(step)
    diagram.show(step, layer, way)
    with st.container(key="stage"):
        left, middle, right = st.columns([1.02, 1.88, 1.9], gap="medium")
    with left:
        _lesson(step, this, numbers, values, whole)
    with middle:
        if way != "short":  # before a class the figure comes first
            lesson.look(this, "narrow", **values)
        marks = walk.roles(step.view, len(trace.ids))
        strip.show(trace, position, key="block_tokens", roles=marks)
        work.lead(step)
        figures.draw(step)
        work.show(step)
        if way == "short":
            lesson.look(this, "narrow", **values)
    with right:
        parts = step.view.inputs + step.view.weights
        with st.container(border=True):
            explanation.show(step.explained, trace, terms.pointed(parts))
        terms.show_parts(parts, trace, step.id, head, whole=True, saved=step.saved)
    with st.bottom:
        walk.block_bar(catalogue, layer, step.id, way)


def _step(trace, id, layer, head, position):
    """The step around the chosen cell."""
    within = layer if is_layer_op(id) else None
    together = bool(session.get("together"))
    place = (id, within, head, position, walk.column(id), terms.chosen(id), together)
    view = run.compute(step_view, trace, *place)
    explained = run.compute(explain, trace, id, within, view.index)
    op = trace.catalogue.op(id, within)
    return Step(trace, op, within, head, position, view, explained, together)


def _numbers(step, layer, steps):
    """What the sentences of a step may name beside the token."""
    own = {"layer": layer, "head": step.head, "kv_head": step.kv_head}
    own |= {"step": steps.index(step.id) + 1, "n_steps": len(steps)}
    return lesson.sizes(step.trace, layer) | own


def _lesson(step, this, numbers, values, whole):
    """Idea, maths and code; what to look for; the question of the page; Nano beside SmolLM2."""
    lesson.tabs(this, numbers, step.op)
    lesson.look(this, "wide", **values)
    if step.id == "attn.weights" and len(step.trace.ids) > 1:  # alone, nobody else to look at
        sinks.predict(step.trace, whole, values)
    misread.show(step, this, values)
    with st.expander(text("block.whole")):
        lesson.tabs(whole, numbers)
        lesson.look(whole, **values)
    small.note(whole, step.trace.model)


def _one_or_all(step):
    """The switch between the chosen position and all of them."""
    names = {False: "one", True: "all"}
    inputs.switch(
        (False, True),
        step.together,
        key="together",
        label=text("block.positions"),
        name=lambda together: text(f"block.{names[together]}"),
        pick=lambda together: session.put(together=together),
    )
