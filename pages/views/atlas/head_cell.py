"""The chosen cell of a head's map in words, and doors to what it is made of. Knows core's map of a
head, words and the pages' names; no maths.
"""

import streamlit as st

from core.analyse import headmap
from pages.parts import html, journey, lesson, session, views, words
from pages.parts.html import Made, number, percent
from pages.parts.words import text
from pages.views.atlas.head_row import digits

HERE = "atlas.head"


def show(trace, found: headmap.HeadMap, query: int, key: int) -> None:
    """The cell in words, and its doors."""
    said = _masked if found.why_masked(query, key) else _seen
    body = ""
    for sentence in said(trace, found, query, key):
        body = lesson.joined(body, sentence) if body else sentence
    html.show(f'<div class="tw-cell-words" data-cell="{query},{key}">{body}</div>')
    _doors(found, query, key)


def _names(trace, query, key):
    """Query and key as a sentence names them."""
    names = {"query": (query, "query"), "key": (key, "key")}
    tokens = {name: Made(html.token(trace.tokens[at], role)) for name, (at, role) in names.items()}
    return tokens | {"q": query, "k": key}


def _seen(trace, found, query, key):
    """The weight, its place in the row, the score behind it, and what is read along it."""
    weight, order = found.weights[query, key], found.order(query)
    values = _names(trace, query, key) | {"weight": number(weight), "share": _share(weight)}
    yield words.html(f"{HERE}.{'itself' if query == key else 'looks'}", **values)
    if len(order) == 1:
        yield words.html(f"{HERE}.alone")
    else:
        yield words.html(f"{HERE}.rank", rank=order.index(key) + 1, n=len(order))
    yield _score(found, query, key)
    sizes = {"length": found.lengths[key], "carried": found.carried[query, key]}
    values = {name: number(size, digits(size)) for name, size in sizes.items()}
    yield words.html(f"{HERE}.read", **values)


def _share(weight):
    """A share of a row; one that is not all of it is not called 100%."""
    return percent(weight) if weight == 1 or weight < 0.9995 else "> 99.9%"


def _score(found, query, key):
    score = {"score": number(found.masked[query, key], 3)}
    if found.capped is not None:
        return words.html(f"{HERE}.score_capped", **score, raw=number(found.scores[query, key], 3))
    return words.html(f"{HERE}.score", **score)


def _masked(trace, found, query, key):
    """Why the query does not see the key."""
    values = _names(trace, query, key) | {"window": f"{found.window or 0:,}"}
    yield words.html(f"{HERE}.{found.why_masked(query, key)}", **values)
    yield words.html(f"{HERE}.hidden", score=number(found.scores[query, key], 3))


def _doors(found, query, key):
    """To the arithmetic of this cell, and to the same head in the text."""
    place = {"at_layer": found.layer, "at_head": found.head, "pos": query}
    cell = {"cell": key, "cell_axis": "key"}
    with st.container(horizontal=True, key="head_doors", gap="small"):
        for name, op in (("score", "attn.scores"), ("softmax", "attn.weights")):
            if _door(f"to_{name}"):
                journey.go("block", op=op, **place, **cell)
        st.button(
            text(f"{HERE}.to_text"),
            key="head_to_text",
            type="tertiary",
            on_click=_to_text(query, key),
        )
        if _door("to_block"):
            journey.go("block", op="attn.weights", together=True, **place, **cell)


def _door(name):
    return st.button(text(f"{HERE}.{name}"), key=f"head_{name}", type="tertiary")


def _to_text(query, key):
    def go():
        views.go("atlas", "head", "reading")
        session.put(pos=query, key_at=key)

    return go
