"""Block: every op of one layer in order, around one token and one cell."""

import streamlit as st

from core.analyse import explain
from core.analyse.view import step_view
from pages.parts import (
    diagram,
    explanation,
    html,
    lesson,
    panels,
    run,
    session,
    sinks,
    small,
    strip,
    terms,
    walk,
    words,
)

trace = run.trace(lambda: html.show(f'<h1 class="tw-title">{words.html("pages.block")}</h1>'))
layer, head = session.layer_and_head(trace.config)
block, position = trace.catalogue.blocks[layer], session.position(len(trace.ids))
steps = tuple(block)
op = walk.current_op(steps, steps[0])
cell = (head, position, walk.column(op))
view = run.compute(step_view, trace, op, layer, *cell, terms.chosen(op))
walk.settle(view)

numbers = lesson.sizes(trace, layer) | {
    "layer": layer,
    "head": head,
    "kv_head": head // trace.config.group,
}
numbers |= {"step": steps.index(op) + 1, "n_steps": len(steps)}
values = numbers | lesson.token_values(trace, position)
this, whole = words.op(block[op]), words.page("block", block.values())

html.show(f'<h1 class="tw-title">{html.rich(whole.title, **values)}</h1>')
step = words.html("block.step", **numbers, op=op, name=this.title)
html.show(f'<p class="tw-gist">{lesson.joined(step, html.rich(this.gist, **values))}</p>')
diagram.show(block, op)

with st.container(key="stage"):
    left, middle, right = st.columns([1.02, 1.88, 1.9], gap="medium")
with left:
    lesson.tabs(this, numbers, block[op])
    lesson.look(this, "wide", **values)
    if op.startswith("attn.") and len(trace.ids) > 1:  # alone, a token has nobody else to look at
        sinks.predict(trace, whole, values)
    small.note(whole, trace.model)
with middle:
    lesson.look(this, "narrow", **values)
    strip.show(trace, position, key="block_tokens", roles=walk.roles(view, len(trace.ids)))
    key = f"output_{op}"
    panels.show(view.output, trace, key=key, on_cell=walk.chosen(key, op, view.output))
    parts = view.inputs + view.weights
    terms.show_parts(parts, trace, op, head)
with right:
    explained = run.compute(explain, trace, op, layer, view.index)
    with st.container(border=True):
        explanation.show(explained, trace, terms.pointed(parts))
    terms.show_parts(parts, trace, op, head, whole=True)
with st.bottom:
    walk.bar(steps, op, layer, trace.config.n_layers)
walk.shortcuts()
