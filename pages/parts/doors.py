"""Doors from a view to others that say more about what is chosen: its head, its token, its neuron.
Knows views by name, and the session.
"""

import streamlit as st

from pages.parts import session, views, walk
from pages.parts.words import text


def show(here: str, *there: str, **place) -> None:
    """A row of doors. here, there: views as "atlas.head"; a page of one view as "output". place:
    plain values of the session that are set behind each door, such as `at_layer`.
    """
    with st.container(horizontal=True, key="doors_row", gap="medium"):
        for each in there:
            st.button(
                f"{_called(here, each)} ▸",
                key=f"to_{each.replace('.', '_')}",
                type="tertiary",
                on_click=_go,
                args=(here, each, place),
            )


def _called(here, there):
    """A view of the same page by its name, one of another with that page's before it."""
    page, _, view = there.partition(".")
    if not view:
        return text(f"pages.{page}")
    name = views.name(page, view)
    if here.startswith(f"{page}."):
        return name
    return text("views.door", page=text(f"pages.{page}"), view=name)


def _go(here, there, place):
    page, _, view = there.partition(".")
    own = here.partition(".")
    if page == own[0]:
        views.go(page, own[2], view)
        session.put(**place)
    else:
        walk.to_page(page, op=view or None, **place)
