"""What a reader can take along: the view as a page of its own, and the arrays behind it. Knows
core's archive and the session; no view by name.
"""

import streamlit as st

from core.analyse import archive
from pages import canvas
from pages.parts import run, session, words
from pages.parts.words import text


def arrays(trace, name: str, make) -> None:
    """A small button that saves arrays, made when it is pressed. make() -> them, by name."""
    st.download_button(
        text("views.save_npz"),
        lambda: archive.npz(trace, make()),
        file_name=f"{name}.npz",
        mime="application/octet-stream",
        key=f"npz_{name}",
        on_click="ignore",
        type="tertiary",
    )


def page(name: str, model) -> None:
    """A button that saves the page as one HTML file, with the model and the text it is about."""
    labels = words.table("keep", "keep", "working", "kept", "saved", "note")
    view = session.get("op")
    about = [
        [text("app.name"), text(f"pages.{name}")],
        [text("sidebar.model"), f"{run.title()} ({model.source.path.name})"],
        [text("keep.prompt"), session.prompt()],
        [text("sidebar.mode"), text(f"sidebar.{session.get('mode') or 'plain'}")],
    ]
    file = "-".join(["tokenwalk", name, *[view] * bool(view)])
    canvas.keep(labels | {"lang": text("lang_code"), "file": file, "about": about}, key="keep_page")
