"""The data-flow diagram of the block, drawn from the catalogue: the current op lit, its inputs
marked.
"""

import streamlit as st

from pages import canvas
from pages.parts import walk, words
from pages.parts.words import text
from viz.flow import flow


def show(block: dict, op: str) -> None:
    """The diagram of the ops of a block, by id; choosing a box goes to that op."""

    def on_op():
        walk.to_op(st.session_state["diagram"]["op"])

    ops, ids = block.values(), list(block)
    nodes = [{"id": o.id, "label": words.short(o.id), "role": o.role} for o in ops]
    edges = [(source, o.id) for o in ops for source in o.inputs if source in block]
    payload = flow(
        nodes,
        edges,
        current=op,
        inputs=[source for source in block[op].inputs if source in block],
        done=ids[: ids.index(op)],
        weights={o.id: _weights(o) for o in ops if o.weights},
        labels=words.table("flow", "aria", "node", "current", "input", "done", "later", "weights"),
    )
    canvas.flow(payload, key="diagram", on_op=on_op)


def _weights(op):
    """What an op reads from the file, by name."""
    return ", ".join(text(f"weights.{name}") for name in op.weights + op.biases)
