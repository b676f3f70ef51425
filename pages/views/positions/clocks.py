"""All pairs of a head as clocks: their hands at a position that the reader moves, and their speeds
as a table. Knows the session and core's rotation; no maths, no figures.
"""

import streamlit as st

from core.analyse import rotation
from pages import canvas
from pages.parts import charts, html, run, session, strip, words
from pages.parts.html import number
from pages.parts.views import Shown, go
from pages.parts.words import text
from viz.dials import MOVING, Dial, Hand, Slider, dials

HERE = "positions.clocks"
NEAR = 64  # positions that the slider spans at least; of a text, a few times its length
LISTED = 12  # rows that are shown without scrolling
COLUMNS = ("pair", "dims", "frequency", "wavelength", "degrees", "turns")
CSV = ("pair", "dimension", "partner", "radians_per_token", "wavelength", "degrees", "turns")


def view(trace, position: int) -> Shown:
    """The view at the chosen token."""
    layer, head = session.layer_and_head(trace.config)
    n_pairs, values = rotation.pairs(trace, layer), {"layer": layer}
    if not n_pairs:
        values |= {"n_turning": rotation.turning_layers(trace.config)}
        still = words.html(f"{HERE}.still", layer=layer)
        return Shown(lambda: run.notice(still), values)
    found = run.compute(rotation.clocks, trace, layer)
    last = trace.config.context - 1
    chosen = session.below("at", last + 1)
    at = position if chosen is None else chosen
    values |= {"n_pairs": n_pairs, "rot_dim": 2 * n_pairs}
    values |= {"fastest": html.wavelength(found.fastest)}
    values |= {"slowest": html.wavelength(found.slowest)}
    return Shown(
        lambda: _draw(trace, found, (layer, head, position), at, last),
        values,
        lambda: _answer(trace, found, last),
        rotation.code(trace, layer),
    )


def _draw(trace, found, place, at, last):
    """The clocks, on demand with the hands of a real query. place: layer, head, position."""
    words.heading(f"{HERE}.name")
    with st.container(horizontal=True):
        real = st.toggle(text(f"{HERE}.real"), key="real_hands")
        reach = _reach(len(trace.ids), at, last)
    values = dict(zip(("layer", "head", "position"), place, strict=True))
    words.caption(f"{HERE}.{'real_caption' if real else 'caption'}", **values)
    if real:
        strip.show(trace, place[-1], key="clocks_strip")

    def on_position():
        session.put(at=st.session_state["clocks"]["position"])

    def on_dial():
        _turn(st.session_state["clocks"]["dial"], len(trace.ids))

    arrows = run.compute(rotation.hands, trace, *place) if real else None
    payload = _payload(trace, found, arrows, at, reach)
    canvas.dials(payload, key="clocks", on_position=on_position, on_dial=on_dial)
    end = len(trace.ids) - 1
    n, gone = len(found.frequencies), found.gone_round(end)
    words.caption(f"{HERE}.gone_round", last=end, text=gone, n=n)
    _table(found)


def _reach(n_tokens, at, last):
    """The last position of the slider: near the text, where single tokens can be met with a mouse,
    or on demand that of the context. A place farther off demands it.
    """
    near, key = max(NEAR, 4 * n_tokens) - 1, "whole_context"
    if near >= last:
        return last
    if at > near:
        st.session_state[key] = True

    def switched():
        if at > near:
            session.put(at=None)

    whole = st.toggle(text(f"{HERE}.whole", last=last), key=key, on_change=switched)
    return last if whole else near


def _turn(clicked, n_tokens):
    """Go to the view of one pair, and to where the hands stand, if the text has a token there."""
    go("positions", "clocks", "rotation")
    here = {"pos": clicked["position"]} if clicked["position"] < n_tokens else {}
    session.put(cell=clicked["index"], **here)


def _payload(trace, found, arrows, at, reach):
    n = len(found.frequencies)
    hands = [_hand(arrow) for arrow in arrows or [None] * n]
    lengths = [(number(arrow.length, 3),) for arrow in arrows or ()] or [()] * n
    waves = [html.wavelength(wavelength) for wavelength in found.wavelengths.tolist()]
    shown = [Dial(str(i), (hands[i],), (waves[i], *lengths[i])) for i in range(n)]
    slider = Slider(reach, at, found.frequencies.tolist(), trace.tokens)
    labels = words.table(HERE, "aria", *MOVING) | words.table("matrix", "save_png")
    return dials(shown, labels=labels, name="clocks", slider=slider)


def _hand(arrow):
    """A hand that starts at the right, or as a pair of a query points before it is turned."""
    return Hand(arrow.angle, 1.0, "query") if arrow else Hand(0.0, 1.0, "attention")


def _table(found):
    """The speeds of all pairs."""
    words.heading(f"{HERE}.table")
    head = [words.html(f"{HERE}.{name}") for name in COLUMNS]
    rows = _rows(found)
    table = html.table(head, [_cells(*row) for row in rows])
    many = "tw-speeds" if len(rows) > LISTED else ""
    html.show(html.scroll(table, text(f"{HERE}.table"), many))
    charts.save("frequencies", CSV, rows)


def _rows(found):
    """Of each pair: number, its two dimensions, speed, wavelength, degrees, turns."""
    n = len(found.frequencies)
    numbers = (found.frequencies, found.wavelengths, found.degrees, found.turns)
    each = zip(*(values.tolist() for values in numbers), strict=True)
    return [(i, i, i + n, *row) for i, row in enumerate(each)]


def _cells(pair, first, second, frequency, wavelength, degrees, turns):
    """One pair as cells."""
    numbers = (f"{frequency:.6g}", html.wavelength(wavelength), f"{degrees:.4g}", f"{turns:,.2f}")
    return [str(pair), f"{first}, {second}", *numbers]


def _answer(trace, found, last):
    """What the revealed answer names."""
    gone = found.gone_round(last)
    return {
        "n_less": len(found.frequencies) - gone,
        "n_gone": gone,
        "n_gone_text": found.gone_round(len(trace.ids) - 1),
        "slowest_turns": f"{found.turns.min():.3g}",
    }
