"""Somebody else's engine, for the tests of `compare`: our pass with other weights, another config
or other ops, so that a mistake can be made in it on purpose.
"""

import numpy as np
import pytest

from core.files.arrays import Entry
from core.model import forward, ops
from core.model.cache import KVCache
from core.record.compare import compare, eps_of
from core.record.given import Given


def same(value):
    return value


def values(model, ids, weights=same, config=same, changed=None, rounded=same):
    """Every value of a run by our names, the scores of the last position.

    weights, config: functions of the model's own. changed: functions in the place of ops.
    rounded: what becomes of every value.
    """
    found, c, weights = {}, config(model.config), weights(model.weights)

    def tap(op, layer, value):
        name = op if layer is None else f"layers.{layer}.{op}"
        found[name] = rounded(value)
        return found[name]

    cache = KVCache(c.n_layers, len(ids), c.n_kv_heads, c.head_dim)
    with pytest.MonkeyPatch.context() as patch:
        for name, function in (changed or {}).items():
            patch.setattr(ops, name, function)
        x = forward.forward(np.array(ids), weights, c, cache, tap)
        forward.unembed(x, weights, c, tap)
    return found | {op: found[op][-1] for op in ("logits", "logits_capped") if op in found}


def entries(values, kind="float32"):
    """The values as a file of arrays hands them out."""
    return {
        name: Entry(kind, value.shape, lambda value=value: value) for name, value in values.items()
    }


def judged(trace, values, kind="float32"):
    """The comparison of these values with a trace of ours."""
    given = Given(trace, entries(values, kind))
    return compare(trace, given, eps_of(given.kinds))
