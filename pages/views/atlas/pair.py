"""One query and one key of a head: their vectors, the dot product number by number, and the way
from the score to the weight and to what is fetched.

Knows the session and core; no maths.
"""

import streamlit as st

from core.analyse import attending, explain, looking
from core.analyse.panel import strip
from core.analyse.turning import unturned
from core.analyse.view import step_view
from pages.parts import explanation, html, journey, panels, run, session, terms, words
from pages.parts.html import Token, number, percent
from pages.parts.words import text

HERE, OP = "atlas.reading", "attn.scores"
OVER = 1.0005  # of a whole, from where on it reads more than 100.0%


def draw(trace, layer: int, head: int, query: int, key: int) -> None:
    """The pair at these positions, from its vectors to its weight."""
    place = (trace, layer, head, query)
    soft = run.compute(attending.softmax, *place)
    values = _named(trace, query, key) | {"weight": number(float(soft.recorded[key]))}
    words.heading(f"{HERE}.opened", **values)
    _kv_head(trace.config, head)
    term = terms.chosen(OP)
    step = run.compute(step_view, trace, OP, layer, head, query, key, term, False)
    _vectors(step, *place, key)
    with st.container(key="reading_pair"):
        left, right = st.columns([1.3, 1], gap="medium")
    with left:
        explained = run.compute(explain, trace, OP, layer, (head, query, key))
        explanation.show(explained, trace, terms.pointed(step.inputs), crumbs=False)
    with right:
        _weight(trace, layer, head, soft, query, key)
        _value(run.compute(attending.mixed, *place).of(key), values)
        _speeds(run.compute(looking.speeds, *place, key))
        _doors(query, key)


def data(trace, layer: int, head: int, query: int, key: int) -> dict:
    """The vectors of the pair as arrays; q and k as the scores read them."""
    q_op, k_op = trace.catalogue.op(OP, layer).inputs
    kv_head = head // trace.config.group
    return {
        "q": trace.read(q_op, layer)[query, head],
        "k": trace.read(k_op, layer)[key, kv_head],
        "v": trace.read("attn.v", layer)[key, kv_head],
        "products": attending.products(trace, layer, head, query, key).products[0],
        "score": trace.read(OP, layer)[head, query, key],
        "weight": trace.read("attn.weights", layer)[head, query, key],
    }


def _named(trace, query, key):
    tokens = {"query": Token(trace.tokens[query]), "key": Token(trace.tokens[key])}
    return tokens | {"query_at": query, "key_at": key}


def _kv_head(config, head):
    """Which KV head the chosen head reads."""
    kv_head, group = head // config.group, config.group
    last = (kv_head + 1) * group - 1
    values = {"head": head, "kv_head": kv_head, "first": kv_head * group, "last": last}
    words.caption(f"block.scores.{'shared' if group > 1 else 'own'}", **values)


# ---- vectors -------------------------------------------------------------------------------------


def _vectors(step, trace, layer, head, query, key):
    """Query and key as the scores read them, what they give number by number, and the value."""
    words.caption(f"{HERE}.vectors_caption")
    terms.show_parts(step.inputs, trace, OP, head)
    made = run.compute(attending.products, trace, layer, head, query, key)
    row, at = made.products[0], terms.pointed(step.inputs)
    products = strip("query_times_key", "output", "attention", row, ("query", "head_dim"), 0, at)

    def point():
        session.put(term=(OP, st.session_state["pair_products"]["cell"][1]))

    name = text("block.scores.products")
    panels.show(products, trace, "pair_products", point, name, rows=["q × k"])
    value = trace.read("attn.v", layer)[key, head // trace.config.group]
    _strip("attn.v", value, key, trace, layer)
    before = unturned(trace.catalogue.blocks[layer])
    if before != trace.catalogue.op(OP, layer).inputs:
        _unturned(before, trace, layer, head, query, key)


def _strip(op, row, at, trace, layer):
    role = trace.catalogue.op(op, layer).role
    panel = strip(op, "input", role, row, ("seq", "head_dim"), at)
    panels.show(panel, trace, key=f"pair_{op}")


def _unturned(before, trace, layer, head, query, key):
    """Query and key before the rotation, where they are asked for."""
    if not st.toggle(text(f"{HERE}.unturned"), key="reading_unturned"):
        return
    places = ((query, head), (key, head // trace.config.group))
    for op, place in zip(before, places, strict=True):
        _strip(op, trace.read(op, layer)[place], place[0], trace, layer)


# ---- numbers -------------------------------------------------------------------------------------


def _weight(trace, layer, head, soft, query, key):
    """From the score to the weight, beside the recorded row."""
    score = float(trace.read(OP, layer)[head, query, key])
    steps = [("score", score), ("less_max", soft.less_max[key]), ("power", soft.powers[key])]
    steps.append(("weight", soft.weights[key]))
    if "attn.softcap" in trace.catalogue.blocks[layer]:
        steps.insert(1, ("capped", soft.scores[key]))
    values = {"largest": number(soft.largest), "total": number(soft.total)}
    lines = [(words.html(f"{HERE}.step_{name}", **values), number(n)) for name, n in steps]
    recorded = soft.recorded[key]
    exact = f'<b title="{recorded:.9g}">{number(recorded)}</b>'
    lines.append((f"<b>{words.html('explain.recorded')}</b>", exact))
    words.heading(f"{HERE}.to_weight")
    said = words.html(f"{HERE}.to_weight_caption", n=soft.n_seen)
    explanation.agreed(soft.agreement, lines, said)


def _value(given, values):
    """What the key gives to what the head fetches."""
    own = {"length": number(given.length, 2), "size": number(given.size, 2)}
    words.heading(f"{HERE}.fetched")
    _sentence("fetched_caption", **values, **own, along=percent(given.along))
    if given.along >= OVER:
        _sentence("fetched_over")


def _speeds(found):
    """Which pairs of dimensions the dot product rests on."""
    words.heading(f"{HERE}.speeds")
    if found is None:
        return _sentence("no_speeds")
    values = {"n_fast": found.n_fast, "n_slow": found.n_slow, "fast": number(found.fast, 2)}
    values |= {"slow": number(found.slow, 2), "longest": html.wavelength(found.longest)}
    _sentence("speeds_caption", **values)
    if found.n_still:
        _sentence("speeds_still", n=found.n_still, still=number(found.still, 2))


def _sentence(name, **values):
    words.caption(f"{HERE}.{name}", **values)


def _doors(query, key):
    """The same pair on other pages."""
    place = {"pos": query, "cell": key}
    if st.button(text(f"{HERE}.door_positions"), key="pair_positions", type="tertiary"):
        journey.go("positions", op="distance", **place)
    if st.button(text(f"{HERE}.door_block"), key="pair_block", type="tertiary"):
        journey.go("block", op=OP, cell_axis="key", **place)
