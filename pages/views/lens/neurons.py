"""Neurons: which of all layers wrote most of a token's score, and which tokens one of them promotes
and suppresses.
"""

import streamlit as st

from core.analyse import promoted, shares, source, through
from pages.parts import charts, doors, explanation, html, listing, run, session, views, walk, words
from pages.parts.html import Token, number
from pages.parts.words import text
from pages.views.lens import aim

HERE = "lens.neurons"
FIRST = 15  # neurons that are listed
N_TOKENS = 10  # tokens on each side
SAVED = 1_000  # neurons in the file
EVERY = -1  # in the list of layers


def view(trace, position: int) -> views.Shown:
    """The neurons that add most to the chosen token's score after the chosen position."""
    asked, layer = aim.chosen(trace, position), session.below("at", trace.config.n_layers)
    found = run.compute(promoted.neurons, trace, asked.token, asked.against, position)
    return views.Shown(
        lambda: _draw(trace, position, asked, found, layer),
        aim.tokens(trace, asked) | {"n_all": f"{found.added.size:,}", "n_first": FIRST},
        lambda: _answer(found),
        source.joined(
            source.of(promoted.neurons, promoted.added, promoted.promoted),
            source.of(through.through),
        ),
        lambda: (
            {"added": found.added, "per_unit": found.per_unit, "active": found.active}
            | {"biases": found.biases, "mlps": found.written, "token": asked.token}
        ),
    )


def _answer(found):
    """How much the largest add, and how many make up half."""
    listed, others = found.parted(found.largest(FIRST))
    return {
        "listed": number(listed, 2),
        "others": number(others, 2),
        "n_half": f"{found.holding(0.5):,}",
        "share_half": html.percent(found.share_holding(0.5)),
    }


def _chosen(trace, listed):
    """The neuron that is explained, as (layer, neuron): the one that was clicked, else the first.
    Its cell counts through all layers.
    """
    c = trace.config
    cell = session.below("cell", c.n_layers * c.neurons)
    return listed[0] if cell is None else divmod(cell, c.neurons)


# ---- figures -------------------------------------------------------------------------------------


def _draw(trace, position, asked, found, layer):
    aim.controls(trace, position, "neurons")
    _layer_box(trace, layer)
    listed = found.largest(FIRST, layer)
    chosen = _chosen(trace, listed)
    with st.container(key="neurons_pair"):
        left, right = st.columns([1, 1], gap="medium")
    with left:
        _list(trace, asked, found, layer, listed, chosen)
    with right:
        _one(trace, position, asked, found, chosen)
    _check(asked, trace, found, chosen[0])
    doors.show(HERE, "lens.parts", "lens.layers")


def _layer_box(trace, layer):
    """All layers, or one."""

    def picked():
        n = st.session_state["neurons_layer"]
        session.put(at=None if n == EVERY else n, cell=None)

    names = {EVERY: text(f"{HERE}.every_layer")}
    names |= {n: text(f"{HERE}.one_layer", layer=n) for n in range(trace.config.n_layers)}
    st.session_state["neurons_layer"] = EVERY if layer is None else layer
    st.selectbox(
        text(f"{HERE}.layer"),
        [*names],
        format_func=names.__getitem__,
        key="neurons_layer",
        on_change=picked,
        width=220,
    )


def _list(trace, asked, found, layer, listed, chosen):
    """The neurons that add most, the chosen one among them."""
    score = aim.named(trace, asked)
    words.heading(f"{HERE}.list", n=len(listed), score=score)
    words.caption(f"{HERE}.list_caption", **_summed(found, layer, listed))
    shown = listed if chosen in listed else [*listed, chosen]
    most = abs(float(found.added[listed[0]])) or 1.0
    head = [words.html(f"{HERE}.{key}") for key in ("neuron", "active", "per_unit", "added")]
    rows = [
        [
            f"L{place[0]} N{place[1]}",
            listing.short(found.active[place]),
            listing.short(found.per_unit[place], 4),
            listing.short(found.added[place], 3),
            listing.bar(found.added[place], most, 4),
        ]
        for place in shown
    ]
    numbers = [_cell(trace, place) for place in shown]
    label = text(f"{HERE}.table", n=len(listed))
    listing.show("unit", [*head, ""], rows, numbers, _cell(trace, chosen), label)
    listing.listen("unit", lambda n: session.put(cell=n))
    _save(found, layer)


