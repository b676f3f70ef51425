"""What a reader is looking at: small plain values in the session, mirrored in the address bar.

Layer and head are widgets bound to the link by Streamlit. The others are read from the link and
rewritten in every run: a bound op would lose key presses, a bound choice would put its translated
label into the link, and a bound prompt would put a whole book there.
"""

import streamlit as st

import lessons

LANGUAGE_KEY = "lang"
FIRST_PROMPT = "The capital of France is"
# with what a link leaves out: chosen for good, or old links would change their meaning
CHOICES = {"prompt": FIRST_PROMPT, "lang": "en", "mode": "plain", "model": None}
PLACE = ("op", "pos", "cell")
LONGEST_LINKED = 2_000  # characters of a prompt that a link carries


def begin(models: dict[str, str]) -> None:
    """Read the link, once per session. models: the names that may be chosen, the default first."""
    if "begun" not in st.session_state:
        st.session_state["begun"] = True
        _read(models)


def follow(page: str, models: dict[str, str]) -> None:
    """Read the link again where the browser changed it: Back and Forward among the steps of a page.

    What a callback has just set wins over a link that the browser has not caught up with.
    """
    moved = st.session_state.pop("moved", False)
    if not moved and st.session_state.get("written") not in (None, (page, _link())):
        if st.session_state["written"][0] == page:
            _read(models)


def _link() -> dict:
    """What the address bar holds for the names that are written there."""
    return {name: st.query_params.get(name) for name in (*CHOICES, *PLACE)}


def _read(models):
    state, query = st.session_state, st.query_params
    state["text"] = query.get("prompt", FIRST_PROMPT)
    state["op"] = query.get("op")
    state["pos"], state["cell"] = (_whole(query.get(name)) for name in ("pos", "cell"))
    state["asked_model"] = query.get("model")
    state["lang"] = _one_of(query.get("lang"), lessons.LANGUAGES)
    state["mode"] = _one_of(query.get("mode"), ("plain", "chat"))
    state["model"] = _one_of(query.get("model"), tuple(models))


def _whole(text):
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 10 else None


def _one_of(text, allowed):
    return text if text in allowed else allowed[0]


def language() -> str:
    """The language of the pages: "en" or "zh"."""
    return st.session_state.get(LANGUAGE_KEY) or lessons.LANGUAGES[0]


def get(name: str):
    """A plain value, or None."""
    return st.session_state.get(name)


def put(**values) -> None:
    """Set plain values."""
    st.session_state["moved"] = True
    for name, value in values.items():
        st.session_state[name] = value


def prompt() -> str:
    """The reader's text. Its box lies in two places, the text itself in one."""
    return st.session_state["text"]


def set_prompt(text: str) -> None:
    """Another text; position and cell of the old one mean nothing."""
    put(text=text, frame=None)
    forget_place()


def linkable() -> bool:
    """Whether the text is short enough to stand in a link."""
    return len(prompt()) <= LONGEST_LINKED


def forget_place() -> None:
    """Another sequence of tokens: position and cell of the old one mean nothing."""
    put(pos=None, cell=None)


def position(n_tokens: int) -> int:
    """The chosen position; the last where none is chosen or it is past the end."""
    chosen = get("pos")
    return chosen if chosen is not None and chosen < n_tokens else n_tokens - 1


def write_link(page: str, default_model: str, place=()) -> None:
    """Put the choices and the named values of the place into the address bar, defaults left out."""
    for name in (*CHOICES, *PLACE):
        value = get(name) if name in CHOICES or name in place else None
        if name == "prompt":
            value = prompt() if linkable() else None
        if value is not None and value != {**CHOICES, "model": default_model}.get(name):
            st.query_params[name] = str(value)
        elif name in st.query_params:
            del st.query_params[name]
    st.session_state["written"] = (page, _link())
