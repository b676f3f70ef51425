"""The data-flow diagram of the block, drawn from the catalogue: the current op lit, its inputs
marked, what is done filled with its data.
"""

from functools import partial

import streamlit as st

from core.analyse.thumbs import thumbs
from pages import canvas
from pages.parts import html, run, session, walk, words
from pages.parts.words import text
from viz.flow import flow

STATES = ("aria", "node", "current", "input", "done", "later")


def show(step, layer: int, way: str) -> None:
    """The diagram of the ops of a layer; choosing a box goes to that op, or where it leads."""
    catalogue = step.trace.catalogue
    doors = _doors(catalogue, layer, way)
    go = partial(_go, catalogue, doors, way)
    canvas.flow(_payload(step, layer, way, doors), key="diagram", on_op=go)


def _go(catalogue, doors, way):
    """To where the chosen box leads."""
    chosen = st.session_state["diagram"]["op"]
    if chosen in doors:
        layer, op = doors[chosen]
        session.put(at_layer=layer)
        walk.to_op(op, way)
    elif chosen in catalogue.after:
        walk.to_page("output", op=chosen)
    else:
        walk.to_op(chosen, way)


def _payload(step, layer, way, doors):
    """The diagram as the canvas takes it: the block between its two ends, which are the doors or,
    in the first and last layer, the ops before and behind the blocks.
    """
    catalogue = step.trace.catalogue
    block, _ = _halves(catalogue.blocks[layer], way)
    before = {} if "from" in doors else catalogue.before
    after = {} if "to" in doors else catalogue.after
    ids = [*before, *block]
    here = ids.index(step.id)
    pictures = _pictures(step, layer, ids[: here + 1])
    nodes = [_node(op, pictures.get(id), way) for id, op in (before | block | after).items()]
    first, last = [*before] or ["from"], [*after] or ["to"]
    return flow(
        [*_door(doors, "from", way), *nodes, *_door(doors, "to", way)],
        [(source, id) for id, op in block.items() for source in op.inputs if source in block],
        current=step.id,
        inputs=_inputs(step.op, ids, first),
        done=ids[:here] + ["from"] * ("from" in doors),
        labels=words.table("flow", *STATES),
        before=first,
        after=last,
        pictures={id: (each.values, each.limit, each.amount) for id, each in pictures.items()},
        legend=[*_legend(step, way, bool(pictures))],
    )


def _pictures(step, layer, ids):
    """The data of these ops, as far as the step looks at them."""
    place = (step.head, step.position, step.together)
    return run.compute(thumbs, step.trace, layer, ids, *place)


def _doors(catalogue, layer, way):
    """The ends of the diagram that lead to the layers beside, each with its layer and op."""
    doors = {}
    if layer > 0:
        doors["from"] = (layer - 1, walk.steps(catalogue, layer - 1, way)[-1])
    if way == "short":
        doors["to"] = (layer, _halves(catalogue.blocks[layer], way)[1])
    elif layer < len(catalogue.blocks) - 1:
        doors["to"] = (layer + 1, walk.steps(catalogue, layer + 1, way)[0])
    return doors


def _halves(block, way):
    """The ops that are drawn, and the first that is not: the short walk ends behind attention."""
    ids = list(block)
    end = ids.index(walk.SHORT[-1]) + 1 if way == "short" else len(ids)
    return {id: block[id] for id in ids[:end]}, next(iter(ids[end:]), None)


def _door(doors, side, way):
    """The node of an end, in a list; none where the block has no layer on that side."""
    if side not in doors:
        return []
    layer = doors[side][0]
    label, lines = text("flow.layer", layer=layer), [text(f"flow.{side}", layer=layer)]
    if side == "to" and way == "short":
        label, lines = text("flow.rest"), [text("flow.rest_of_block")]
    return [{"id": side, "label": label, "role": "residual", "door": True, "lines": lines}]


def _inputs(op, ids, first):
    """What an op of the diagram reads, by id: the stream comes from what is before the block."""
    if op.id == "resid_pre":
        return first[-1:]
    return [source for source in op.inputs if source in ids]


def _node(op, picture, way):
    lines = [text("flow.weights", weights=_weights(op))] if op.weights else []
    if picture:
        low, high = html.number(picture.low, 2), html.number(picture.high, 2)
        lines.append(text("flow.numbers", n=f"{picture.n:,}", low=low, high=high))
    number = walk.SHORT.index(op.id) + 1 if way == "short" and op.id in walk.SHORT else None
    own = {"id": op.id, "label": words.short(op.id), "role": op.role}
    return own | {"lines": lines, "weight": bool(op.weights), "number": number}


def _weights(op):
    """What an op reads from the file, by name."""
    return ", ".join(text(f"weights.{name}") for name in op.weights + op.biases)


def _legend(step, way, pictured):
    """What the marks mean, and which weights this step reads."""
    reads = {"weights": _weights(step.op)} if step.op.weights else {}
    yield "weight", text("flow.mark_here" if reads else "flow.mark", **reads)
    if pictured and step.together:
        yield "picture", text("flow.pictures_all")
    elif pictured:
        yield "picture", text("flow.pictures", token=step.trace.tokens[step.position])
    if way == "short":
        yield "number", text("flow.short")