def _cell(trace, place):
    return place[0] * trace.config.neurons + place[1]


def _summed(found, layer, listed):
    """How many are listed of how many, and what they and all the others add."""
    own, others = found.parted(listed, layer)
    n_all = (found.added if layer is None else found.added[layer]).size
    values = {"n": len(listed), "n_all": f"{n_all:,}"}
    return values | {"own": number(own, 3), "others": number(others, 3)}


def _save(found, layer):
    rows = [
        (*place, *(float(each[place]) for each in (found.active, found.per_unit, found.added)))
        for place in found.largest(SAVED, layer)
    ]
    charts.save("neurons", ("layer", "neuron", "activation", "per_unit", "added"), rows)


def _check(asked, trace, found, layer):
    """The neurons of the chosen one's layer, added up, beside what its MLP changed."""
    n, biased = found.added.shape[1], "mlp_out" in trace.config.biases
    lines = [(words.html(f"{HERE}.sum", n=f"{n:,}"), number(found.total(layer)))]
    if biased:
        lines.append((words.html(f"{HERE}.bias"), number(float(found.biases[layer]))))
    written = words.html(f"{HERE}.written", layer=layer)
    lines.append((f"<b>{written}</b>", f"<b>{number(float(found.written[layer]))}</b>"))
    said = words.html(f"{HERE}.check", layer=layer, score=aim.named(trace, asked))
    explanation.agreed(found.agreement(layer), lines, said)


# ---- one neuron ----------------------------------------------------------------------------------


def _one(trace, position, asked, found, place):
    """A neuron's part as a product, then what it says in the vocabulary."""
    layer, neuron = place
    values = {"layer": layer, "neuron": neuron, "token": Token(trace.tokens[position])}
    with st.container(border=True, key="neuron_one"):
        words.heading(f"{HERE}.one", **values)
        agreement = run.compute(promoted.as_recorded, found, trace, layer, neuron, position)
        active, unit, added = (
            float(each[place]) for each in (found.active, found.per_unit, found.added)
        )
        lines = [
            (words.html(f"{HERE}.its_activation", **values), number(active)),
            (words.html(f"{HERE}.times"), number(unit)),
            (f"<b>{words.html(f'{HERE}.makes')}</b>", f"<b>{number(added)}</b>"),
        ]
        explanation.agreed(agreement, lines, words.html(f"{HERE}.recorded", **values))
        strength = run.compute(promoted.strength, found, trace, layer, neuron, position)
        _vocabulary(trace, asked, place, strength)
        _door(trace, position, layer, neuron)


def _vocabulary(trace, asked, place, strength):
    """The tokens whose logits the neuron pushes up and down here, and what its sign has to do with
    it. strength: of the neuron here; where it is 0, what a strength of 1 would do is shown.
    """
    said = run.compute(promoted.promoted, trace.model, *place, N_TOKENS).times(strength or 1.0)
    words.heading(f"{HERE}.vocabulary")
    words.caption(f"{HERE}.{'negative' if strength < 0 else 'positive' if strength else 'silent'}")
    most = said.largest or 1.0
    rows = [
        [cell for id, score in pair for cell in _token(trace, id, score, most)]
        for pair in zip(said.up, said.down, strict=True)
    ]
    head = [words.html(f"{HERE}.{key}") for key in ("up", "down")]
    html.show(html.table([head[0], "", "", head[1], "", ""], rows, "tw-promoted"))
    own = float(said.scores[asked.token])
    values = {"own": number(own, 3), "rank": f"{said.rank(asked.token):,}"}
    way = "down" if own < 0 else "up"
    words.caption(f"{HERE}.target_{way}", **aim.tokens(trace, asked), **values)


def _token(trace, id, added, most):
    shown = html.token(trace.model.tokenizer.display(id))
    return shown, listing.short(added, 3), listing.bar(added, most, 2)


def _door(trace, position, layer, neuron):
    """A button to this neuron in the walk through its layer."""

    def go():
        op = shares.hidden_op(trace, layer)
        place = {"cell": neuron, "cell_axis": "neurons", "pos": position, "at_layer": layer}
        walk.to_page("block", op=op, **place)

    st.button(text(f"{HERE}.open", layer=layer, neuron=neuron), key="open_neuron", on_click=go)
