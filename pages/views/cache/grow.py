"""The KV cache while the text grows: every step writes a column and reads all of them."""

import streamlit as st

from core.analyse import growing, source
from core.analyse.cachesize import CacheSize, cache_size
from pages import canvas
from pages.parts import doors, inputs, run, session, words
from pages.parts.views import Shown
from pages.parts.words import text
from pages.views.cache import memory, units
from viz.growing import LABELS, Step
from viz.growing import growing as strips

HERE = "cache.grow"
FIRST, WIDEST = 8, 64  # new tokens, and positions that are shown
KINDS = ("keys", "values")


def view(trace, position: int) -> Shown:
    """The run, continued, and the size of what it keeps."""
    growth = run.compute(growing.grow, trace, _n_new())
    kind = session.chosen("kind", KINDS)
    layer, head = session.layer_and_head(trace.config)
    place = layer, head // trace.config.group
    here = cache_size(trace.config)
    return Shown(
        lambda: _draw(trace, growth, kind, place),
        {"per_token": f"{here.per_token:,}", "n_grown": len(growth.ids) - growth.n_prompt},
        lambda: _answer(trace, here),
        source.of(growing._continue, growing._grow, growing._same),
        lambda: _arrays(growth, place),
    )


def _n_new():
    """How many tokens the text grows by: a setting that all pages share, but not as many here."""
    asked = session.get("max_new_tokens") or ""
    n = int(asked) if str(asked).isascii() and str(asked).isdigit() else FIRST
    return min(max(n, 1), growing.MOST)


def _answer(trace, here: CacheSize):
    """At which length the cache is as large as the weights."""
    weights = growing.weight_bytes(trace.model)
    n = growing.as_large(trace.model)
    fits = "inside" if n <= trace.config.context else "beyond"
    return {
        "weights": units.size(weights),
        "n_tokens_equal": f"{n:,}",
        "whole": units.size(here.of(trace.config.context)),
        "fits": text(f"{HERE}.{fits}"),
    }


def _arrays(growth, place):
    told = {"ids": growth.ids, "n_prompt": growth.n_prompt}
    told |= {"key_lengths": growth.key_lengths, "value_lengths": growth.value_lengths}
    return told | {f"head_{kind}": growth.rows(kind, *place) for kind in KINDS}


# ---- figures -------------------------------------------------------------------------------------


def _draw(trace, growth, kind, place):
    with st.container(horizontal=True, vertical_alignment="bottom", key="grow_controls"):
        inputs.choice("kind", KINDS, key="grow_kind", of=HERE)
        key = "grow_tokens"
        st.session_state[key] = _n_new()
        put = {"on_change": lambda: session.put(max_new_tokens=str(st.session_state[key]))}
        st.number_input(text(f"{HERE}.n_new"), 1, growing.MOST, key=key, width=150, **put)
    if growth.stop != "limit":
        n = len(growth.ids) - growth.n_prompt
        run.notice(words.html(f"{HERE}.stop_{growth.stop}", n=n))
    _strips(trace, growth, kind, place)
    words.caption(f"{HERE}.greedy")
    doors.show(HERE, "loop.text")
    memory.show(trace, growth)


def _strips(trace, growth, kind, place):
    """The last positions of the text; said, where there are more."""
    n, key = len(growth.ids), "grow_strips"
    first = max(0, n - WIDEST)
    if first:
        words.caption(f"{HERE}.bounded", n=n - first, n_all=n)
    tokens = [trace.model.tokenizer.display(id) for id in growth.ids]
    of = {"keys": growth.key_lengths, "values": growth.value_lengths}[kind]
    payload = strips(
        of[:, :, first:],
        growth.rows(kind, *place)[first:],
        _steps(trace, growth, tokens),
        role=kind[:-1],
        tokens=tokens[first:],
        first_position=first,
        chosen=place,
        step=session.below("at", growth.n_steps) or 0,
        labels=_labels(kind, place),
        name=f"cache_{kind}_layer{place[0]}_kv_head{place[1]}",
    )

    def rested():
        session.put(at=st.session_state[key]["step"] or None)

    def picked():
        layer, kv_head = st.session_state[key]["row"]
        session.put(at_layer=layer, at_head=kv_head * trace.config.group)

    canvas.growing(payload, key, rested, picked)


def _labels(kind, place):
    layer, kv_head = place
    put = {"what": text(f"{HERE}.one_{kind}"), "layer": layer, "kv_head": kv_head}
    return {name: text(f"{HERE}.figure.{name}", **put) for name in LABELS}


def _steps(trace, growth, tokens):
    """What is said of every step."""
    here = cache_size(trace.config)
    return [_step(trace, growth, here, tokens, n) for n in range(growth.n_steps)]


def _step(trace, growth, here, tokens, n):
    (first, stop), c = growth.span(n), trace.config
    spent = growing.spent(trace.model, growth, n)
    values = {
        "step": n,
        "first": first,
        "stop": stop,
        "last": stop - 1,
        "new": stop - first,
        "n_layers": c.n_layers,
    }
    values |= {"token": tokens[stop - 1], "n_kv_heads": c.n_kv_heads}
    values |= {"n_rows": f"{(stop - first) * c.n_layers * c.n_kv_heads:,}"}
    values |= {"written": units.size(spent.written_bytes), "read": units.size(spent.read_bytes)}
    values |= {"bytes": f"{here.of(stop):,}", "size": units.size(here.of(stop))}
    values |= {"per_token": f"{here.per_token:,}"}
    kind = "step" if n else "prefill"
    lines = (f"{kind}_written", f"{kind}_read", "bytes")
    title = text(f"{HERE}.{kind}", **values)
    return Step(first, stop, title, tuple(text(f"{HERE}.{line}", **values) for line in lines))
