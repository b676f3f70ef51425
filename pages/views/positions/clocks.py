"""All pairs of a head as clocks: their hands at a position that the reader moves, and their speeds
as a table. Knows the session and core's rotation; no maths, no figures.
"""

import streamlit as st

from core.analyse import rotation
from pages import canvas
from pages.parts import charts, html, run, session, strip, words
from pages.parts.html import number
from pages.parts.views import Shown
from pages.parts.words import text
from viz.dials import MOVING, Dial, Hand, Slider, dials

TALL = 330  # pixels in height of a table that can be scrolled
LISTED = 8  # rows that are shown without scrolling
COLUMNS = ("pair", "dims", "frequency", "wavelength", "degrees", "turns")
CSV = ("pair", "dimension", "partner", "radians_per_token", "wavelength", "degrees", "turns")


def view(trace, position: int) -> Shown:
    """The view at the chosen token."""
    layer, head = session.layer_and_head(trace.config)
    n_pairs, values = rotation.pairs(trace, layer), {"layer": layer}
    if not n_pairs:
        values |= {"n_turning": rotation.turning_layers(trace.config)}
        still = words.html("positions.clocks.still", layer=layer)
        return Shown(lambda: run.notice(still), values)
    found = run.compute(rotation.clocks, trace, layer)
    last = trace.config.context - 1
    at = _position(position, last)
    values |= {"n_pairs": n_pairs, "rot_dim": 2 * n_pairs}
    values |= {"fastest": _tokens(found.fastest), "slowest": _tokens(found.slowest)}
    return Shown(
        lambda: _draw(trace, found, (layer, head, position), at, last),
        values,
        lambda: _answer(trace, found, last),
        rotation.code(trace, layer),
    )


def _position(position, last):
    """Where the hands stand: the place the reader moved to, else that of the chosen token."""
    if (session.get("at") or 0) > last:
        session.settle(at=None)
    return position if session.get("at") is None else session.get("at")


def _draw(trace, found, place, at, last):
    """The clocks, on demand with the hands of a real query. place: layer, head, position."""
    html.show(f'<p class="tw-panel-name">{words.html("positions.clocks.name")}</p>')
    real = st.toggle(text("positions.clocks.real"), key="real_hands")
    key = "real_caption" if real else "caption"
    values = dict(zip(("layer", "head", "position"), place, strict=True))
    html.show(f'<p class="tw-caption">{words.html(f"positions.clocks.{key}", **values)}</p>')
    if real:
        strip.show(trace, place[-1], key="clocks_strip")

    def on_position():
        session.put(at=st.session_state["clocks"]["position"])

    arrows = run.compute(rotation.hands, trace, *place) if real else None
    canvas.dials(_payload(trace, found, arrows, at, last), key="clocks", on_position=on_position)
    html.show(f'<p class="tw-caption">{_gone_round(trace, found)}</p>')
    _table(found)


def _payload(trace, found, arrows, at, last):
    n = len(found.frequencies)
    hands = [_hand(arrow) for arrow in arrows or [None] * n]
    lengths = [(number(arrow.length, 3),) for arrow in arrows or ()] or [()] * n
    waves = [_tokens(wavelength) for wavelength in found.wavelengths.tolist()]
    shown = [Dial(str(i), (hands[i],), (waves[i], *lengths[i])) for i in range(n)]
    slider = Slider(last, at, found.frequencies.tolist(), trace.tokens)
    labels = words.table("positions.clocks", "aria", *MOVING) | words.table("matrix", "save_png")
    return dials(shown, labels=labels, name="clocks", slider=slider)


def _hand(arrow):
    """A hand that starts at the right, or as a pair of a query points before it is turned."""
    return Hand(arrow.angle, 1.0, "query") if arrow else Hand(0.0, 1.0, "attention")


def _gone_round(trace, found):
    """How many pairs have gone round within the text, as HTML."""
    last, n = len(trace.ids) - 1, len(found.frequencies)
    values = {"last": last, "text": found.gone_round(last), "n": n}
    return words.html("positions.clocks.gone_round", **values)


def _table(found):
    """The speeds of all pairs."""
    html.show(f'<p class="tw-panel-name">{words.html("positions.clocks.table")}</p>')
    head = [words.html(f"positions.clocks.{name}") for name in COLUMNS]
    rows = _rows(found)
    shown = [
        [str(n), f"{first}, {second}", f"{f:.6g}", _tokens(wave), f"{degrees:.4g}", f"{turns:,.2f}"]
        for n, first, second, f, wave, degrees, turns in rows
    ]
    many = len(rows) > LISTED
    with st.container(height=TALL, border=False) if many else st.container():
        html.show(html.table(head, shown))
    charts.save("frequencies", CSV, rows)


def _rows(found):
    """Of each pair: number, its two dimensions, speed, wavelength, degrees, turns."""
    n = len(found.frequencies)
    numbers = (found.frequencies, found.wavelengths, found.degrees, found.turns)
    each = zip(*(values.tolist() for values in numbers), strict=True)
    return [(i, i, i + n, *row) for i, row in enumerate(each)]


def _tokens(wavelength):
    """A wavelength for reading."""
    return f"{wavelength:,.1f}" if wavelength < 100 else f"{wavelength:,.0f}"


def _answer(trace, found, last):
    """What the revealed answer names."""
    gone = found.gone_round(last)
    return {
        "n_less": len(found.frequencies) - gone,
        "n_gone": gone,
        "n_gone_text": found.gone_round(len(trace.ids) - 1),
        "slowest_turns": f"{found.turns.min():.3g}",
    }
