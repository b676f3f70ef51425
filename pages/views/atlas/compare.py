"""Two attention maps side by side: of two heads, of two layers (their means), or of one head on two
texts. What is compared, how the reader chooses it, and what the lesson is told.

Knows the session and core's comparison; compare_maps shows it.
"""

import streamlit as st

from core.analyse import sidebyside, source
from core.analyse.exchanged import exchanged
from core.errors import TokenwalkError
from pages.parts import doors, html, inputs, models, run, session, words
from pages.parts.html import number, percent
from pages.parts.views import Shown
from pages.parts.words import text
from pages.views.atlas import compare_maps
from pages.views.atlas.compare_sides import HERE, Side, Sides

KINDS = ("heads", "layers", "prompts")
SAME = 0.005  # cosines no further apart than this are said to be about the same
SOURCE = source.of(
    sidebyside.of_head,
    sidebyside.of_layer,
    sidebyside.paired,
    sidebyside.Beside,
    sidebyside.partner,
)


def view(trace, position: int) -> Shown:
    """The two maps, their difference, and the rows where they differ most."""
    _put_right(trace)
    kind, place = session.chosen("kind", KINDS), session.layer_and_head(trace.config)
    first = run.compute(_side, kind, "first", trace, *place)
    try:
        second = _second(kind, trace, *place)
    except TokenwalkError as error:
        why, values = words.error(error), {"cosine": "–"}
        return Shown(lambda: _refused(kind, trace, first, why), values, _no_answer, SOURCE)
    sides = Sides(first, second, run.compute(_beside, first, second))
    return Shown(
        lambda: _draw(kind, trace, position, sides),
        {"cosine": number(sides.found.cosine())},
        lambda: _answer(sides),
        SOURCE,
        lambda: _arrays(sides),
    )


def _put_right(trace):
    """What a link asks for and there is not, whichever kind of comparison shows it."""
    session.below("key_at", len(trace.ids))
    session.below("layer_b", trace.config.n_layers)
    session.below("head_b", trace.config.n_heads)
    session.chosen("scale", compare_maps.SCALES)


# ---- what is compared ----------------------------------------------------------------------------


def _side(kind, which, trace, layer, head):
    """One of the two maps, with its name."""
    if kind == "layers":
        name = text(f"{HERE}.{which}_layer", layer=layer)
        return Side(name, trace, layer, None, sidebyside.of_layer(trace, layer))
    key = "prompt" if kind == "prompts" else "head"
    name = text(f"{HERE}.{which}_{key}", layer=layer, head=head)
    return Side(name, trace, layer, head, sidebyside.of_head(trace, layer, head))


def _second(kind, trace, layer, head):
    """The map that the first one is compared with. TokenwalkError where the other text has none."""
    if kind == "prompts":
        trace = run.another(_other(trace))
    else:
        layer, head = _other_place(kind, trace, layer, head)
    return run.compute(_side, kind, "second", trace, layer, head)


def _other_place(kind, trace, layer, head):
    """Layer and head of the second map: as chosen, else such that there is something to see."""
    c = trace.config
    chosen = session.get("layer_b")
    if kind == "layers":
        other = 0 if layer else c.n_layers - 1
        return (other if chosen is None else chosen), None
    layer_b, head_b = (layer if chosen is None else chosen), session.get("head_b")
    if head_b is None and layer_b == layer:
        head_b = run.compute(sidebyside.partner, trace, layer, head)
    return layer_b, (head if head_b is None else head_b)


def _other(trace):
    """The second text: the reader's own, else the first with one word exchanged, else a preset."""
    return session.typed("other") or _proposed(trace)


def _proposed(trace):
    prompt = session.prompt()
    found = run.compute(exchanged, trace.model, prompt, bool(session.get("control")))
    presets = (each.prompt for each in models.presets(session.get("model")))
    return found or next(each for each in presets if each != prompt)


def _beside(first, second):
    at = sidebyside.paired(first.trace.ids, second.trace.ids)
    return sidebyside.beside(first.map, second.map, at)


# ---- the lesson's answer, and the arrays ---------------------------------------------------------


