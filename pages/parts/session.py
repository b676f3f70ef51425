"""What a reader is looking at: small plain values in the session, mirrored in the address bar.

They are read from the link once and rewritten in every run. None is a widget bound to the link by
Streamlit: a bound op would lose key presses, a bound choice would put its translated label into
the link, a bound prompt a whole book, and a bound layer is forgotten where its box is not shown.
"""

import streamlit as st

import lessons
from pages.parts import models

CHOICES = ("prompt", "lang", "mode", "control", "model")  # on every page
NUMBERS = ("pos", "cell", "at", "key_at", "factor")  # whole numbers, on some
NUMBERS += ("target", "against", "layer_b", "head_b")  # ids of tokens; another head
TEXTS = ("ask", "system", "reply", "follow", "other")  # what is typed beside the prompt, on some
NAMES = ("kind", "scale", "by")  # one of a few, as the view has them; none is the first of them
# how the next token is chosen, as core's RunSpec calls it; none is the usual (parts.settings)
SETTINGS = ("temperature", "top_k", "top_p", "min_p", "typical_p")
SETTINGS += ("repetition_penalty", "presence_penalty", "frequency_penalty")
SETTINGS += ("seed", "max_new_tokens", "n_beams", "length_penalty", "order")
WALKS = ("full", "short", "layers")  # ways through a block: every op, five of them, all layers
PLACE = ("layer", "head", "op", "walk", "together", *NUMBERS, *TEXTS, *NAMES, *SETTINGS)
OF_VIEW = ("cell", "cell_axis", "at", "key_at", "factor", "layer_b", "head_b", *TEXTS, *NAMES)
OWN = (
    "op",
    "walk",
    "together",
    *OF_VIEW,
)  # mean something else on each page, and but for `op` in each view of one
SHORT = 24  # characters of a setting in a link
LONGEST_LINKED = 2_000  # characters of a text that a link carries


def defaults() -> dict[str, str]:
    """What a link leaves out: chosen for good, or old links would change their meaning. The first
    prompt and its place are those of the link's model.
    """
    first = models.presets(get("model"))[0]
    place = {"layer": str(first.layer), "head": str(first.head)}
    return {"prompt": first.prompt, "lang": "en", "mode": "plain", "walk": WALKS[0], **place}


def begin(names: dict[str, str]) -> None:
    """Read the link, once per session. names: the models that may be chosen, the default first."""
    if "text" not in st.session_state:
        _read(names)


def follow(page: str, names: dict[str, str], kept=()) -> None:
    """Keep up with the browser: another page, or Back and Forward among the steps of this one.

    Each page keeps its own op and cell; position, layer and head are those of its link, if it has
    them (`kept`), for Back may lead to others. What a callback has just set wins over a link that
    the browser has not caught up with.
    """
    state, moved = st.session_state, st.session_state.pop("moved", False)
    before, state["page"] = state.get("page", page), page
    if get("mode") is None:  # its widget forgets where a page is left before it was drawn
        state["mode"] = _mode()
    if before != page:
        places = state.setdefault("places", {})
        places[before] = {name: get(name) for name in OWN}
        state.update(places.pop(page, dict.fromkeys(OWN)))
        if not moved:
            _read_place(kept)
    elif not moved and state.get("written") not in (None, (page, _link())):
        _read(names)


def _link() -> dict:
    """What the address bar holds for the names that are written there."""
    return {name: st.query_params.get(name) for name in (*CHOICES, *PLACE)}


def _read(names):
    state, query = st.session_state, st.query_params
    state["cell_axis"] = None  # a link does not say it
    state["asked_model"] = query.get("model")
    state["model"] = _one_of(query.get("model"), tuple(names))
    left_out = defaults()
    state["text"] = query.get("prompt", left_out["prompt"])
    state["lang"] = _one_of(query.get("lang"), lessons.LANGUAGES)
    state["mode"] = _mode()
    state["control"] = query.get("control") == "1"
    state["op"] = query.get("op")
    state["walk"] = _one_of(query.get("walk"), WALKS)
    state["together"] = query.get("together") == "1"
    state.update({name: _whole(query.get(name)) for name in NUMBERS})
    state.update({name: query.get(name, "")[:LONGEST_LINKED] or None for name in (*TEXTS, *NAMES)})
    state.update({name: query.get(name, "")[:SHORT] or None for name in SETTINGS})
    _read_place(PLACE)


def _mode():
    return _one_of(st.query_params.get("mode"), ("plain", "chat"))


def _read_place(kept):
    """Position, layer and head of the link, where its page keeps them."""
    query, left_out = st.query_params, defaults()
    if "pos" in kept:
        st.session_state["pos"] = _whole(query.get("pos"))
    for name in {"layer", "head"} & {*kept}:
        st.session_state[f"at_{name}"] = _whole(query.get(name, left_out[name]))


def _whole(text):
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 10 else None


def _one_of(text, allowed):
    return text if text in allowed else allowed[0]


