"""Effect: what a head looks at, what it writes towards a token, and what becomes of the prediction
without it; in one text, or over several.
"""

import streamlit as st

from core.analyse import muting, source
from core.analyse.output import guess
from pages.parts import doors, html, inputs, journey, mute, run, session, strip, target, words
from pages.parts.html import Token, number, percent
from pages.parts.views import Shown
from pages.parts.words import text
from pages.views.atlas import effect_samples, effect_tables

HERE = "atlas.effect"
KINDS = ("one", "several")


def tags() -> frozenset[str]:
    """Tags for the lesson: "several" where the head is shown over several texts."""
    return frozenset({"several"} & {session.get("kind")})


def view(trace, position: int) -> Shown:
    """The chosen head at the chosen position, or over several texts."""
    place = (session.get("at_layer"), session.get("at_head"))
    id = target.chosen(trace, position)
    found = run.compute(muting.written, trace, *place, position, id)
    return Shown(
        lambda: _draw(trace, position, place, id, found),
        _values(trace, position, place, found),
        lambda: _answer(trace, position, place),
        source.of(muting.muted, muting.effect, muting.divergence, muting.written),
        lambda: _data(trace, position, place, id, found),
    )


def _values(trace, position, place, found):
    key = found.few()[0]
    top = run.compute(guess, trace, position, 1).top[0]
    values = {"layer": place[0], "head": place[1], "top": Token(top.text)}
    return values | {"key": Token(trace.tokens[key]), "weight": percent(found.weights[key])}


def _answer(trace, position, place):
    """What becomes of the first candidate, and what the head itself adds to it."""
    effect = mute.effect(trace, *place, position)
    id = effect.top[0][0].id
    before, after = (percent(float(probs[id])) for probs in effect.probs)
    direct = run.compute(muting.written, trace, *place, position, id).total
    return {
        "before": before,
        "after": after,
        "verdict": text(f"{HERE}.{RAISED[effect.raised(id)]}"),
        "direct": number(direct),
        "total": number(effect.total(id)),
        "place": run.compute(muting.place, trace, *place, id, position),
    }


RAISED = {1: "rises", -1: "falls", 0: "stays"}


def _data(trace, position, place, id, found):
    effect = run.compute(muting.effect, trace, *place, position)
    names = {"layer": place[0], "head": place[1], "position": position, "target": id}
    names |= {"probs": effect.probs[0], "probs_muted": effect.probs[1]}
    names |= {"logits": effect.logits[0], "logits_muted": effect.logits[1]}
    return names | {
        "key_weights": found.weights,
        "key_values": found.values,
        "key_parts": found.parts,
    }


# ---- figures -------------------------------------------------------------------------------------


def _draw(trace, position, place, id, found):
    if inputs.choice("kind", KINDS, key="effect_kind", of=HERE) == "several":
        effect_samples.draw(trace, place)
    else:
        _one(trace, position, place, id, found)
    there = ("atlas.head", "atlas.compare", "lens.parts")
    doors.show(HERE, *there, at_layer=place[0], at_head=place[1])


def _one(trace, position, place, id, found):
    """The head at one position: what it looks at, the switch, and what comes of it."""
    strip.show(trace, position, key="effect_tokens")
    _looks(trace, position, place, found)
    mute.button(*place)
    target.pick(trace, position)
    effect = mute.effect(trace, *place, position) if mute.on() else None
    if effect:
        mute.show(trace, *place, position, effect, id)
    effect_tables.by_key(trace, position, place, id, found)
    effect_tables.direct_and_total(trace, position, place, id, found, effect)
    if effect:
        _in_short(trace, id, found, effect)
    _door(place)


def _looks(trace, position, place, found):
    """One sentence: what the head looks at most."""
    order = found.few()
    named = {"layer": place[0], "head": place[1], "token": Token(trace.tokens[position])}
    named |= {"position": position}
    for name, key in zip(("key", "next"), order[:2], strict=False):
        named |= {name: Token(trace.tokens[key]), f"{name}_at": key}
        named[f"{name}_weight"] = percent(found.weights[key])
    said = words.html(f"{HERE}.looks{'_alone' * (len(order) < 2)}", **named)
    html.show(f'<p class="tw-mute-said">{said}</p>')


def _in_short(trace, id, found, effect):
    """One sentence: what the head looks at, what it writes, and what becomes of the token."""
    key, written, moved = found.few()[0], found.total, effect.raised(id)
    before, after = (percent(float(probs[id])) for probs in effect.probs)
    named = {"key": Token(trace.tokens[key]), "weight": percent(found.weights[key])}
    named |= {"target": Token(trace.model.tokenizer.display(id)), "written": number(written)}
    case = f"{'towards' if written > 0 else 'against'}_{RAISED[moved]}"
    said = f"{HERE}.short_{case if written and moved else 'still'}"
    said = words.html(said, **named, before=before, after=after)
    html.show(f'<p class="tw-mute-said">{said}</p>')


def _door(place):
    """To where the numbers are made: the mix of the head."""
    values = {"layer": place[0], "head": place[1]}
    if st.button(text(f"{HERE}.to_mix", **values), key="effect_to_mix", type="tertiary"):
        journey.go("block", op="attn.mix")
