"""The data-flow diagram of the block, drawn from the catalogue: the current op lit, its inputs
marked.
"""

import streamlit as st

from core.record.catalogue import BLOCK, BLOCK_IDS, CATALOGUE
from pages import canvas
from pages.parts import walk, words
from pages.parts.words import text
from viz.flow import flow


def show(op: str) -> None:
    """The diagram; choosing a box goes to that op."""

    def on_op():
        walk.to_op(st.session_state["diagram"]["op"])

    nodes = [{"id": o.id, "label": words.short(o.id), "role": o.role} for o in BLOCK]
    edges = [(source, o.id) for o in BLOCK for source in o.inputs if source in CATALOGUE]
    payload = flow(
        nodes,
        edges,
        current=op,
        inputs=[source for source in CATALOGUE[op].inputs if source in CATALOGUE],
        done=BLOCK_IDS[: BLOCK_IDS.index(op)],
        weights={o.id: text(f"weights.{o.weights[0]}") for o in BLOCK if o.weights},
        labels=words.table("flow", "aria", "node", "current", "input", "done", "later", "weights"),
    )
    canvas.flow(payload, key="diagram", on_op=on_op)
