"""Mute a head: the switch, and what becomes of the prediction, on every page that shows a head.
Knows the session and core's muting; no page by name.
"""

import streamlit as st

from core.analyse import muting
from pages.parts import charts, explanation, html, run, session, style, words
from pages.parts.html import Token, number, percent
from pages.parts.words import text
from viz import figure
from viz.pairs import pairs

HERE = "block.mute"
STATES = ("as_it_is", "muted")  # of the session's name `by`
LONGEST = 18  # characters of a token beside its bars


def on() -> bool:
    """Whether heads are muted on this page."""
    return session.chosen("by", STATES) == "muted"


def button(layer: int, head: int) -> None:
    """The switch of one head: muted, and as it is again, in one click each."""
    muted = on()
    st.button(
        text(f"{HERE}.{'unmute' if muted else 'mute'}", layer=layer, head=head),
        key="mute_head",
        type="primary" if not muted else "secondary",
        on_click=lambda: session.put(by=None if muted else "muted"),
    )


def effect(trace, layer: int, head: int, position: int):
    """What becomes of the prediction (core.analyse.muting.Effect); waited for under a spinner."""
    with st.spinner(text(f"{HERE}.running", layer=layer, head=head)):
        return run.compute(muting.effect, trace, layer, head, position)


def show(trace, layer: int, head: int, position: int, found, chosen: int | None = None) -> None:
    """The prediction with and without the head, beside each other. chosen: the id of a token that
    is shown, too, wherever it stands.
    """
    words.heading(f"{HERE}.both", token=Token(trace.tokens[position]), position=position)
    html.show(f'<p class="tw-mute-said">{_said(found)}</p>')
    ids = found.ids + [chosen] * (chosen is not None and chosen not in found.ids)
    _bars(trace, layer, head, position, found, ids, chosen)
    cost = {"layer": layer, "n_layers": trace.config.n_layers, "seconds": f"{found.seconds:.2f}"}
    words.caption(f"{HERE}.{'cost' if layer else 'cost_first'}", **cost)
    values = {"layer": layer, "head": head, "width": trace.config.width}
    explanation.agreed(found.agreement, [(words.html(f"{HERE}.less", **values), "")])


def _said(found):
    """What became of the first candidate, as HTML."""
    (first, *_), (then, *_) = found.top
    values = {"first": Token(first.text), "then": Token(then.text)}
    for name, probs in zip(("before", "after"), found.probs, strict=True):
        values[name] = percent(float(probs[first.id]))
    values["divergence"] = number(found.divergence)
    return words.html(f"{HERE}.{'changed' if found.changed else 'kept'}", **values)


def _bars(trace, layer, head, position, found, ids, chosen):
    display = trace.model.tokenizer.display
    before, after = ([float(probs[id]) for id in ids] for probs in found.probs)
    texts = [display(id) for id in ids]
    drawn = pairs(
        [each if len(each) <= LONGEST else each[: LONGEST - 1] + "…" for each in texts],
        before,
        after,
        names=(text(f"{HERE}.as_it_is"), text(f"{HERE}.muted")),
        shown=([*map(percent, before)], [*map(percent, after)]),
        title=text(f"{HERE}.axis"),
        chosen=ids.index(chosen) if chosen in ids else None,
        dark=style.dark(),
    )
    alt = text(f"{HERE}.alt", n=len(ids))
    name = f"muted_layer{layer}_head{head}_pos{position}"
    st.plotly_chart(drawn, key="mute_bars", config=figure.saving(name), alt=alt)
    logits = ([float(each[id]) for id in ids] for each in found.logits)
    head_row = ("id", "token", "probability", "probability muted", "logit", "logit muted")
    rows = list(zip(ids, texts, before, after, *logits, strict=True))
    charts.save(name, head_row, rows, text(f"{HERE}.saved"))
