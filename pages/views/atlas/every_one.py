"""The chosen head below the field of all heads: its map larger, what it does as numbers, and what
its last row looks at.
"""

import streamlit as st

from core.analyse import heads, roles
from pages import canvas
from pages.parts import html, panels, run, words
from pages.parts.html import Token
from pages.parts.words import text
from pages.views.atlas import every_sort

HERE = "atlas.every"
LOOKS = 3  # keys that are named of a head's last row


def show(trace, seen, layer: int, head: int, open_it) -> None:
    """The chosen head: its map larger, what it does, and what its last row looks at. open_it() goes
    to the view of it.
    """
    named = {"layer": layer, "head": head, "kv_head": head // trace.config.group}
    with st.container(horizontal=True, key="atlas_one_top", vertical_alignment="center"):
        name = words.html(f"{HERE}.one", **named)
        st.html(f'<p class="tw-panel-name attention">{name}</p>', width="content")
        st.button(text(f"{HERE}.open"), key="atlas_open", on_click=open_it)
    _looks(trace, seen.last[layer, head])
    with st.container(key="atlas_one"):
        left, right = st.columns([1.15, 1], gap="medium")
    with left:
        canvas.matrix(_map(trace, seen, layer, head), key="atlas_map")
    with right:
        _measures(seen, layer, head)


def _looks(trace, row):
    """The three keys that the last token looks at most, in words."""
    found = run.compute(heads.looked_at, row, LOOKS)
    said = html.Made(
        ", ".join(
            f'<span class="tw-nowrap">{html.token(trace.tokens[key], "key")} ({key}) '
            f"<b>{weight:.3f}</b></span>"
            for key, weight in found
        )
    )
    last = Token(trace.tokens[-1])
    words.caption(f"{HERE}.looks", last=last, position=len(trace.ids) - 1, keys=said)


def _map(trace, seen, layer, head):
    return panels.head_map(
        seen.maps[layer, head],
        list(trace.tokens[:: seen.block]),
        window=seen.windows[layer],
        column_step=seen.block,
        aria=text(f"{HERE}.map_aria", layer=layer, head=head),
        name=f"attention_layer{layer}_head{head}",
    )


def _measures(seen, layer, head):
    """What this head does, as numbers, and its place among all."""
    n = seen.last.shape[0] * seen.last.shape[1]
    rows = []
    for name, values in seen.scores.items():
        place = roles.rank(values, layer, head)
        value = html.number(float(values[layer, head]), 3)
        shown = "–" if place is None else str(place)
        rows.append([html.escape(every_sort.name(name)), value, shown])
    top = [words.html(f"{HERE}.table.{each}", n=n) for each in ("measure", "value", "place")]
    html.show(html.table(top, rows, "tw-measures"))
    words.caption(f"{HERE}.table.note")
