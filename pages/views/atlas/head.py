"""One head: its map of scores, weights or what is read, the chosen cell in words, the row of the
chosen query, and the heads that share its keys and values.

Knows core's map of a head and words; no maths.
"""

import streamlit as st

from core.analyse import headmap, source
from pages.parts import doors, inputs, run, session, words
from pages.parts.html import Token, number, percent
from pages.parts.views import Shown
from pages.views.atlas import head_cell, head_maps, head_row, head_shared, writes

HERE = "atlas.head"
SCALES = ("fixed", "log", "row", "rest")  # how the colours of weights run; the first is the default


def view(trace, position: int) -> Shown:
    """The chosen head around the cell of the chosen query and key."""
    layer, head = session.layer_and_head(trace.config)
    found = run.compute(headmap.head_map, trace, layer, head)
    chosen = session.below("key_at", len(trace.ids))
    key = found.telling(position) if chosen is None else chosen
    code = (headmap.head_map, headmap.read_of, headmap.HeadMap, headmap.without_first)
    return Shown(
        lambda: _draw(trace, found, position, key),
        {"layer": layer, "head": head},
        lambda: run.compute(_answer, trace, found, position),
        source.of(*code),
        found.arrays,
    )


def _answer(trace, found, position):
    """Whether the key that is looked at most is the one most is read from, here and at the first
    token.
    """
    here, first = headmap.row(trace, found, position), headmap.first_token(found)
    return {
        "looked": Token(trace.tokens[here.looked]),
        "looked_at": here.looked,
        "weight": number(here.weight),
        "read": Token(trace.tokens[here.read]),
        "read_at": here.read,
        "part": percent(here.part),
        "first_weight": percent(first[0]),
        "first_part": percent(first[1]),
    }


def _draw(trace, found, position, key):
    with st.container(horizontal=True, key="head_controls", gap="medium"):
        kinds = tuple(kind for kind in head_maps.KINDS if kind != "capped" or _caps(found))
        kind = inputs.choice("kind", kinds, key="head_kind", of=HERE)
        scale = _scale() if kind in ("weights", "carried") else ""
    head_maps.show(trace, found, (position, key), kind, scale)
    head_cell.show(trace, found, position, key)
    head_row.show(trace, found, position, key, kind == "carried")
    words.heading(f"{HERE}.helps")
    writes.line(trace, position, found.layer, found.head)
    writes.switch(trace, position, found.layer, found.head)
    head_shared.show(trace, found)
    doors.show(HERE, "atlas.effect", "atlas.compare", "atlas.roles")


def _caps(found):
    return found.capped is not None


def _scale():
    return inputs.choice("scale", SCALES, key="head_scale", of=HERE)
