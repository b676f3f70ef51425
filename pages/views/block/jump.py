"""Where a row of the stream grows most within one layer, who wrote that, and what becomes of the
run without it. Knows core's findings and words.
"""

import streamlit as st

from core.analyse import shares, stream
from core.analyse.view import column_axis
from pages.parts import html, run, session, words
from pages.parts.html import Token, percent, token
from pages.parts.words import text

HERE = "block.layers"
BOTH = ("as_it_is", "without")


def show(trace) -> None:
    """What was found in this run, a door to it, and the experiment where it is asked for."""
    found = run.compute(stream.leap, trace)
    values = {"layer": found.layer, "position": found.position, "number": f"{found.number:,}"}
    with st.container(border=True, key="jump"):
        html.show(html.paragraphs("\n\n".join(_said(trace, found, values))))
        _door(trace, found, values)
        box = st.expander(text(f"{HERE}.off_{found.op}", **values), key="off", on_change="rerun")
        if box.open:
            with box:
                _without(trace, found)


def _said(trace, found, values):
    """The jump and who wrote it, as HTML."""
    own = values | {"token": Token(trace.tokens[found.position])}
    sizes = {name: length(getattr(found, name)) for name in ("before", "after", "factor")}
    yield words.html(f"{HERE}.jump", **own, **sizes)
    part = {"part": length(found.part), "value": length(found.value), "dim": found.dim}
    if found.activation is not None:
        part["activation"] = length(found.activation)
    yield words.html(f"{HERE}.by_{found.op}", **values, **part)
    if trace.config.norm_place != "before":
        yield words.html(f"{HERE}.rescaled")


def length(value: float) -> str:
    """A length, or another number of its size, for reading: three digits or one decimal."""
    return f"{value:,.{1 if abs(value) >= 10 else 2}f}".replace("-", "−")


def _door(trace, found, values):
    """To the neuron, or the head, in the walk through its layer."""
    place = {"walk": session.WALKS[0], "at_layer": found.layer, "pos": found.position}
    if found.op == "mlp":
        op = shares.hidden_op(trace, found.layer)
        place |= {"op": op, "cell": found.number, "cell_axis": column_axis(op)}
    else:
        place |= {"op": "attn.mix", "at_head": found.number, "cell": None}
    name = text(f"{HERE}.to_{found.op}", **values)
    st.button(name, key="open_jump", type="tertiary", on_click=session.put, kwargs=place)


def _without(trace, found):
    """Both runs side by side, and what that says about the first token."""
    with st.spinner(text("run.running")):
        off = run.compute(stream.switched_off, trace, found)
    names = [token(trace.model.tokenizer.display(top)) for top in off.tops]
    rows = [
        [words.html(f"{HERE}.row_length", layer=found.layer), *map(length, off.norms)],
        [words.html(f"{HERE}.sinks", n=off.n_heads), *map(str, off.sinks)],
        [f"{words.html(f'{HERE}.probability')} {names[0]}", *map(percent, off.probs)],
        [words.html(f"{HERE}.top"), *names],
    ]
    head = ["", *(words.html(f"{HERE}.{name}") for name in BOTH)]
    html.show(html.scroll(html.table(head, rows), text(f"{HERE}.off_aria")))
    html.show(f"<p>{words.html(f'{HERE}.{_verdict(trace, off)}')}</p>")


def _verdict(trace, off):
    """Which sentence is true of these two runs."""
    before, after = off.sinks
    if len(trace.ids) == 1:
        return "alone"
    if not off.n_heads:
        return "nobody"
    if not before:
        return "no_sinks"
    return "sinks_stay" if after > before / 2 else "sinks_go"
