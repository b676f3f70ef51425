"""The query heads that share the keys and values of the chosen one, their maps side by side.

Knows core's map of a head, viz and words; no maths.
"""

import streamlit as st

from core.analyse import headmap
from pages import canvas
from pages.parts import run, session, words
from pages.parts.words import text
from viz.matrix import matrix

HERE = "atlas.head"
CELLS, SIDE = 64, 150  # a side of a small map: at most so many cells, and CSS pixels


def show(trace, found: headmap.HeadMap) -> None:
    """Which heads read the same KV head, and what each does with it."""
    values = {"head": found.head, "kv_head": found.kv_head}
    if trace.config.group == 1:
        return words.caption(f"{HERE}.own", **values)
    place = (trace, found.layer, found.kv_head, CELLS)
    heads, maps = run.compute(headmap.sharing, *place)
    words.heading(f"{HERE}.shared", first=heads[0], last=heads[-1], kv_head=found.kv_head)
    words.caption(f"{HERE}.shared_caption", n_kv=trace.config.n_kv_heads)
    with st.container(horizontal=True, key="head_shared", gap="small"):
        for head, small in zip(heads, maps, strict=True):
            with st.container(width=SIDE + 30, gap="xsmall"):
                _one(head, small, head == found.head)


def _one(head, small, here):
    """A button with the head's number, and its map, which is one, too."""
    label = text(f"{HERE}.to_head", head=head)
    pick = {"on_click": session.put, "kwargs": {"at_head": head}}
    st.button(label, key=f"head_shared_{head}", type="tertiary", **pick)
    name = f"head_small_{head}"
    canvas.matrix(_payload(small, head, here), key=name, on_cell=lambda: session.put(at_head=head))


def _payload(small, head, here):
    """A small map without words; that of the chosen head is outlined."""
    n = len(small)
    labels = words.table("matrix", "masked", "save_png", "save_csv")
    said = text(f"{HERE}.to_head", head=head)
    labels |= dict.fromkeys(("tooltip", "selected", "aria"), said) | {"hatched": ""}
    return matrix(
        small,
        rows=[""] * n,
        columns=[""] * n,
        row_title="",
        column_title=text("axes.key"),
        palette="amount",
        limit=1.0,
        marks=[(0, 0, n, n)] * here,
        packed=True,
        labels=labels,
        name=f"weights_head{head}",
        lens=False,
        saves=False,
        exact=False,
        height=SIDE,
        indent=4,
    )
