"""Our side of `make parity` where a Trace does not serve: decoding, and models made wrong.

Knows the pass and the cache; no files, no transformers.
"""

import numpy as np

from core.model import forward, ops
from core.model.cache import KVCache


def values(model, ids) -> dict:
    """Every value of one pass over ids by (op, layer); logits of all positions, [seq, vocab]."""
    taken = {}

    def tap(op, layer, value):
        taken[op, layer] = value
        return value

    x = forward.forward(np.array(ids), model.weights, model.config, cache_for(model, ids), tap)
    logits = forward.unembed(x, model.weights, model.config, tap)
    return taken | {("probs", None): ops.softmax(logits)}


def decode(model, ids, n_prompt) -> np.ndarray:
    """Logits after the first n_prompt ids, then after each id more, by itself, from the cache:
    float32 [seq, vocab].
    """
    cache, rows, tap = cache_for(model, ids), [], forward.no_tap
    for part in (ids[:n_prompt], *([id] for id in ids[n_prompt:])):
        x = forward.forward(np.array(part), model.weights, model.config, cache, tap)
        rows.append(forward.unembed(x[-1:], model.weights, model.config, tap)[0])
    return np.stack(rows)


def cache_for(model, ids) -> KVCache:
    """An empty cache with room for the ids."""
    c = model.config
    return KVCache(c.n_layers, len(ids), c.n_kv_heads, c.head_dim)
