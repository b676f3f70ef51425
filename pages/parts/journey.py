"""The strip on top of every page: the stops of the journey, the current one marked. Knows pages by
name.
"""

import streamlit as st

from pages.parts import models, session
from pages.parts.words import text

PLACES = {  # the stops in order, with what a link to each keeps beside the choices
    "start": (),
    "tokens": ("op", "pos", "cell", "ask", "system", "reply", "follow"),
    "embedding": ("op", "pos", "cell", "at", "ask"),
    "block": ("layer", "head", "op", "walk", "together", "pos", "cell", "by"),
    "positions": ("layer", "head", "op", "pos", "cell", "at", "key_at", "factor"),
    "output": ("op", "pos", "cell"),
    "sampling": ("op", "pos", "cell", "at", "kind", *session.SETTINGS),
    "loop": ("op", "cell", "at", "kind", "target", "against", "other", *session.SETTINGS),
    "cache": ("op", "layer", "head", "cell", "at", "kind", "scale", "max_new_tokens"),
    "atlas": (
        *("layer", "head", "op", "pos", "cell", "at", "key_at", "kind", "scale", "by"),
        *("layer_b", "head_b", "target", "ask", "other"),
    ),
    "lens": ("op", "pos", "cell", "at", "kind", "by", "target", "against"),
    "learning": ("op", "cell"),
}


def pages() -> dict:
    """The pages by name, for navigation; titles in the chosen language."""
    return {
        name: st.Page(
            f"{name}.py",
            title=text(f"pages.{name}"),
            url_path="" if name == "start" else name,
            default=name == "start",
        )
        for name in PLACES
    }


def after(name: str) -> str:
    """The next stop."""
    names = list(PLACES)
    return names[names.index(name) + 1]


def show(current: str, stops: dict) -> None:
    """The strip."""
    with st.container(horizontal=True, gap="small", key="journey"):
        for name, page in stops.items():
            with st.container(
                key=f"stop_{name}_here" if name == current else f"stop_{name}", width="content"
            ):
                st.page_link(page, label=_label(name, current), query_params=_link(name))


def _label(name, current):
    if name == current == "block":
        return text("journey.block", layer=session.get("at_layer"))
    return text(f"pages.{name}")


def go(name: str, op: str | None = None, **place) -> None:
    """Go to another stop: to a step there, with other plain values of the place set. Those that
    each page has its own of are set for that page alone.
    """
    own = {key: value for key, value in place.items() if key in session.OWN}
    session.place(name, op=op, **own)
    session.put(**{key: value for key, value in place.items() if key not in own})
    st.switch_page(f"{name}.py", query_params=_link(name))


def _link(name):
    """The whole address of a stop, so that Back finds one entry for it and not two."""
    return session.link_to(name, models.DEFAULT, PLACES[name])