def language() -> str:
    """The language of the pages: "en" or "zh"."""
    return st.session_state.get("lang") or lessons.LANGUAGES[0]


def get(name: str):
    """A plain value, or None."""
    return st.session_state.get(name)


def put(**values) -> None:
    """Set plain values, because the reader did something."""
    st.session_state.update(values, moved=True)


def settle(**values) -> None:
    """Set plain values to what the page shows in the place of what was asked for."""
    st.session_state.update(values)


def place(page: str, **own) -> None:
    """Set op or cell of another page, to go there."""
    st.session_state.setdefault("places", {})[page] = {**dict.fromkeys(OWN), **own}


def kept(page: str, name: str):
    """What another page keeps under a name of its own, or None."""
    return (get("places") or {}).get(page, {}).get(name)


def prompt() -> str:
    """The reader's text. Its box lies in two places, the text itself in one."""
    return st.session_state["text"]


def set_prompt(text: str) -> None:
    """Another text: the place in the old one and the guess about it mean nothing."""
    put(text=text, guess="")
    forget_place()


def linkable() -> bool:
    """Whether the text is short enough to stand in a link."""
    return len(prompt()) <= LONGEST_LINKED


def to_view(page: str, before: str, after: str) -> None:
    """Go to another view of a page. Each keeps what was chosen and typed in it."""
    kept = st.session_state.setdefault("views", {})
    kept[page, before] = {name: get(name) for name in OF_VIEW}
    put(op=after, **kept.get((page, after), dict.fromkeys(OF_VIEW)))


def forget_place() -> None:
    """Other tokens: position, cells and the framed map of the old ones mean nothing."""
    numbers = dict.fromkeys(("cell", "at", "key_at"))
    put(pos=None, frame=None, target=None, against=None, **numbers)
    for kept in ("places", "views"):
        for own in st.session_state.get(kept, {}).values():
            own.update(numbers)


def below(name: str, n: int) -> int | None:
    """A chosen number; where it is not below n, or none was chosen, None, in the link too."""
    if get(name) is not None and get(name) >= n:
        settle(**{name: None})
    return get(name)


def chosen(name: str, allowed: tuple[str, ...]) -> str:
    """One of a few; the first where none was chosen, or the link asks for what there is not."""
    if get(name) not in allowed[1:]:
        settle(**{name: None})
    return get(name) or allowed[0]


def typed(name: str, longest: int = LONGEST_LINKED) -> str | None:
    """What was typed, cut where it is longer, in the link too; None where nothing was."""
    if len(get(name) or "") > longest:
        settle(**{name: get(name)[:longest]})
    return get(name) or None


def position(n_tokens: int) -> int:
    """The chosen position; the last where none is chosen or it is past the end."""
    chosen = below("pos", n_tokens)
    return n_tokens - 1 if chosen is None else chosen


def layer_and_head(config) -> tuple[int, int]:
    """The chosen layer and head, or the first view's where the model has none of that number."""
    first = models.presets(get("model"))[0]
    layer = _within(get("at_layer"), config.n_layers, first.layer)
    head = _within(get("at_head"), config.n_heads, first.head)
    settle(at_layer=layer, at_head=head)
    return layer, head


def frame(config) -> tuple[int, int] | None:
    """The map chosen in the field of all heads, if this model has it."""
    layer, head = get("frame") or (config.n_layers, 0)
    return (layer, head) if layer < config.n_layers and head < config.n_heads else None


def _within(chosen, n, first):
    return chosen if chosen is not None and chosen < n else min(first, n - 1)


def link_to(page: str, default_model: str, kept=()) -> dict[str, str]:
    """What the address of a page says: the choices and the values it keeps, defaults left out."""
    here = get("page") in (None, page)
    own = st.session_state if here else (get("places") or {}).get(page, {})
    said = {name: _value(name, own) for name in (*CHOICES, *PLACE) if name in (*CHOICES, *kept)}
    left_out = {**defaults(), "model": default_model}
    return {n: v for n, v in said.items() if v is not None and v != left_out.get(n)}


def write_link(page: str, default_model: str, kept=()) -> None:
    """Make the address bar say what the page shows: all at once, for each change is a place that
    the browser's Back leads to.
    """
    said, before = link_to(page, default_model, kept), st.query_params.to_dict()
    others = {name: v for name, v in before.items() if name not in (*CHOICES, *PLACE)}
    if others | said != before:
        st.query_params.from_dict(others | said)
    st.session_state["written"] = (page, _link())


def _value(name, own):
    """What a link says for a name; None where there is nothing to say. own: op and cell."""
    if name == "prompt":
        return prompt() if linkable() else None
    if name == "control":
        return "1" if get("control") else None
    if name == "together":
        return "1" if own.get("together") else None
    if name in OWN:
        value = own.get(name)
    else:
        value = get(f"at_{name}" if name in ("layer", "head") else name)
    if name in TEXTS and value is not None and len(value) > LONGEST_LINKED:
        return None
    return None if value is None else str(value)
