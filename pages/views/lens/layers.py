"""The logit lens: what each layer would already answer, at a few positions side by side."""

import streamlit as st

from core.analyse import lens, source
from core.model import forward
from pages.parts import doors, inputs, run, session, strip, target, words
from pages.parts.html import Made, Token, percent
from pages.parts.views import Shown
from pages.parts.words import text
from pages.views.lens import layers_cell, layers_grid
from pages.views.lens.layers_grid import HERE, Place
from viz.lens import BY


def view(trace, position: int) -> Shown:
    """The grid around the chosen position, and its chosen cell."""
    kind, by = session.chosen("kind", lens.KINDS), session.chosen("by", BY)
    found = run.compute(lens.window, trace, kind, position)
    point = session.below("cell", found.points[-1] + 1)
    place = Place(
        trace, found, position, lens.row_of(found.points, point), target.chosen(trace, position), by
    )
    answer = Token(trace.model.tokenizer.display(int(found.top[-1, place.column])))
    code = source.joined(
        source.of(forward.unembed),
        source.of(lens.distribution, lens.entropy, lens.divergence, lens.first_since),
    )
    return Shown(
        lambda: _draw(place), {"answer": answer}, lambda: _answer(place), code, lambda: _data(place)
    )


def _answer(place):
    """From where on the model's own answer is first, and how many columns are decided early."""
    found, column = place.found, place.column
    ranks = found.ranks_of(int(found.top[-1, column]))[:, column].tolist()
    since = lens.first_since(ranks)
    return {
        "since": Made(layers_cell.since(place, since)),
        "prob_there": percent(float(found.probs[since, column])),
        "rank_before": f"{ranks[since - 1]:,}" if since else "–",
        **_other(place),
        "n_shown": found.top.shape[1],
        "n_early": found.n_early(),
    }


def _other(place):
    """The row of the column that is surest of what does not become the answer."""
    found, row = place.found, place.found.surest_other(place.column)
    if row is None:
        return dict.fromkeys(("other", "prob_other", "where_other"), "–")
    return {
        "other": Token(place.display(int(found.top[row, place.column]))),
        "prob_other": percent(float(found.probs[row, place.column])),
        "where_other": Made(layers_cell.since(place, row)),
    }


def _data(place):
    """The arrays of the grid, [point, seq]."""
    found = place.found
    return {
        "point": found.points,
        "first_position": found.first,
        "first_id": found.top,
        "first_probability": found.probs,
        "answer_probability": found.answer_probs,
        "entropy_nat": found.entropy,
        "divergence_nat": found.divergence,
        "target_id": place.target,
        "target_rank": found.ranks_of(place.target),
        "target_probability": found.probs_of(place.target),
    }


# ---- figures -------------------------------------------------------------------------------------


def _draw(place):
    target.pick(place.trace, place.position)
    with st.container(horizontal=True, key="lens_choices", vertical_alignment="bottom"):
        for name, options in (("by", BY), ("kind", lens.KINDS)):
            inputs.choice(
                name,
                options,
                key=f"lens_{name}",
                label=text(f"{HERE}.{name}"),
                called=lambda each, name=name: text(f"{HERE}.{name}s.{each}"),
            )
    _positions(place)
    layers_grid.show(place)
    with st.container(key="lens_pair"):
        left, right = st.columns(2, gap="medium")
    with left:
        layers_cell.first_tokens(place)
    with right:
        layers_cell.column(place)
        layers_cell.check(place)
    doors.show(HERE, "lens.parts", "output")


def _positions(place):
    """Which tokens of a longer text the grid shows, and the way to the others."""
    n, first, stop = len(place.trace.ids), place.found.first, place.stop
    if stop - first == n:
        return
    strip.show(place.trace, place.position, key="lens_tokens")
    with st.container(horizontal=True, key="lens_window", vertical_alignment="center"):
        _step("earlier", first - 1, first > 0)
        _step("later", stop, stop < n)
        words.caption(f"{HERE}.window", first=first, last=stop - 1, n=n)


def _step(name, position, there):
    """A button that leads to the tokens beside those that are shown."""
    st.button(
        text(f"{HERE}.{name}"),
        key=f"lens_{name}",
        disabled=not there,
        on_click=session.put,
        kwargs={"pos": position},
    )
