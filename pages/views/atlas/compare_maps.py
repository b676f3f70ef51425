"""Two attention maps and their difference on the page: the chosen cell in all three, how alike the
maps are, and the rows in which they differ most.

Knows the comparison and the session; no maths.
"""

import streamlit as st

from core.analyse import sidebyside
from core.analyse.sidebyside import Cell
from pages import canvas
from pages.parts import inputs, panels, run, session, words
from pages.parts.html import Token
from pages.parts.words import text
from pages.views.atlas import compare_numbers
from pages.views.atlas.compare_sides import HERE, Side, Sides

SCALES = ("fixed", "largest")
HEIGHT = 420  # pixels of the cells of a map


def draw(trace, position: int, sides: Sides) -> None:
    """The three maps, the chosen cell in numbers, and the rows that differ most."""
    cell = _chosen(sides.found, position)
    if note := st.session_state.pop("beside_note", None):
        run.notice(note)
    with st.container(key="beside_maps"):
        for which, (column, side) in enumerate(zip(st.columns(2), sides.both, strict=True)):
            with column:
                _map(sides, side, which, cell, position)
    if not len(sides.found.at_first):
        return run.notice(words.html(f"{HERE}.nothing"))
    with st.container(key="beside_below"):
        left, right = st.columns(2)
    with left:
        _difference(sides, cell)
    with right:
        compare_numbers.draw(sides, position, cell)
    compare_numbers.rows(sides, cell)


def alone(side: Side) -> None:
    """The first map where there is no second one."""
    words.heading(f"{HERE}.named", name=side.name)
    _matrix("beside_first", side.map, _names(side), side.block, name=side.name)


# ---- the chosen cell -----------------------------------------------------------------------------


def _chosen(found, position) -> Cell | None:
    """The chosen cell: by default the largest difference of the chosen row. None where its token
    has no partner.
    """
    row, key = found.row(position), session.get("key_at")
    if row is None:
        return None
    column = found.column(row) if key is None else found.row(key)
    return None if column is None else found.cell(row, column)


def _on_map(sides, which, key):
    """A click on one of the two maps: its cell, or the strongest of its block."""

    def clicked():
        found = sides.found
        side = sides.both[which]
        at = sidebyside.behind(side.map, side.block, st.session_state[key]["cell"])
        if which == 0:
            return session.put(pos=at[0], key_at=at[1])
        rows = [found.row_second(each) for each in at]
        if None in rows:
            token = Token(sides.second.trace.tokens[at[rows.index(None)]])
            st.session_state["beside_note"] = words.html(f"{HERE}.only_second", token=token)
        else:
            sides.choose(*rows)

    return clicked


# ---- figures -------------------------------------------------------------------------------------


def _map(sides, side, which, cell, position):
    """One of the two maps."""
    key, at = ("beside_first", "beside_second")[which], None
    if cell is not None:
        at = sides.places(cell.row)[which], sides.places(cell.column)[which]
    elif which == 0 and session.get("key_at") is not None:
        at = position, session.get("key_at")
    words.heading(f"{HERE}.named", name=side.name)
    names, on_cell = _names(side), _on_map(sides, which, key)
    _matrix(key, side.map, names, side.block, name=side.name, selected=at, on_cell=on_cell)


def _difference(sides, cell):
    """A - B, and its scale."""
    found, key = sides.found, "beside_difference"
    words.heading(f"{HERE}.difference")
    scale = inputs.choice("scale", SCALES, key="beside_scale", of=HERE)
    words.caption(f"{HERE}.signs")
    block = sidebyside.block_of(len(found.at_first))

    def clicked():
        shown = st.session_state[key]["cell"]
        sides.choose(*sidebyside.behind(found.difference, block, shown))

    how = {"palette": "signed", "limit": 1.0 if scale == "fixed" else found.limit}
    how |= {"selected": cell and (cell.row, cell.column), "on_cell": clicked}
    n, numbered = len(found.at_first), sides.in_place
    names = _ranges(found.at_first, block) if block > 1 else [*map(sides.name, range(n))]
    name = text(f"{HERE}.difference")
    _matrix(key, found.difference, names, block, name=name, numbered=numbered, **how)


def _matrix(key, values, names, block, *, name, numbered=True, selected=None, on_cell=None, **how):
    """A map; a long one in blocks, and said so. numbered: whether a name's place is the token's
    position.
    """
    if block > 1:
        words.caption(f"{HERE}.reduced", block=block)
    shown = sidebyside.reduced(values, block)
    aria = text("matrix.aria", name=name, rows=len(shown), columns=len(shown))
    places = ("row", "column") if numbered and block == 1 else ()
    payload = panels.head_map(
        shown,
        names,
        aria=aria,
        name=key,
        labels=panels.cell_labels(aria, *places),
        selected=selected and tuple(each // block for each in selected),
        exact=block == 1,
        height=HEIGHT,
        **how,
    )
    canvas.matrix(payload, key=key, on_cell=on_cell)


def _names(side):
    """What the rows of a map are called."""
    tokens, block = side.trace.tokens, side.block
    return list(tokens) if block == 1 else _ranges(range(len(tokens)), block)


def _ranges(places, block):
    """What cells of several tokens are called: their first and last position."""
    parts = (places[first : first + block] for first in range(0, len(places), block))
    return [f"{part[0]}–{part[-1]}" if len(part) > 1 else f"{part[0]}" for part in parts]
