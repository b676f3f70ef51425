"""Sampling: from the scores of one step to one token."""

from pages.parts import lesson, run, views, words
from pages.views.sampling import draw, orders, stages

trace = run.trace(lambda: lesson.heading(words.page("sampling")))
views.show("sampling", {"stages": stages.view, "draw": draw.view, "orders": orders.view}, trace)
