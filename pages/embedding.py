"""Embedding: each id becomes a row of the table; what its neighbours are, and how the table is read
once more at the end.
"""

from core.analyse import traits
from pages.parts import lesson, run, views, words
from pages.views.embedding import arithmetic, map, neighbours, row, tied

trace = run.trace(lambda: lesson.heading(words.page("embedding")))
views.show(
    "embedding",
    {
        "row": row.view,
        "neighbours": neighbours.view,
        "arithmetic": arithmetic.view,
        "map": map.view,
        "tied": tied.view,
    },
    trace,
    traits.of_embedding(trace.config, trace.model.weights.tied),
)
