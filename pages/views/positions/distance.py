"""Positions, distance: a query and a key of the run, put at any positions and turned again."""

import streamlit as st

from core.analyse import distance, source
from pages import canvas
from pages.parts import charts, explanation, html, run, session, style, words
from pages.parts.html import Token, number
from pages.parts.views import Shown
from pages.parts.words import text
from viz import figure, offsets
from viz.tokens import token_strip

REACH = 256  # positions to try, where the model's context has as many
SHORT = 32  # distances that are drawn at first, or the whole prompt
PAIRS = 6  # pairs that are listed
HERE = "positions.distance"


def view(trace, position: int) -> Shown:
    """The query of the chosen token, and a key before it."""
    layer, head = session.layer_and_head(trace.config)
    key = _key(trace, layer, head, position)
    met = run.compute(distance.meeting, trace, layer, head, position, key)
    first, last = distance.NEAR
    values = {"query_token": Token(trace.tokens[position]), "key_token": Token(trace.tokens[key])}
    values |= {"layer": layer, "head": head, "near_first": first, "near_last": last}
    code = source.of(distance.waves, distance.Meeting)
    return Shown(lambda: _draw(trace, met, layer), values, lambda: _answer(trace, met), code)


def _key(trace, layer, head, query):
    """The chosen key, if it does not stand behind the query; else one that tells something."""
    chosen = session.below("cell", query + 1)
    return run.compute(distance.key_to_try, trace, layer, head, query) if chosen is None else chosen


def _answer(trace, met):
    """How many heads score nearer keys higher, and what this one does."""
    falling, here = run.compute(distance.falling_heads, trace, met.query, met.key), met.near
    return {
        "n_falling": sum(falling.values()),
        "n_turning": len(falling),
        "best": here.best,
        "best_score": number(here.best_score),
    }


def _draw(trace, met, layer):
    _pick(trace, met)
    if not met.rope:
        learned = trace.config.learned_positions
        run.notice(words.html(f"{HERE}.{'learned' if learned else 'unturned'}"))
        if learned:  # its positions are inside q and k already
            return
    last = min(trace.config.context, max(REACH, 2 * len(trace.ids))) - 1
    at, key_at = _places(met, last)
    _controls(met, at, key_at, last)
    _curve(trace, met, at - key_at, last, layer)
    with st.container(key="distance_below"):
        left, right = st.columns(2, gap="medium")
    with left:
        _sums(met, at, key_at)
    with right:
        _pairs(met, at - key_at)


def _pick(trace, met):
    """Two strips: whose query, whose key."""

    def query(chosen):
        session.put(pos=chosen, cell=None, at=None, key_at=None)

    def key(chosen):
        session.put(cell=chosen, at=None, key_at=None)

    with st.container(key="distance_pick"):
        left, right = st.columns(2, gap="medium")
    with left:
        _strip(trace, "query", met.query, len(trace.ids), query)
    with right:
        _strip(trace, "key", met.key, met.query + 1, key)


def _strip(trace, role, chosen, n, choose):
    """The first n tokens to choose from; the chosen one in the colour of its role."""
    words.heading(f"{HERE}.{role}", position=chosen, token=Token(trace.tokens[chosen]))
    key, control = f"distance_{role}", set(trace.model.tokenizer.special.values())
    payload = token_strip(
        trace.tokens[:n],
        trace.ids[:n],
        selected=chosen,
        roles=[role if i == chosen else None for i in range(n)],
        special=[id in control for id in trace.ids[:n]],
        labels={"aria": text(f"{HERE}.{role}_aria"), "token": text("strip.token")},
    )
    canvas.tokens(payload, key, lambda: choose(st.session_state[key]["position"]))


def _places(met, last):
    """Where both are put: as chosen, where that can be; else where they stand."""
    at, key_at = session.get("at"), session.get("key_at")
    if at is None or key_at is None or not key_at <= at <= last:
        session.settle(at=None, key_at=None)
        return met.query, met.key
    return at, key_at


def _controls(met, at, key_at, last):
    """Two sliders, and back. The key that is moved stays chosen in other heads, too."""
    left, right, back = st.columns([3, 3, 1], vertical_alignment="center")
    apart = at - key_at
    with left:
        _slider("both", at, apart, last, lambda to: _put(met, to, to - apart))
    with right:
        _slider("one", key_at, 0, at, lambda to: _put(met, at, to))
    back.button(
        text(f"{HERE}.back"),
        key="distance_back",
        on_click=lambda: session.put(at=None, key_at=None),
        disabled=(at, key_at) == (met.query, met.key),
        help=text(f"{HERE}.back_help"),
        type="tertiary",
    )


def _put(met, at, key_at):
    session.put(at=at, key_at=key_at, cell=met.key)


def _slider(name, value, first, last, move):
    """A position from `first` to `last`; at rest where there is only one."""
    key = f"distance_{name}"
    st.session_state[key] = value
    st.slider(
        text(f"{HERE}.{name}"),
        first,
        max(last, first + 1),
        key=key,
        on_change=lambda: move(st.session_state[key]),
        disabled=first >= last,
        help=text(f"{HERE}.{name}_help"),
    )


