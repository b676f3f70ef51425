"""The data-flow diagram of the block, drawn from the catalogue: the current op lit, its inputs
marked.
"""

import streamlit as st

from pages import canvas
from pages.parts import walk, words
from pages.parts.words import text
from viz.flow import flow


def show(step, layer: int) -> None:
    """The diagram of the ops of a layer; choosing a box goes to that op."""
    trace, op = step.trace, step.id
    block = trace.catalogue.blocks[layer]
    inputs = {o.id: o.inputs for o in block.values()}
    if layer == 0:
        before = trace.catalogue.before
        inputs |= {o.id: o.inputs for o in before.values()} | {"resid_pre": [[*before][-1]]}
        block = before | block

    def on_op():
        walk.to_op(st.session_state["diagram"]["op"])

    ops, ids = block.values(), list(block)
    nodes = [{"id": o.id, "label": words.short(o.id), "role": o.role} for o in ops]
    edges = [(source, id) for id in ids for source in inputs[id] if source in ids]
    payload = flow(
        nodes,
        edges,
        current=op,
        inputs=[source for source in inputs[op] if source in ids],
        done=ids[: ids.index(op)],
        weights={o.id: _weights(o) for o in ops if o.weights},
        labels=words.table("flow", "aria", "node", "current", "input", "done", "later", "weights"),
    )
    canvas.flow(payload, key="diagram", on_op=on_op)


def _weights(op):
    """What an op reads from the file, by name."""
    return ", ".join(text(f"weights.{name}") for name in op.weights + op.biases)
