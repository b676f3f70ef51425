"""Look inside, the stream: what each layer would already answer, and who wrote a logit."""

from pages.parts import lesson, run, views, words
from pages.views.lens import layers, neurons, parts

trace = run.trace(lambda: lesson.heading(words.page("lens")))
views.show(
    "lens",
    {"layers": layers.view, "parts": parts.view, "neurons": neurons.view},
    trace,
)
