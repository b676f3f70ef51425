"""In the text: one token and whom it looks at in one head, or who looks at it, in colours or with
arcs; and one pair of tokens opened.

Knows the session and core's looking; no maths, no figures.
"""

import streamlit as st

from core.analyse import attending, looking, source
from core.model import ops
from pages import canvas
from pages.parts import charts, doors, inputs, listing, run, session, terms, words
from pages.parts.html import Token, number
from pages.parts.views import Shown
from pages.parts.words import text
from pages.views.atlas import pair
from viz.arcs import MOST_WHOLE, NAMED, arcs, whole

HERE = "atlas.reading"
KINDS, WAYS, SCALES = ("text", "arcs"), ("back", "forward"), ("fixed", "rest")
FEW = 8  # of many tokens, those of the largest weight are listed
MOST_ARCS, LEAST = 120, 0.05  # of the whole head in the background, and the weight of the least
LABELS = ("aria", "pair", "later", "outside", "left", "masked", "save")


def view(trace, position: int) -> Shown:
    """The chosen token in the head of the sidebar."""
    layer, head = session.layer_and_head(trace.config)
    found = run.compute(looking.looking, trace, layer, head)
    back = session.chosen("by", WAYS) == "back"
    other = _other(found, position, back)
    query, key = (position, other) if back else (other, position)
    of_pair = source.of(attending.compared, attending.softmax)
    return Shown(
        lambda: _draw(trace, found, position, other, (layer, head)),
        {"layer": layer, "head": head},
        lambda: _answer(trace, found),
        source.joined(source.of(ops.scores, ops.softmax), source.of(looking.Looking), of_pair),
        lambda: _data(trace, found, position, (layer, head, query, key)),
    )


def _other(found, position, back):
    """The second token of the pair: the chosen one where there is such a pair, else the one of the
    largest weight. A way back to a number says its key as the cell.
    """
    if session.get("cell") is not None:
        session.settle(key_at=session.get("cell"), cell=None, cell_axis=None)
    if session.get("key_at") not in found.others(position, back):
        session.settle(key_at=None)
        return found.strongest(position, back)
    return session.get("key_at")


def _answer(trace, found):
    """What tokens receive: who most, and how many less than they give away."""
    most, received = found.most_received
    named = {"most": Token(trace.tokens[most]), "most_at": most}
    return named | {"most_sum": number(received, 2), "n_less": found.n_less}


def _data(trace, found, position, place):
    """The arrays behind the figures."""
    ways = {way: way == "back" for way in WAYS}
    given = {f"weights_{way}": found.given(position, back) for way, back in ways.items()}
    others = {f"positions_{way}": list(found.others(position, back)) for way, back in ways.items()}
    place_of = dict(zip(("layer", "head", "query", "key"), place, strict=True))
    return {"position": position, **given, **others, **place_of, **pair.data(trace, *place)}


# ---- figures -------------------------------------------------------------------------------------


def _draw(trace, found, position, other, place):
    with st.container(horizontal=True, key="reading_controls", vertical_alignment="bottom"):
        kind = _choice("kind", KINDS)
        back = _choice("by", WAYS, key_at=None) == "back"
        first = not back or _choice("scale", SCALES) == "fixed"
    drawn, n_arcs = found.arcs(MOST_ARCS, LEAST, first) if kind == "arcs" else (None, 0)
    how = {"back": back, "first": first, "kind": kind, "drawn": drawn}
    _figure(trace, found, position, other, how)
    _hint(len(trace.ids))
    _said(trace, found, position, back, first)
    if kind == "arcs" and whole(len(trace.ids)):
        few = "some" if len(drawn) < n_arcs else "all"
        words.caption(f"{HERE}.arcs_{few}", n=len(drawn), total=f"{n_arcs:,}", least=LEAST)
    _table(trace, found, position, other, back)
    query, key = (position, other) if back else (other, position)
    pair.draw(trace, *place, query, key)
    doors.show(HERE, "atlas.head", "atlas.effect", "atlas.compare")


