"""All attention maps of a run in one array, and which head to look at first. Reads a trace; no
figures.
"""

from dataclasses import dataclass

import numpy as np

from core.record.trace import freeze
from core.store import ByteStore

from . import roles

SUMMARIES = ByteStore(128 << 20)


@dataclass(frozen=True)
class Attention:
    """Every head of a run at a glance. Arrays are float32 and read-only.

    Attributes:
        maps: [layer, head, query, key]; a longer prompt is reduced to blocks, each shown by its
        maximum.
        block: how many tokens a cell of a map stands for, on each side.
        windows: by layer, how many cells of a map's row hold a key that is seen; None for all.
        last: what the last token looks at, never reduced: [layer, head, key].
        scores: what each head does, by the names of `roles.MEASURES`: [layer, head].
    """

    maps: np.ndarray
    block: int
    windows: tuple[int | None, ...]
    last: np.ndarray
    scores: dict[str, np.ndarray]

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return sum(each.nbytes for each in (self.maps, self.last, *self.scores.values()))


def attention(trace, largest: int = 64) -> Attention:
    """All heads of a run, with maps of at most `largest` cells a side. Each layer is run again
    once.
    """
    key = (trace.key, largest)
    return SUMMARIES.get(key, lambda: _summary(trace, largest), lambda summary: summary.nbytes)


def _summary(trace, largest):
    maps, last, scores = [], [], []
    for weights in trace.each_layer("attn.weights"):
        maps.append(reduce_max(weights, largest))
        last.append(weights[:, -1].copy())
        scores.append(roles.of_layer(weights, trace.ids))
    maps, last = freeze(np.stack(maps)), freeze(np.stack(last))
    scores = {name: _stacked(each[name] for each in scores) for name in roles.MEASURES}
    block = -(-last.shape[-1] // largest)
    # a cell of the map is seen if its newest key is, from its oldest query
    windows = tuple(w and -(-(w + block - 1) // block) for w in trace.config.windows)
    return Attention(maps, block, windows, last, scores)


def _stacked(rows):
    return freeze(np.stack([*rows]).astype(np.float32))


def reduce_max(maps, largest: int):  # [head, query, key] -> [head, query', key']
    """Maps of at most `largest` cells a side: each cell the maximum of a square block."""
    n = maps.shape[-1]
    block = -(-n // largest)
    if block == 1:
        return maps
    edges = np.arange(0, n, block)
    return np.maximum.reduceat(np.maximum.reduceat(maps, edges, axis=1), edges, axis=2)


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