def _curve(trace, met, tried, last, layer):
    """The score at every distance, with the one that is tried; on demand those of other heads."""
    words.heading(f"{HERE}.curve")
    window = trace.config.windows[layer]
    short = min(last, max(SHORT, len(trace.ids), tried))
    far = st.session_state.get("distance_far", False)
    distances = range((last if far else short) + 1)
    scores, real = met.waves.scores(distances), met.distance
    others = _others(trace, met, layer, distances)
    marked = text(f"{HERE}.here", distance=tried, score=number(float(scores[tried])))
    drawn = offsets.offsets(
        scores,
        tried=offsets.Mark(tried, marked),
        real=offsets.Mark(real, text(f"{HERE}.real", distance=real)) if tried != real else None,
        title=text(f"{HERE}.score_axis"),
        distance_title=text(f"{HERE}.distance_axis"),
        hover=text(f"{HERE}.hover", x="%{x}", y="%{y:.4f}"),
        others=[(text(f"{HERE}.other_head", head=head), curve) for head, curve in others],
        hidden=(window, text(f"{HERE}.hidden", window=window)) if window else None,
        dark=style.dark(),
    )
    settings, alt = figure.saving("score_by_distance"), text(f"{HERE}.alt", last=len(scores) - 1)
    st.plotly_chart(drawn, key="distance_curve", config=settings, alt=alt)
    _slope(met)
    heads = ("distance", "score", *(f"head {head}" for head, _ in others))
    rows = list(zip(distances, scores.tolist(), *(c.tolist() for _, c in others), strict=True))
    with st.container(horizontal=True, vertical_alignment="center"):
        if short < last:
            st.toggle(text(f"{HERE}.far", last=last), key="distance_far")
        if trace.config.n_heads > 1:
            st.toggle(text(f"{HERE}.others", layer=layer), key="distance_others")
        charts.save("score_by_distance", heads, rows)


def _others(trace, met, layer, distances):
    """Of every other head of the layer, where they are asked for: its number and its scores."""
    if not st.session_state.get("distance_others"):
        return []
    found = run.compute(distance.heads, trace, layer, met.query, met.key).scores(distances)
    return [(head, curve) for head, curve in enumerate(found) if head != met.head]


def _slope(met):
    """Whether this head scores nearer keys higher."""
    first, last = distance.NEAR
    span = {"first": first, "last": last}
    rise = met.near.rise
    if not met.rope:
        return words.caption(f"{HERE}.flat")
    if rise is None:
        return words.caption(f"{HERE}.falls", **span)
    return words.caption(f"{HERE}.rises", **span, rise=rise, next=rise + 1)


def _sums(met, at, key_at):
    """The score turned again, beside the recorded one; equal where the distance is the same."""
    score, same = met.score(at, key_at), at - key_at == met.distance
    words.heading(f"{HERE}.again")
    again = words.html(f"{HERE}.turned", at=at, key_at=key_at, distance=at - key_at)
    own = {"at": met.query, "key_at": met.key, "distance": met.distance}
    recorded = words.html(f"{HERE}.recorded", **own)
    lines = [(again, number(score)), (f"<b>{recorded}</b>", f"<b>{number(met.recorded)}</b>")]
    change = score - met.recorded
    if same:
        below = explanation.verdict(abs(change) <= met.tolerance, change, met.tolerance)
    else:
        lines.append((words.html(f"{HERE}.change"), number(change)))
        below = ""
    html.show(explanation.sums(lines, below))
    words.caption(f"{HERE}.{'same' if same else 'other'}")


def _pairs(met, tried):
    """The pairs that weigh most at the distance that is tried, and how they add up."""
    w = met.waves
    listed, rest = distance.shares(w, tried, PAIRS)
    words.heading(f"{HERE}.pairs", distance=tried)
    if listed:
        words.caption(f"{HERE}.product")
        names = ("pair", "wavelength", "size", "cosine", "value", "running")
        head = [words.html(f"{HERE}.col_{name}") for name in names]
        table = html.table(head, [_row(s) for s in listed])
        html.show(html.scroll(table, text(f"{HERE}.pairs", distance=tried)))
    total = float(w.scores([tried])[0])
    lines = [(words.html(f"{HERE}.rest"), number(rest, 3))] if listed else []
    if float(w.constant) or not listed:
        lines.append((words.html(f"{HERE}.constant"), number(float(w.constant), 3)))
    lines.append((f"<b>{words.html(f'{HERE}.total')}</b>", f"<b>{number(total, 3)}</b>"))
    html.show(explanation.sums(lines, ""))


def _row(share):
    """One pair as cells."""
    numbers = (share.size, share.cosine, share.value, share.running)
    return [str(share.pair), html.wavelength(share.wavelength), *(number(n, 3) for n in numbers)]
