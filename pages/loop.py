"""The loop: choose a token, append it, run again."""

from pages.parts import lesson, run, views, words
from pages.views.loop import beams, branch, text

trace = run.trace(lambda: lesson.heading(words.page("loop")))
views.show("loop", {"text": text.view, "branch": branch.view, "beams": beams.view}, trace)
