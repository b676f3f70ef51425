"""One position through all layers: what its heads look at and fetch, and which of its neurons fire.

The blocks are run again for this one row, as decoding runs them, from the stream and the keys and
values of the run. Other rows of a long text cost nothing then; the results equal what ran but for
the last digits of float32. Reads a trace; no figures.
"""

from dataclasses import dataclass

import numpy as np

from core.model import forward, rope
from core.model.tap import editing_tap
from core.record.trace import Recorder, freeze

from .derived import kept
from .shares import hidden_op


@dataclass(frozen=True)
class Through:
    """Arrays of one position, float32, read-only.

    Attributes:
        weights: of attention, [layer, head, key]. mix: what each head fetched, [layer, head,
            head_dim]. mid: the stream after attention, [layer, embedding]. hidden: how active each
            neuron is, [layer, neuron].
    """

    weights: np.ndarray
    mix: np.ndarray
    mid: np.ndarray
    hidden: np.ndarray

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return sum(each.nbytes for each in vars(self).values())

    def looked_at(self, layer: int, head: int) -> tuple[int, float]:
        """The key that a head gives most weight to, and that weight."""
        row = self.weights[layer, head]
        return int(row.argmax()), float(row.max())


def through(trace, position: int) -> Through:
    """The way of one position; every weight of the blocks is read once."""
    position %= len(trace.ids)
    return kept(trace, ("through", position), lambda: _run(trace, position))


class _Recorded:
    """The cache of a run up to a position, whose own key and value are there already."""

    def __init__(self, cache, stop):
        self.cache, self.stop = cache, stop

    def append(self, layer, k, v):
        return self.cache.keys[layer, : self.stop], self.cache.values[layer, : self.stop]


@np.errstate(all="ignore")
def _run(trace, position):
    c, n, cache = trace.config, len(trace.ids), _Recorded(trace.cache, position + 1)
    ops = "attn.weights", "attn.mix", "resid_mid", hidden_op(trace, 0)
    recorder = Recorder(ops)
    tap, stop = editing_tap(trace.spec.edits, position, recorder), position + 1
    for layer, w in enumerate(trace.model.weights.layers):
        turn = c.ropes[layer] and rope.cos_sin(c.ropes[layer], position, stop, n)
        forward.block(trace.stream[layer, position:stop], w, c, layer, turn, cache, tap)
    weights, *rows = (recorder.parts[op] for op in ops)
    rows = [np.concatenate(each) for each in rows]
    return Through(*map(freeze, [np.concatenate(weights, axis=1).swapaxes(0, 1), *rows]))
