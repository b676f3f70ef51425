"""What a reader can take along: the arrays behind a view. Knows core's archive; no view by name."""

import streamlit as st

from core.analyse import archive
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
