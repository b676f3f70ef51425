"""All attention maps of a run in one array, and which head to look at first. Reads a trace; no figures."""

import numpy as np

from core.store import ByteStore

MAPS = ByteStore(128 << 20)


def attention_maps(trace, largest: int = 64) -> np.ndarray:
    """Every head's weights: float32 [layer, head, query, key], read-only.

    Longer prompts are reduced to at most `largest` cells a side, each the maximum over a block of cells.
    """
    key = (trace.key, largest)
    return MAPS.get(key, lambda: _maps(trace, largest), lambda maps: maps.nbytes)


def _maps(trace, largest):
    maps = np.stack([reduce_max(weights, largest) for weights in trace.each_layer("attn.weights")])
    maps.flags.writeable = False
    return maps


def reduce_max(maps, largest: int):  # [head, query, key] -> [head, query', key']
    """Maps of at most `largest` cells a side: each cell the maximum of a square block."""
    n = maps.shape[-1]
    block = -(-n // largest)
    if block == 1:
        return maps
    edges = np.arange(0, n, block)
    return np.maximum.reduceat(np.maximum.reduceat(maps, edges, axis=1), edges, axis=2)


def sharpest_head(trace) -> tuple[int, int, int, float]:
    """Where the last token looks hardest at one token before it, the first token left out.

    Returns (layer, head, key, weight). With fewer than three tokens there is nothing between: (0, 0, 0, weight).
    """
    last = np.stack([w[:, -1] for w in trace.each_layer("attn.weights")])  # [layer, head, key]
    if last.shape[-1] < 3:
        return 0, 0, 0, float(last[0, 0, 0])
    between = last[:, :, 1:-1]
    layer, head, key = np.unravel_index(np.argmax(between), between.shape)
    return int(layer), int(head), int(key) + 1, float(between[layer, head, key])


def sink_heads(trace) -> int:
    """How many heads give the first token more than half of the last token's attention."""
    return sum(int((w[:, -1, 0] > 0.5).sum()) for w in trace.each_layer("attn.weights"))
