"""All heads: the attention maps of every head of every layer in one picture, sorted and filtered by
what heads do.
"""

import streamlit as st

from core.analyse import heads, roles, source
from pages import canvas
from pages.parts import charts, html, inputs, run, session, views, words
from pages.parts.html import Token, percent
from pages.parts.views import Shown
from pages.parts.words import text
from pages.views.atlas import every_one
from viz.atlas import atlas

HERE = "atlas.every"
SCALES = ("open", "even", "whole")  # without the first token by root, without it, with it
ORDER = "model"  # of the maps, where no measure sorts them
KINDS = ("few", "low", "limit", "all")  # which of the sorted maps are shown
FEW = 24  # maps that are large enough to read side by side
LIMIT = 0.5  # of a measure, where the reader has given none


def view(trace, position: int) -> Shown:
    """The field of maps, and the framed one."""
    seen = run.compute(heads.attention, trace)
    return Shown(
        lambda: _draw(trace, seen),
        _values(trace),
        lambda: _answer(trace, seen),
        source.of(heads.attention, heads.reduce_max, heads.n_sinks, heads.n_beyond),
        lambda: {"maps": seen.maps, "last_rows": seen.last, **seen.scores},
    )


def _values(trace):
    """What the lesson's sentences may name."""
    layer, head = session.layer_and_head(trace.config)
    n = trace.config.n_layers * trace.config.n_heads
    return {"n_all_heads": n, "layer": layer, "head": head}


def _answer(trace, seen):
    """How the heads of this run look at its last token's row."""
    layer, head, key = heads.hardest(seen.last)
    n = trace.config.n_layers * trace.config.n_heads
    sinks, beyond = heads.n_sinks(seen.last), heads.n_beyond(seen.last)
    if len(trace.ids) == 1:
        return dict.fromkeys(ANSWERS, "–") | {"n_sink_heads": sinks, "n_beyond": beyond}
    return {
        "n_sink_heads": sinks,
        "sink_share": percent(heads.sink_share(seen.last)),
        "n_beyond": beyond,
        "n_spread": n - sinks - beyond,
        "hard_layer": layer,
        "hard_head": head,
        "hard_key": Token(trace.tokens[key]),
        "hard_weight": f"{seen.last[layer, head, key]:.2f}",
    }


ANSWERS = ("n_spread", "sink_share", "hard_layer", "hard_head", "hard_key", "hard_weight")


def _draw(trace, seen):
    scale, by, shown = _controls(seen)
    _field(trace, seen, scale, by, shown)
    _sink(trace, seen, scale)
    framed = session.layer_and_head(trace.config)
    every_one.show(trace, seen, *framed, lambda: _open(*framed))


# ---- the controls --------------------------------------------------------------------------------


def _controls(seen):
    """Scale and order of the maps, and which of them are shown, in order; None: all, as a grid."""
    with st.container(horizontal=True, key="atlas_controls", vertical_alignment="bottom"):
        names = {"called": lambda each: text(f"{HERE}.scales.{each}")}
        scale = inputs.choice(
            "scale", SCALES, key="atlas_scale", label=text(f"{HERE}.scale"), **names
        )
        by = _by()
    return scale, by, None if by == ORDER else _shown(seen.scores[by])


def _by():
    """What the maps are sorted by."""
    options, key = (ORDER, *roles.MEASURES), "atlas_by"
    now = session.chosen("by", options)
    st.session_state[key] = now

    def pick():
        by = st.session_state[key]
        session.put(by=None if by == ORDER else by, ask=None)

    names = {ORDER: text(f"{HERE}.in_order")} | {
        name: every_one.measure(name) for name in roles.MEASURES
    }
    how = {"format_func": names.__getitem__, "key": key, "on_change": pick, "width": 260}
    st.selectbox(text(f"{HERE}.by"), options, **how)
    return now


def _shown(values):
    """The heads that are shown of all, sorted by these numbers."""
    with st.container(horizontal=True, key="atlas_kinds", vertical_alignment="bottom"):
        names = {"called": lambda each: text(f"{HERE}.kinds.{each}", n=FEW)}
        kind = inputs.choice("kind", KINDS, key="atlas_kind", label=text(f"{HERE}.kind"), **names)
        limit = _limit() if kind == "limit" else None
    order = roles.ranked(values, "smallest" if kind == "low" else "largest")
    if kind == "limit":
        return roles.at_least(values, order, limit)
    return order if kind == "all" else order[:FEW]


def _limit():
    """The least number of a map that is shown; a link holds it as it was typed."""
    key = "atlas_limit"
    typed = session.typed("ask", 12) or ""
    number = typed.replace(".", "", 1).isascii() and typed.replace(".", "", 1).isdigit()
    st.session_state[key] = min(float(typed), 1e6) if number else LIMIT

    def put():
        session.put(ask=f"{st.session_state[key]:g}")

    st.number_input(
        text(f"{HERE}.limit"), 0.0, 1e6, key=key, step=0.1, format="%g", on_change=put, width=140
    )
    return st.session_state[key]


