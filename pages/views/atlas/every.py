"""All heads: the attention maps of every head of every layer in one picture, sorted and filtered by
what heads do.
"""

import streamlit as st

from core.analyse import heads, roles, source
from pages import canvas
from pages.parts import charts, doors, html, inputs, run, session, terms, views, words
from pages.parts.html import Made, Token, percent
from pages.parts.views import Shown
from pages.parts.words import text
from pages.views.atlas import every_one, every_sort, writes
from viz.atlas import atlas

HERE = "atlas.every"
SCALES = ("open", "even", "whole")  # without the first token by root, without it, with it


def view(trace, position: int) -> Shown:
    """The field of maps, and the framed one."""
    seen = run.compute(heads.attention, trace)
    return Shown(
        lambda: _draw(trace, seen, position),
        _values(trace),
        lambda: _answer(trace, seen),
        source.of(heads.attention, heads.reduce_max, heads.n_sinks, heads.n_beyond),
        lambda: {"maps": seen.maps, "last_rows": seen.last, "peaks": seen.peaks, **seen.scores},
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
        "hard_head": _way(layer, head),
        "hard_key": Token(trace.tokens[key]),
        "hard_weight": f"{seen.last[layer, head, key]:.2f}",
    }


ANSWERS = ("n_spread", "sink_share", "hard_head", "hard_key", "hard_weight")


def _way(layer, head):
    """A head in a sentence, which a click opens."""
    named = words.html(f"{HERE}.to_one", layer=layer, head=head)
    return Made(terms.door(f'data-door="{layer} {head}"', named))


def _draw(trace, seen, position):
    scale = _scale()
    found = every_sort.choose(trace, seen, position)
    _field(trace, seen, scale, found, position)
    _sink(trace, seen, scale)
    framed = session.layer_and_head(trace.config)
    every_one.show(trace, seen, *framed, lambda: _open(*framed))
    _mute(trace, position, *framed)
    doors.show(HERE, "atlas.head", "atlas.effect", "atlas.roles")
    canvas.doors("atlas_ways", lambda said: _open(*map(int, said.split())))


def _mute(trace, position, layer, head):
    """What the framed head writes, and a way to the prediction without it."""
    with st.container(horizontal=True, key="atlas_mute", vertical_alignment="center"):
        with st.container(width="content"):
            writes.line(trace, position, layer, head)
        writes.to_effect("every", f"{HERE}.mute", layer=layer, head=head)


def _scale():
    """How the maps are coloured."""
    called = {"called": lambda each: text(f"{HERE}.scales.{each}")}
    return inputs.choice("scale", SCALES, key="atlas_scale", of=HERE, **called)


# ---- the field -----------------------------------------------------------------------------------


def _field(trace, seen, scale, found, position):
    c, whole = trace.config, scale == "whole"
    _caption(trace, seen, scale, found, position)
    if found and not found.shown:
        return run.notice(every_sort.why_none(found))
    payload = atlas(
        seen.maps if whole else seen.without_first(),
        framed=session.layer_and_head(c),
        labels=_labels(scale),
        shown=found and found.shown,
        names=found.names if found else (),
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
    _save(seen, found, c)


def _caption(trace, seen, scale, found, position):
    """What the picture shows, and on which scale."""
    parts = [words.html(f"{HERE}.said.{scale}", first=Token(trace.tokens[0]))]
    if found:
        parts.insert(0, every_sort.said(trace, position, found))
    if seen.block > 1:
        parts.append(words.html(f"{HERE}.blocks", block=seen.block, n=f"{len(trace.ids):,}"))
    html.show(f'<p class="tw-caption">{" ".join(parts)}</p>')


def _labels(scale):
    """The words of the field: of a head its number and what it does."""
    labels = words.table("atlas", "layer", "head", "reduced", "save_png")
    labels |= words.table(HERE, "tooltip", "selected", "aria", "cell", "cells")
    scores = [f"{every_sort.name(name)} {{{n}}}" for n, name in enumerate(roles.MEASURES)]
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


def _save(seen, found, config):
    """The numbers of the heads as a table, and the one that sorts them."""
    scores = seen.scores | ({found.by: found.values} if found else {})
    every = [(lay, h) for lay in range(config.n_layers) for h in range(config.n_heads)]
    columns = ("layer", "head", "kv_head", *scores)
    rows = [
        (lay, h, h // config.group, *(float(each[lay, h]) for each in scores.values()))
        for lay, h in (found.shown if found else every)
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