def _hint(n_tokens):
    """What can be done in the figure."""
    if whole(n_tokens):
        return words.caption(f"{HERE}.hint", least=NAMED)
    words.caption(f"{HERE}.long", least=NAMED, most=MOST_WHOLE)


def _choice(name, options, **put):
    """One of the switches above the figure."""
    return inputs.choice(name, options, key=f"reading_{name}", of=HERE, **put)


def _figure(trace, found, position, other, how):
    """The tokens; a click on one chooses it, with Shift it becomes the other of the pair."""
    tokenizer, key = trace.model.tokenizer, "reading_tokens"
    control = set(tokenizer.special.values())
    way, amount = WAYS[not how["back"]], how["kind"] if how["first"] else "rest"
    labels = words.table(HERE, *LABELS) | {"token": text("strip.token")}
    labels |= {name: text(f"{HERE}.{name}_{way}") for name in ("now", "most")}
    if not how["first"]:
        labels |= {name: text(f"{HERE}.{name}_rest") for name in ("most", "pair")}
    payload = arcs(
        found.weights,
        trace.tokens,
        trace.ids,
        selected=position,
        other=other,
        window=found.window,
        ends=[tokenizer.token_bytes(id).endswith(b"\n") for id in trace.ids],
        special=[id in control for id in trace.ids],
        labels=labels | {"amount": text(f"{HERE}.amount_{amount}")},
        name=f"attention_{how['kind']}_pos{position}",
        **how,
    )

    def moved():
        session.put(pos=st.session_state[key]["position"], key_at=None)

    canvas.arcs(payload, key, moved, lambda: session.put(key_at=st.session_state[key]["other"]))


def _said(trace, found, position, back, first):
    """What the weights sum to, and what is left out."""
    token, n = Token(trace.tokens[position]), len(found.others(position, back))
    values = {"token": token, "n": n, "sum": number(found.total(position, back))}
    words.caption(f"{HERE}.sum_{WAYS[not back]}", **values)
    if not first:
        weight = number(float(found.weights[position, 0]))
        key = "rest" if position else "rest_none"
        words.caption(f"{HERE}.{key}", first=Token(trace.tokens[0]), weight=weight)
    if found.window:
        words.caption(f"{HERE}.window", window=f"{found.window:,}")


def _table(trace, found, position, other, back):
    """The tokens of the largest weights; a click, or Enter, makes one the other of the pair."""
    way, among, given = WAYS[not back], found.others(position, back), found.given(position, back)
    weights = dict(zip(among, given.tolist(), strict=True))
    order = found.order(position, back)
    shown = [each for n, each in enumerate(order) if n < FEW or each == other]
    role, label = ("key", "query")[not back], text(f"{HERE}.table_aria")
    words.heading(f"{HERE}.table_{way}", token=Token(trace.tokens[position]), position=position)
    words.caption(f"{HERE}.table_caption")
    head = [words.html(f"{HERE}.head_{name}") for name in (role, "distance", "weight")]
    rows = [
        [
            terms.coordinate(role, each, trace),
            str(abs(position - each)),
            f"<b>{listing.short(weights[each], 4)}</b>",
            listing.share(weights[each]),
        ]
        for each in shown
    ]
    others = [each for each in order if each not in shown]
    n_rest, rest = len(others), found.total(position, back, others)
    bar = listing.share(rest) if back else ""  # what many give together is no share of 1
    foot = [[terms.rest(n_rest), "", listing.short(rest, 4), bar]]
    listing.show("other", [*head, ""], rows, shown, other, label, foot * bool(n_rest))
    listing.listen("other", lambda each: session.put(key_at=each))
    lines = [(each, trace.tokens[each], weights[each]) for each in among]
    charts.save(f"weights_{way}_{position}", ("position", "token", "weight"), lines)
