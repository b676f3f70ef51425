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
    steps = walk.steps(trace.catalogue, layer, way)
    step = _step(trace, walk.current_op(steps, steps[0]), layer, head, position)
    walk.settle(step.view)
    this, numbers = words.op(step.op, *["together"] * step.together), _numbers(step, layer, steps)
    values = numbers | lesson.token_values(trace, position)
    _top(step, this, values)
    diagram.show(step, layer, way)
    with st.container(key="stage"):
        left, middle, right = st.columns([1.02, 1.88, 1.9], gap="medium")
    with left:
        _lesson(step, this, numbers, values, trace.catalogue.blocks[layer])
    with middle:
        _figures(step, this, values, way)
    with right:
        _explained(step)
    with st.bottom:
        walk.block_bar(trace.catalogue, layer, step.id, way)


def _top(step, this, values):
    """Which step it is, in a sentence, and the switch between one position and all."""
    where = words.html("block.step", **values, op=step.id, name=this.title)
    with walk.beside("step_top"):
        gist = lesson.joined(where, html.rich(this.gist, **values))
        st.html(f'<p class="tw-gist">{gist}</p>', width="content")
        _one_or_all(step)


def _figures(step, this, values, way):
    """The tokens and the figures; before a class the figures come first, then what to look for."""
    if way != "short":
        lesson.look(this, "narrow", **values)
    marks = walk.roles(step.view, len(step.trace.ids))
    strip.show(step.trace, step.position, key="block_tokens", roles=marks)
    work.lead(step)
    figures.draw(step)
    work.show(step)
    if way == "short":
        lesson.look(this, "narrow", **values)


def _explained(step):
    """The chosen number from its operands, and the matrices that are shown whole."""
    parts = step.view.inputs + step.view.weights
    with st.container(border=True):
        explanation.show(step.explained, step.trace, terms.pointed(parts))
    terms.show_parts(parts, step.trace, step.id, step.head, whole=True, saved=step.saved)


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


def _lesson(step, this, numbers, values, block):
    """Idea, maths and code; what to look for; the question of the page; Nano beside SmolLM2."""
    whole = words.page("block", block.values())
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
