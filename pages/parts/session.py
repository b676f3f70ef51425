"""What a reader is looking at: small plain values in the session, mirrored in the address bar.

Model, prompt, language, layer and head are widgets bound to the link; op, position and cell are plain values, read
from the link once and rewritten in every run (a bound value would lose key presses).
"""

import streamlit as st

LANGUAGE_KEY = "lang"
PLAIN = ("op", "pos", "cell")
LONGEST_PROMPT = 40_000  # characters that the text box takes
LONGEST_LINKED = 2_000  # characters of a prompt that a link carries


def begin() -> None:
    """Read the link, once per session: plain values, and what the bound widgets would silently replace."""
    state, query = st.session_state, st.query_params
    if "begun" in state:
        return
    state["begun"] = True
    state["op"] = query.get("op")
    state["pos"], state["cell"] = (_whole(query.get(name)) for name in ("pos", "cell"))
    state["asked_model"] = query.get("model")


def _whole(text):
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 10 else None


def language() -> str:
    """The language of the pages: "en" or "zh"."""
    return st.session_state.get(LANGUAGE_KEY) or "en"


def get(name: str):
    """A plain value, or None."""
    return st.session_state.get(name)


def put(**values) -> None:
    """Set plain values."""
    for name, value in values.items():
        st.session_state[name] = value


def forget_place() -> None:
    """Another text: position and cell of the old one mean nothing."""
    put(pos=None, cell=None)


def position(n_tokens: int) -> int:
    """The chosen position; the last where none is chosen or it is past the end."""
    chosen = get("pos")
    return chosen if chosen is not None and chosen < n_tokens else n_tokens - 1


def write_link(*names: str) -> None:
    """Put these plain values into the address bar where they are set, and take the other ones out."""
    for name in PLAIN:
        value = get(name) if name in names else None
        if value is not None:
            st.query_params[name] = str(value)
        elif name in st.query_params:
            del st.query_params[name]