def _answer(sides):
    """What becomes of the cosine without the first token, and how much that one gets."""
    whole, rest = (sides.found.cosine(first) for first in (0, 1))
    if rest != rest:
        key = "none"
    elif abs(rest - whole) <= SAME:
        key = "same"
    else:
        key = "falls" if rest < whole else "rises"
    shares = map(percent, map(sidebyside.first_share, (sides.first.map, sides.second.map)))
    answer = words.html(f"{HERE}.answer_{key}", whole=number(whole), rest=number(rest))
    return {"answer": html.Made(answer), **dict(zip(("share_a", "share_b"), shares, strict=True))}


def _no_answer():
    return {"answer": text(f"{HERE}.answer_none"), "share_a": "–", "share_b": "–"}


def _arrays(sides):
    """Both maps and the difference, whole; hidden cells NaN."""
    found = sides.found
    return {
        "first": found.first,
        "second": found.second,
        "difference": found.difference,
        "positions_first": found.at_first,
        "positions_second": found.at_second,
        "ids_second": sides.second.trace.ids,
        "row_distance": found.distances,
    }


# ---- on the page ---------------------------------------------------------------------------------


def _draw(kind, trace, position, sides):
    _controls(kind, trace, sides.second)
    _about(kind, trace, sides)
    compare_maps.draw(trace, position, sides)
    doors.show(HERE, "atlas.head", "atlas.effect")


def _refused(kind, trace, first, why):
    """The second text cannot be run: why, and the first map alone."""
    _controls(kind, trace, None)
    run.notice(why, "error")
    compare_maps.alone(first)


def _controls(kind, trace, second):
    """What is compared, and the second of the two."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="beside_controls"):
        inputs.choice("kind", KINDS, key="beside_kind", of=HERE)
        if kind != "prompts":
            _number("layer_b", second.layer, trace.config.n_layers - 1)
        if kind == "heads":
            _number("head_b", second.head, trace.config.n_heads - 1)
    if kind == "prompts":
        _text_box(trace)


def _number(name, value, last):
    """A box for the second layer or head."""
    key = f"beside_{name}"
    st.session_state[key] = value
    st.number_input(
        text(f"{HERE}.{name}", last=last),
        0,
        last,
        key=key,
        on_change=lambda: session.put(**{name: st.session_state[key]}),
        width=150,
    )


def _text_box(trace):
    """A box for the second text; emptied, it holds the proposed one again."""
    proposed = "" if session.get("other") else _proposed(trace)
    longest = session.LONGEST_LINKED
    inputs.box(
        "other",
        text(f"{HERE}.other"),
        key="beside_other",
        longest=longest,
        height=70,
        shown=proposed if len(proposed) <= longest else "",
        empty=text(f"{HERE}.empty"),
    )


def _about(kind, trace, sides):
    """What the two have in common, and what of two texts is compared."""
    first, second = sides.first, sides.second
    if kind == "heads":
        _of_heads(trace.config, first, second)
    elif kind == "layers":
        words.caption(f"{HERE}.mean", n_heads=trace.config.n_heads)
    else:
        _of_texts(sides)


def _of_heads(config, first, second):
    if (first.layer, first.head) == (second.layer, second.head):
        words.caption(f"{HERE}.itself")
    elif first.layer == second.layer and first.head // config.group == second.head // config.group:
        words.caption(f"{HERE}.shared", kv_head=first.head // config.group)


def _of_texts(sides):
    """Which tokens are laid beside each other, and which are left out."""
    (ids_a, ids_b), found = (side.trace.ids for side in (sides.first, sides.second)), sides.found
    n = len(found.at_first)
    if len(ids_a) == len(ids_b):
        other = sum(a != b for a, b in zip(ids_a, ids_b, strict=True))
        words.caption(f"{HERE}.equal", n=n, other=other)
    else:
        values = {"n_first": len(ids_a), "n_second": len(ids_b), "n": n}
        values |= {"left_first": len(ids_a) - n, "left_second": len(ids_b) - n}
        words.caption(f"{HERE}.unequal", **values)