# ---- the field -----------------------------------------------------------------------------------


def _field(trace, seen, scale, by, shown):
    c, whole = trace.config, scale == "whole"
    _caption(trace, seen, scale, by, shown)
    if shown == []:
        return run.notice(words.html(f"{HERE}.{'none' if roles.defined(seen.scores[by]) else 'undefined'}"))
    values = None if shown is None else seen.scores[by]
    names = [] if shown is None else [f"{lay}·{h}  {values[lay, h]:.2f}" for lay, h in shown]
    payload = atlas(
        seen.maps if whole else seen.without_first(),
        framed=session.layer_and_head(c),
        labels=_labels(scale),
        shown=shown,
        names=names,
        first=whole,
        root=scale == "open",
        block=seen.block,
        windows=seen.windows,
        group=c.group,
        scores=seen.table(),
        tokens=trace.tokens,
        opens=True,
    )
    canvas.atlas(payload, "atlas_field", on_head=_framed, on_open=_opened)
    _save(seen, shown, c)


def _caption(trace, seen, scale, by, shown):
    """What the picture shows, and on which scale."""
    n = trace.config.n_layers * trace.config.n_heads
    parts = [words.html(f"{HERE}.said.{scale}", first=Token(trace.tokens[0]))]
    if shown is not None:
        values = {"n": len(shown), "n_heads": n, "name": every_one.measure(by)}
        parts.insert(0, words.html(f"{HERE}.sorted", **values))
    if seen.block > 1:
        parts.append(words.html(f"{HERE}.blocks", block=seen.block, n=f"{len(trace.ids):,}"))
    html.show(f'<p class="tw-caption">{" ".join(parts)}</p>')


def _labels(scale):
    """The words of the field: of a head its number and what it does."""
    labels = words.table("atlas", "layer", "head", "reduced", "save_png")
    labels |= words.table(HERE, "tooltip", "selected", "aria", "cell", "cells")
    scores = [f"{every_one.measure(name)} {{{n}}}" for n, name in enumerate(roles.MEASURES)]
    lines = [" · ".join(scores[n : n + 2]) for n in range(0, len(scores), 2)]
    return labels | {"scores": "\n".join(lines), "scale": text(f"{HERE}.legend.{scale}")}


def _framed():
    """A map was reached by arrow key: it is the chosen head."""
    layer, head = st.session_state["atlas_field"]["head"]
    session.put(at_layer=layer, at_head=head)


def _opened():
    """A map was clicked: on to the view of that head."""
    _open(*st.session_state["atlas_field"]["open"])


def _open(layer, head):
    session.put(at_layer=layer, at_head=head)
    views.go("atlas", "every", "head")


def _save(seen, shown, config):
    """The numbers of all heads as a table."""
    every = [(lay, h) for lay in range(config.n_layers) for h in range(config.n_heads)]
    columns = ("layer", "head", "kv_head", *seen.scores)
    rows = [
        (lay, h, h // config.group, *(float(each[lay, h]) for each in seen.scores.values()))
        for lay, h in (every if shown is None else shown)
    ]
    charts.save("heads", columns, rows)


# ---- the first token -----------------------------------------------------------------------------


def _sink(trace, seen, scale):
    """How many heads park on the first token, why, and what follows for who reads maps."""
    first = Token(trace.tokens[0])
    if len(trace.ids) == 1:
        return run.notice(words.html(f"{HERE}.sink.alone", first=first))
    values = {"first": first, "last": Token(trace.tokens[-1]), "n": heads.n_sinks(seen.last)}
    values |= {"n_heads": trace.config.n_layers * trace.config.n_heads}
    values |= {"share": percent(heads.sink_share(seen.last))}
    short = html.number(run.compute(heads.first_value, trace), 2)
    said = words.html(f"{HERE}.sink.{'count' if values['n'] else 'nobody'}", **values)
    title, why = words.html(f"{HERE}.sink.title"), words.html(f"{HERE}.sink.why", length=short)
    html.show(
        f'<div class="tw-sink"><p>{said}</p><details><summary>{title}</summary>'
        f"{html.paragraphs(why)}</details></div>"
    )
    with st.container(horizontal=True, key="atlas_sink_doors"):
        door = {"type": "tertiary"}
        if scale != "whole":
            _button("sink.show", lambda: session.put(scale="whole"), **door)
        _button("sink.effect", lambda: views.go("atlas", "every", "effect"), **door)


def _button(name, press, **how):
    st.button(text(f"{HERE}.{name}"), key=f"atlas_{name}", on_click=press, **how)
