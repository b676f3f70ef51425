"""How much work an op of a run was: operations counted from its shapes, and the time that was
measured beside them.

One addition, multiplication, division, comparison, root, exponential or tanh counts as one
operation, and a sum of n numbers as n. All that the code of core.model.ops computes is counted,
also what the mask then hides; looking up, copying and cutting into heads count nothing. Reads a
trace; no sentences.
"""

from dataclasses import dataclass
from math import prod

import numpy as np

from core.model import forward
from core.record.catalogue import Op

ROW = {"norm": (4, 4), "norm_all_heads": (4, 4), "layer_norm": (7, 5)}  # per number, per row
# by kind, operations per number of the value, as the lines of core.model.ops spell them out
NUMBER = {"row": 0, "copy": 0, "times": 1, "position": 1, "sum": 1, "product": 1}
NUMBER |= {"mask": 1, "softcap": 3, "softmax": 5, "silu": 5, "gelu_tanh": 9, "gelu_erf": 13}
LOOKED_UP = ("row", "position")  # ops that read a row of their table for each token


@dataclass(frozen=True)
class Factor:
    """A number in a product. axis: what it counts (an axis, "pair" of dimensions, or "cells" of
    queries and keys); "" for operations.
    """

    size: int
    axis: str = ""


@dataclass(frozen=True)
class Work:
    """What one op of a layer was to compute, for all positions of a run.

    Attributes:
        products: their sum is the count of operations; each is the product of its factors.
        shared: ids of the ops that come out of one product with this one, itself among them.
        shared_flops: operations of all of these. seconds: how long they took together in the run,
            measured once.
        weight_bytes: of weights, float32, that they read.
        seen: pairs of a query and a key that the mask leaves, of `cells` that are computed; None
            for an op that has no such pairs.
    """

    op: str
    products: tuple[tuple[Factor, ...], ...]
    shared: tuple[str, ...]
    shared_flops: int
    seconds: float
    weight_bytes: int
    seen: int | None
    cells: int | None

    @property
    def flops(self) -> int:
        """Operations of this op alone."""
        return _total(self.products)

    @property
    def rate(self) -> float:
        """Operations per second; 0 where the clock saw no time pass."""
        return self.shared_flops / self.seconds if self.seconds else 0.0


def work(trace, op: str, layer: int | None) -> Work:
    """The work of an op that ran for all positions: of a block, or before the first one."""
    entry, ops = trace.catalogue.op(op, layer), _ops_beside(trace, layer)
    shared = [each for each in ops if each.together and each.together is entry.together] or [entry]
    counts = (_total(products(trace, each, layer)) for each in shared)
    pairs = _pairs(trace, layer) if "key" in entry.axes or entry.kind == "mix" else (None, None)
    return Work(
        op,
        products(trace, entry, layer),
        tuple(each.id for each in shared),
        sum(counts),
        sum(trace.timings.get((each.id, layer), 0.0) for each in shared),
        sum(_bytes_read(trace, each, layer) for each in shared),
        *pairs,
    )


def layer_seconds(trace) -> np.ndarray:
    """How long attention and MLP took in each layer of the run: float64 [layer, half]. Attention
    ends where its result has been added to the stream.
    """
    halves = np.zeros((trace.config.n_layers, 2))
    for layer, block in enumerate(trace.catalogue.blocks):
        half = 0
        for op in block:
            halves[layer, half] += trace.timings.get((op, layer), 0.0)
            half = half or int(op == "resid_mid")
    return halves


def products(trace, entry: Op, layer: int | None) -> tuple[tuple[Factor, ...], ...]:
    """The operations of an op, as a sum of products of sizes."""
    value = _axes(trace, entry.axes)
    if entry.kind in ROW:
        per_number, per_row = ROW[entry.kind]
        rows = value[:1] if entry.kind == "norm_all_heads" else value[:-1]
        return (Factor(per_number), *value), (Factor(per_row), *rows)
    if entry.kind == "dot":
        summed = _axes(trace, trace.catalogue.op(entry.inputs[0], layer).axes[1:])
        return ((Factor(2), *value, *summed), *(() if not entry.biases else (value,)))
    if entry.kind == "rotate":
        pairs = trace.config.ropes[layer].dim // 2
        return ((Factor(6), *value[:-1], Factor(pairs, "pair")),)
    if entry.kind in ("score", "mix"):
        c = trace.config
        cells = (*_axes(trace, ("head", "query", "key")),)
        each = (Factor(2), *cells, Factor(c.head_dim, "head_dim"))
        return (each, cells) if entry.kind == "score" else (each,)  # scores are scaled besides
    return ((Factor(NUMBER[entry.kind]), *value),)


def _total(products):
    return sum(prod(factor.size for factor in product) for product in products)


def _axes(trace, axes):
    """A factor for each axis. Of a prompt that is read in several passes, each pass computes its
    own queries by all keys so far.
    """
    n = len(trace.ids)
    sizes, passes = trace.config.axis_sizes(n), forward.chunks(n)
    if "key" in axes and len(passes) > 1:
        cells = sum((stop - first) * stop for first, stop in passes)
        return tuple(Factor(sizes[a], a) for a in axes if a == "head") + (Factor(cells, "cells"),)
    return tuple(Factor(sizes[axis], axis) for axis in axes)


def _ops_beside(trace, layer):
    return (trace.catalogue.before if layer is None else trace.catalogue.blocks[layer]).values()


def _pairs(trace, layer):
    """Pairs of query and key per head: those the mask leaves, and all that are computed."""
    n, window = len(trace.ids), trace.config.windows[layer]
    seen = np.minimum(np.arange(1, n + 1), window or n).sum()
    return int(seen), sum((stop - first) * stop for first, stop in forward.chunks(n))


def _bytes_read(trace, entry, layer):
    """Bytes of an op's weights; of a table, those of the rows that were looked up."""
    arrays = [trace.model.weights.get(name, layer) for name in entry.weights + entry.biases]
    if entry.kind in LOOKED_UP:
        return len(trace.ids) * arrays[0][:1].nbytes
    return sum(array.nbytes for array in arrays)
