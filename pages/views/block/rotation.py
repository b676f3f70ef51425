"""A row of a query or key before and after its rotation, and the pair that holds the chosen number.

Knows the session and core's rotation; no maths.
"""

import streamlit as st

from core.analyse import explain, rotation, turned
from pages import canvas
from pages.parts import html, journey, run, session, walk, words
from pages.parts.html import number, wavelength
from pages.parts.words import text
from pages.views.block import whole
from pages.views.positions import rotation as positions
from viz.dials import dials

HERE = "block.rotation"
ROLES = {"attn.q_rot": "query", "attn.k_rot": "key"}


def draw(step) -> None:
    """The row before and after, how far each pair stands round, and one pair with its numbers."""
    if step.together:
        whole.output(step)
        words.caption(f"{HERE}.together")
        return
    made = run.compute(turned.turned, step.trace, step.view)
    _rows(step, made)
    _length(step, made)
    if made.dims:
        _pair(step, made)
    else:
        words.caption(f"{HERE}.passes", dim=step.column, **_values(step))
    _pairs(step, made)


def _values(step):
    """What the sentences name."""
    turns = rotation.pairs(step.trace, step.layer)
    size = step.config.head_dim
    values = {"position": step.position, "n_pairs": turns, "head_dim": size, "last": size - 1}
    return values | {"n_turning": 2 * turns, "n_still": size - 2 * turns}


# ---- before, angle, after ------------------------------------------------------------------------


def _rows(step, made):
    """The three strips, number below number."""
    values = _values(step)
    _strip(step, made.before, f"before_{step.id}", text(f"{HERE}.before"))
    name = text(f"{HERE}.turns", position=step.position)
    still = text(f"{HERE}.still")
    _strip(step, made.parts, f"turns_{step.id}", name, masked=still)
    _strip(step, made.after, f"output_{step.id}", "")
    if step.position == 0:
        words.caption(f"{HERE}.nothing_turns", **values)
    if made.n_turning < step.config.head_dim:
        words.caption(f"{HERE}.partial", **values)


def _strip(step, panel, key, name, **drawn):
    """A strip whose cells choose the number of the output."""

    def on_cell():
        session.put(cell=session.get(key)["cell"][1], cell_axis=walk.column_axis(step.id))

    whole.show(step, panel, key=key, on_cell=on_cell, name=name, **drawn)


def _length(step, made):
    """Turning changes no length, unless a scaling multiplies it."""
    before, after = made.lengths
    values = {"before": number(before), "after": number(after), "n": made.n_turning}
    key = "length" if made.amplitude == 1 else "length_scaled"
    sign = "✓" if made.agreement.equal else "✗"
    said = words.html(f"{HERE}.{key}", **values, amplitude=number(made.amplitude))
    html.show(f'<p class="tw-caption">{sign} {said}</p>')


# ---- the chosen pair -----------------------------------------------------------------------------


def _pair(step, made):
    """The chosen number and its partner: as an arrow, and with the operands."""
    values = {"first": made.dims[0], "second": made.dims[1], "pair": made.dims[0]}
    words.heading(f"{HERE}.pair", **values)
    role = ROLES[step.id]
    place = (step.layer, step.head, step.position, made.dims[0])
    pair = run.compute(rotation.pair, step.trace, role, *place)
    (hand,) = (hand for hand in made.hands if hand.pair == made.dims[0])
    labels = {"aria": text(f"{HERE}.aria", **values)} | words.table("matrix", "save_png")
    dial = positions.dial(pair, hand.angle)
    name = step.file("rotation", f"pair{made.dims[0]}")
    canvas.dials(dials([dial], labels=labels, name=name), key=f"dial_{step.id}")
    html.show(_operands(step, made, pair))
    if st.button(text(f"{HERE}.door"), key="rotation_door", type="tertiary"):
        journey.go("positions", cell=made.dims[0])


def _operands(step, made, pair):
    """Both numbers: before, the two products, after."""
    head = [words.html(f"{HERE}.{key}") for key in ("number", "was", "own", "partner", "is")]
    position, at, dim = step.view.index
    rows, marks = [], []
    for each in made.dims:
        place = (position, at, each)
        e = run.compute(explain, step.trace, step.id, step.layer, place)
        own, other = e.term(0), e.term(1)
        sign = "✓" if e.equal else "✗"
        rows.append([
            positions.named(pair, each),
            number(own.operands[0].value),
            number(own.value),
            number(other.value),
            f"<b>{number(e.recorded)}</b> {sign}",
        ])  # fmt: skip
        marks.append(' class="tw-here"' if each == dim else "")
    return html.scroll(html.table(head, rows, "mono", marks), text(f"{HERE}.operands"))


# ---- some pairs ----------------------------------------------------------------------------------


def _pairs(step, made):
    """From the first pair to the last: how fast each turns, and how far it is here."""
    words.heading(f"{HERE}.speeds", **_values(step))
    keys = ("pair_head", "dims", "wavelength", "angle", "in_turns")
    head = [words.html(f"{HERE}.{key}") for key in keys]
    rows, marks = [], []
    for hand in made.hands:
        turns = f"{rotation.turns(hand.angle):.3g}"
        dims = " · ".join(map(str, hand.dims))
        rows.append([str(hand.pair), dims, wavelength(hand.wavelength), f"{hand.angle:.4g}", turns])
        here = made.dims and hand.pair == made.dims[0]
        marks.append(' class="tw-here"' if here else "")
    table = html.table(head, rows, "mono tw-speeds", marks)
    html.show(html.scroll(table, text(f"{HERE}.speeds", **_values(step))))
