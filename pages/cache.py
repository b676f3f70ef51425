"""The KV cache: what need not be computed twice, and what it costs."""

from pages.parts import lesson, run, views, words
from pages.views.cache import grow, jobs, saved

trace = run.trace(lambda: lesson.heading(words.page("cache")))
views.show("cache", {"grow": grow.view, "saved": saved.view, "jobs": jobs.view}, trace)
