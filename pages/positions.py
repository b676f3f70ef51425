"""Positions: how queries and keys are turned by where they stand, and what becomes of a score."""

from core.analyse import traits
from pages.parts import lesson, run, session, views, words
from pages.views.positions import clocks, distance, longer, rotation

trace = run.trace(lambda: lesson.heading(words.page("positions")))
layer, _ = session.layer_and_head(trace.config)
views.show(
    "positions",
    {
        "rotation": rotation.view,
        "clocks": clocks.view,
        "distance": distance.view,
        "longer": longer.view,
    },
    trace,
    traits.of_positions(trace.config, layer),
    layer,
)
