"""The pass once more, op by op from the catalogue: with some values put in the place of ours, and
with an op computed in another way.

Knows a trace and its catalogue. `core.model.forward` is the pass itself; here each op is a call
whose parts can be looked at and changed.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from core.model.axes import VOCAB_OPS

from .catalogue import Op


@dataclass(frozen=True)
class Call:
    """One op about to be computed, with everything it takes."""

    op: Op
    layer: int | None
    function: Callable
    inputs: tuple
    weights: tuple
    constants: tuple
    biases: tuple

    def value(self):
        """The op's value."""
        return self.function(*self.inputs, *self.weights, *self.constants, *self.biases)


def call(trace, op, layer, values) -> Call:
    """The call of an op, its inputs taken from `values` (by op id)."""
    arrays = trace.model.weights
    inputs = tuple(values[name] for name in op.inputs)
    weights, biases = (
        tuple(arrays.get(name, layer) for name in names) for names in (op.weights, op.biases)
    )
    constants = trace.constants(op.id, layer)
    return Call(op, layer, op.function, inputs, weights, constants, biases)


def replay(trace, given, rows=slice(None), first=None, change=None):
    """Yield (op id, layer, value) in the order of the pass, each made of the values before it.

    given(op id, layer): a value to go on with in the place of ours, or None. first: the block to
    begin with, where the stream into it is given; None begins with the embedding. rows: positions
    whose scores are computed. change(call): another call, or the same.
    """
    values = {"ids": np.array(trace.ids)}
    if first is not None:
        values["stream"] = _stream(given, first)
    for layer, part in _parts(trace.catalogue, first):
        for op in part.values():
            if op.id in VOCAB_OPS and op.inputs[0] not in VOCAB_OPS:
                values[op.inputs[0]] = values[op.inputs[0]][rows]
            made = call(trace, op, layer, values)
            value = (change(made) if change else made).value()
            yield op.id, layer, value
            theirs = given(op.id, layer)
            values[op.id] = value if theirs is None else theirs
        values["stream"] = values[op.id]


def _parts(catalogue, first):
    before = [(None, catalogue.before)] if first is None else []
    return [*before, *list(enumerate(catalogue.blocks))[first or 0 :], (None, catalogue.after)]


def _stream(given, layer):
    """What goes into a block, as given under one of its two names."""
    into = given("resid_pre", layer)
    return given("resid_post", layer - 1) if into is None else into


def origins(trace, names, op, layer):
    """From what given values an op was made: two sets of (op id, layer).

    The ops between that were not given (all the way from the start if nothing was), and the given
    ones that they and the op itself read.
    """
    between, read, todo, catalogue = set(), set(), [(op, layer)], trace.catalogue
    while todo:
        op, layer = todo.pop()
        for name in catalogue.op(op, layer).inputs:
            source = trace.stream_source(layer) if name == "stream" else (name, layer)
            if source in names:
                read.add(source)
            elif name != "ids" and source not in between:
                between.add(source)
                todo.append(source)
    return between, read


def order_of(catalogue):
    """A sorting key for (op id, layer): the order of the pass."""
    n = len(catalogue.blocks)
    places = {id: i for i, id in enumerate(catalogue.ids)}
    return lambda where: (
        -1 if where[0] in catalogue.before else n if where[1] is None else where[1],
        places[where[0]],
    )
