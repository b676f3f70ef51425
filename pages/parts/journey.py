"""The strip on top of every page: the stops of the journey, the current one marked. Knows pages by
name.
"""

import streamlit as st

from pages.parts import session
from pages.parts.words import text

PLACES = {  # the stops in order, with what a link to each keeps beside the choices
    "start": (),
    "tokens": ("pos",),
    "block": ("op", "pos", "cell"),
    "output": ("op", "pos", "cell"),
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


def show(current: str, stops: dict) -> None:
    """The strip."""
    with st.container(horizontal=True, gap="small", key="journey"):
        for name, page in stops.items():
            with st.container(
                key=f"stop_{name}_here" if name == current else f"stop_{name}", width="content"
            ):
                st.page_link(page, label=_label(name, current))


def _label(name, current):
    layer = st.session_state.get("layer")
    if name == current == "block" and layer is not None:
        return text("journey.block", layer=layer)
    return text(f"pages.{name}")


def go(name: str, **plain) -> None:
    """Go to another stop, with plain values of the session set."""
    session.put(**plain)
    # not None, or Streamlit would clear the link, which it refuses: the prompt is bound to it
    st.switch_page(f"{name}.py", query_params={})
