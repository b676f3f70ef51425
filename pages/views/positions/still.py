"""A layer that turns nothing: the row of the position that was added instead, if there is one, with
the explanation of one number of the sum. Knows the session and core's rotation; no maths.
"""

import streamlit as st

from core.analyse import explain, rotation
from core.analyse.view import step_view
from pages.parts import explanation, panels, run, session, strip, words
from pages.parts.views import Shown

HERE = "positions.rotation"


def view(trace, layer: int, position: int) -> Shown:
    """The view of such a layer at the chosen token."""
    learned = trace.config.learned_positions
    values = {"layer": layer, "n_turning": rotation.turning_layers(trace.config)}
    code = trace.catalogue.op("pos_embed") if learned else None
    return Shown(lambda: _draw(trace, position), values, dict, code)


def _draw(trace, position):
    strip.show(trace, position, key="turned_strip")
    if trace.config.learned_positions:
        _added(trace, position)
    else:
        run.notice(words.html(f"{HERE}.nothing"))


def _added(trace, position):
    """The row of the position, and one number of the sum explained."""
    cell = session.below("cell", trace.config.width)
    step = run.compute(step_view, trace, "pos_embed", None, 0, position, cell)
    for n, panel in enumerate((step.output, *step.inputs, *step.weights)):
        panels.show(panel, trace, key=f"added_{n}", on_cell=_picks(f"added_{n}", panel))
    explanation.show(run.compute(explain, trace, "pos_embed", None, step.index), trace)


def _picks(key, panel):
    """A callback that explains the number of a clicked cell; the map of the stream has a row for
    each token.
    """

    def on_cell():
        row, column = st.session_state[key]["cell"]
        chosen = {"pos": panel.first_row + row} if panel.part == "output" else {}
        session.put(cell=column, **chosen)

    return on_cell
