"""The views of a page: a switch between a few, each with a question and a lesson of its own. A page
begins with its first view, whose lesson is the page's.

Knows the session, lessons and the bar that steps; knows no view by name.
"""

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from pages.parts import html, inputs, journey, keep, lesson, session, small, walk, words
from pages.parts.words import text


@dataclass(frozen=True)
class Shown:
    """What a view puts beside its lesson.

    values: what the lesson's sentences may name besides sizes and tokens. draw() puts the figures
    on the page. answer() -> what the revealed answer names besides, computed when it is asked for.
    code: a `core.analyse.source.Source`, the functions that made the numbers.
    data() -> the arrays behind the figures, by name, made when a reader saves them.
    """

    draw: Callable[[], None]
    values: dict
    answer: Callable[[], dict] = dict
    code: object = None
    data: Callable[[], dict] | None = None


def show(page: str, views: dict[str, Callable], trace, tags=(), layer: int | None = None) -> None:
    """A page of views. views: by name, view(trace, position) -> Shown. tags: what the model does in
    its own way here; they pick the lines of the lessons. layer: the one that the page is about, if
    it is about one; the bar then changes it, too.
    """
    names, whole = tuple(views), words.view(page, None, tags)
    view = walk.current_op(names, names[0])
    this = whole if view == names[0] else words.view(page, view, tags)
    position = session.position(len(trace.ids))
    if session.get("onward") == page:
        session.settle(onward=None)
        journey.go(journey.after(page))
    html.show(f'<h1 class="tw-title">{html.rich(this.title)}</h1>')
    _switch(page, names, view)
    with st.bottom:  # before what may be refused: the way to the other views stays
        _bar(page, names, view, layer, trace.config.n_layers)
    shown = views[view](trace, position)
    numbers = lesson.sizes(trace)
    values = numbers | lesson.token_values(trace, position) | shown.values
    html.show(f'<p class="tw-gist">{html.rich(this.gist, **values)}</p>')
    with st.container(key="stage"):
        left, right = st.columns([1, 2], gap="medium")
    with left:
        lesson.tabs(this, numbers, shown.code)
        lesson.look(this, "wide", **values)
        if this.predict:
            lesson.predict(this, values, shown.answer)
        if this.small:
            small.note(this, trace.model)
    with right:
        lesson.look(this, "narrow", **values)
        shown.draw()
        if shown.data:
            keep.arrays(trace, f"{page}_{view}", shown.data)


def go(page: str, before: str, after: str) -> None:
    """Go to another view of the page; a revealed answer is covered again."""
    st.session_state["reveal"] = False
    session.to_view(page, before, after)


def name(page: str, view: str) -> str:
    """What a view is called on the switch and in the bar."""
    return text(f"{page}.views.{view}")


def _switch(page, names, view):
    """The views as a switch."""
    inputs.switch(
        names,
        view,
        key=f"view_{page}",
        label=text("views.switch"),
        name=lambda each: name(page, each),
        pick=lambda picked: go(page, view, picked),
    )


def _bar(page, names, view, layer, n_layers):
    """Previous and next view (the next page behind the last one), and the layer where there is one:
    by buttons and by arrow keys.
    """
    key = f"walk_{page}"

    def moved():
        move = st.session_state[key]["move"]
        if move["step"] == len(names):
            session.put(onward=page)
        elif names[move["step"]] != view:
            go(page, view, names[move["step"]])
        if layer is not None:
            session.put(at_layer=move["layer"])

    data = {"steps": [name(page, each) for each in names], "step": names.index(view)}
    data |= {"layer": layer or 0, "n_layers": 0 if layer is None else n_layers}
    data |= {"beyond": text(f"pages.{journey.after(page)}")}
    walk.bar(data, key, moved, aria=text("views.switch"))
