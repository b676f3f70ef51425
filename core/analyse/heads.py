"""All attention maps of a run in one array, and which head to look at first. Reads a trace; no
figures.
"""

from dataclasses import dataclass

import numpy as np

from core.record.trace import Trace, freeze
from core.run import run

from . import roles
from .derived import kept

LARGEST, REDUCED = 64, 48  # cells a side of a map: of one that is whole, and of one that is not


@dataclass(frozen=True)
class Attention:
    """Every head of a run at a glance. Arrays are float32 and read-only.

    Attributes:
        maps: [layer, head, query, key]; a longer prompt is reduced to blocks, each shown by its
        maximum.
        beside: [layer, head, query], the first column of the maps without the first token: the
        maximum over the other tokens of its blocks; 0 where a block holds no other.
        block: how many tokens a cell of a map stands for, on each side.
        windows: by layer, how many cells of a map's row hold a key that is seen; None for all.
        last: what the last token looks at, never reduced: [layer, head, key].
        peaks: the largest weight that each token gives to one after the first, itself among them:
        [layer, head, query]; NaN for the first token, which has no such choice.
        scores: what each head does, by the names of `roles.MEASURES`: [layer, head].
    """

    maps: np.ndarray
    beside: np.ndarray
    block: int
    windows: tuple[int | None, ...]
    last: np.ndarray
    peaks: np.ndarray
    scores: dict[str, np.ndarray]

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        held = (self.maps, self.beside, self.last, self.peaks, *self.scores.values())
        return sum(each.nbytes for each in held)

    def without_first(self) -> np.ndarray:
        """The maps without what the first token gets: float32 [layer, head, query, key]."""
        maps = self.maps.copy()
        maps[..., 0] = self.beside
        return maps

    def table(self) -> np.ndarray:
        """The scores side by side, in their order: float32 [layer, head, score]."""
        return np.stack([*self.scores.values()], axis=-1)


def side(n_tokens: int) -> int:
    """How many cells a side the maps of a text may have."""
    return LARGEST if n_tokens <= LARGEST else REDUCED


def attention(trace, largest: int | None = None) -> Attention:
    """All heads of a run, with maps of at most `largest` cells a side (by default `side` of them).
    Each layer is run again once.
    """
    largest = largest or side(len(trace.ids))

    def again():
        summing = _Summing(trace.config, trace.ids, largest)
        for layer, weights in enumerate(trace.each_layer("attn.weights")):
            summing.see("attn.weights", layer, weights)
        return summing.summary()

    return kept(trace, ("heads", largest), again)


def run_summing(spec) -> Trace:
    """`run`, and from the same pass what `attention` gives: no layer is run again for it. A prompt
    that is run in several parts is left to `attention`.
    """
    parts = []

    def watch(model, ids, first):
        parts.append(_Summing(model.config, ids, side(len(ids))))
        return parts[-1].see

    trace = run(spec, watch)
    if len(parts) == 1:
        kept(trace, ("heads", side(len(trace.ids))), parts[0].summary)
    return trace


class _Summing:
    """Takes the weights of one layer after the other, and lets them go."""

    def __init__(self, config, ids, largest):
        self.windows, self.ids = config.windows, ids
        self.block = -(-len(ids) // largest)
        self.maps, self.beside, self.last, self.peaks, self.scores = [], [], [], [], []

    def see(self, op, layer, value):
        """A tap's view of a pass: of all values the weights [head, query, key] of a whole text."""
        if op != "attn.weights" or value.shape[1] < len(self.ids):
            return
        rows = _max_of(self.block, value, 1)
        self.maps.append(_max_of(self.block, rows, 2))
        self.beside.append(rows[..., 1 : self.block].max(axis=2, initial=0))
        self.last.append(value[:, -1].copy())
        self.peaks.append(value[..., 1:].max(axis=2, initial=0))
        self.peaks[-1][:, 0] = np.nan
        self.scores.append(roles.of_layer(value, self.ids, self.windows[layer]))

    def summary(self):
        """All layers together."""
        scores = {name: _stacked([each[name] for each in self.scores]) for name in roles.MEASURES}
        found = (self.maps, self.beside, self.last, self.peaks)
        maps, beside, last, peaks = map(_stacked, found)
        # a cell of the map is seen if its newest key is, from its oldest query
        block, windows = self.block, self.windows
        windows = tuple(w and -(-(w + block - 1) // block) for w in windows)
        return Attention(maps, beside, block, windows, last, peaks, scores)


def _stacked(layers):
    return freeze(np.stack(layers).astype(np.float32, copy=False))


def reduce_max(maps, largest: int):  # [head, query, key] -> [head, query', key']
    """Maps of at most `largest` cells a side: each cell the maximum of a square block."""
    block = -(-maps.shape[-1] // largest)
    return _max_of(block, _max_of(block, maps, 1), 2)


def _max_of(block, maps, axis):
    """The maximum of every `block` entries along an axis; the last ones may be fewer. Slice by
    slice: many times faster than ufunc.reduceat, whose inner loop is `block` long.
    """
    if block == 1:
        return maps
    before = (slice(None),) * axis
    largest = maps[(*before, slice(None, None, block))].copy()
    for i in range(1, block):
        more = maps[(*before, slice(i, None, block))]
        part = largest[(*before, slice(more.shape[axis]))]
        np.maximum(part, more, out=part)
    return largest


def sharpest(last) -> tuple[int, int, int]:
    """Where the last token looks hardest at one token before it, the first left out: (layer, head,
    key).

    last: [layer, head, key]. With fewer than three tokens there is nothing between: (0, 0, 0).
    """
    if last.shape[-1] < 3:
        return 0, 0, 0
    between = last[:, :, 1:-1]
    layer, head, key = np.unravel_index(np.argmax(between), between.shape)
    return int(layer), int(head), int(key) + 1


def n_sinks(last) -> int:
    """How many heads give the first token more than half of the last token's attention. last:
    [layer, head, key].
    """
    return int((last[:, :, 0] > 0.5).sum())


def sink_share(last) -> float:
    """The first token's share of the last token's attention, mean over all heads. last: [layer,
    head, key].
    """
    return float(last[:, :, 0].mean())


def n_beyond(last) -> int:
    """How many heads give one token after the first more than half of the last token's attention.
    last: [layer, head, key].
    """
    return int((last[:, :, 1:].max(axis=2, initial=0) > 0.5).sum())


def hardest(last) -> tuple[int, int, int]:
    """Where the last token looks hardest at one token, itself among them, the first left out:
    (layer, head, key). last: [layer, head, key]; a single token has nothing else: (0, 0, 0).
    """
    if last.shape[-1] == 1:
        return 0, 0, 0
    layer, head, key = np.unravel_index(np.argmax(last[:, :, 1:]), last[:, :, 1:].shape)
    return int(layer), int(head), int(key) + 1


def looked_at(row, n: int) -> list[tuple[int, float]]:
    """The n keys of a row of weights [key] that get most, with their weights; equal ones in the
    order of the text.
    """
    return [(int(key), float(row[key])) for key in np.argsort(-row, kind="stable")[:n]]


@np.errstate(all="ignore")  # broken weights may have values of no length
def first_value(trace) -> float | None:
    """How long the first token's value vector is beside the mean of the others: the median over all
    layers and key/value heads. None for a single token.
    """
    lengths = np.linalg.norm(trace.cache.values[:, : len(trace.ids)], axis=-1)
    if lengths.shape[1] == 1:
        return None
    return float(np.median(lengths[:, 0] / lengths[:, 1:].mean(axis=1)))
