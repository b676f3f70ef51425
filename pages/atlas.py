"""Look inside, attention: all heads at once, one head in every detail, what heads do and whether it
helps.
"""

from core.analyse.heads import run_summing
from pages.parts import lesson, run, session, views, words
from pages.views.atlas import compare, effect, every, head, reading, roles, rollout

trace = run.trace(lambda: lesson.heading(words.page("atlas")), how=run_summing)
session.layer_and_head(trace.config)
views.show(
    "atlas",
    {
        "every": every.view,
        "head": head.view,
        "reading": reading.view,
        "effect": effect.view,
        "compare": compare.view,
        "roles": roles.view,
        "rollout": rollout.view,
    },
    trace,
    effect.tags(),
)
