"""Tokens: the text becomes ids, byte by byte, with every space visible."""

from pages.parts import lesson, run, views, words
from pages.views.tokens import chat, compare, merges, space, vocabulary

trace = run.trace(lambda: lesson.heading(words.page("tokens")), numbers=False)
views.show(
    "tokens",
    {
        "merges": merges.view,
        "compare": compare.view,
        "chat": chat.view,
        "space": space.view,
        "vocabulary": vocabulary.view,
    },
    trace,
)
