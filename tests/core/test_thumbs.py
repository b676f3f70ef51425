"""The small pictures of the diagram hold recorded numbers: each cell is the largest of its block.

The witness below walks over blocks one by one; it knows nothing of core's own reduction.
"""

import numpy as np
import pytest

from core.analyse.thumbs import COLUMNS, ROWS, thumbs
from core.model.axes import OP_AXES, is_layer_op
from tests.core.conftest import EACH_FAMILY

HEAD, POSITION = 3, 40
EACH_WAY = pytest.mark.parametrize("together", [False, True], ids=["one", "all"])


def blocks(n, most):
    step = -(-n // most)
    return [slice(first, first + step) for first in range(0, n, step)]


def numbers_of(trace, op, layer):
    """All positions of the chosen head [row, column], keys that are not seen left out."""
    value, axes = trace.read(op, layer if is_layer_op(op) else None), OP_AXES[op]
    if "key" not in axes:
        every_head = np.repeat(value, trace.config.group, axis=1) if "kv_head" in axes else value
        return every_head[:, HEAD] if value.ndim == 3 else value
    value = value[HEAD].astype(float)
    ago = np.arange(len(value))[:, None] - np.arange(len(value))
    seen = (ago >= 0) & (ago < (trace.config.windows[layer] or len(value)))
    return np.where(seen | (op in ("attn.scores", "attn.softcap")), value, np.nan)


def largest(block):
    there = block[~np.isnan(block)]
    return there[np.abs(there).argmax()] if there.size else np.nan


@EACH_WAY
@EACH_FAMILY
def test_each_cell_is_the_largest_number_of_its_block(case, trace_of, together):
    trace = trace_of(case)
    layer = len(trace.catalogue.blocks) - 1
    ops = [*trace.catalogue.before, *trace.catalogue.blocks[layer]]
    shown = thumbs(trace, layer, ops, HEAD, POSITION, together)
    assert list(shown) == ops
    for op, thumb in shown.items():
        numbers = numbers_of(trace, op, layer)
        rows = numbers if together else numbers[POSITION : POSITION + 1]
        cells = [
            [largest(rows[down, across]) for across in blocks(rows.shape[1], COLUMNS)]
            for down in blocks(len(rows), ROWS)
        ]
        np.testing.assert_array_equal(thumb.values, np.array(cells, np.float32), op)
        there = rows[~np.isnan(rows)]
        assert (thumb.n, thumb.low, thumb.high) == (there.size, there.min(), there.max()), op


@EACH_WAY
def test_the_chosen_row_sets_the_scale_and_shares_have_their_own(trace_of, together):
    """One outlier row, as the first token often is, must not bleach the others. Of 70 positions
    each row of cells holds 9: with position 40 those from 36 to 44.
    """
    trace = trace_of("llama")
    ops = ["attn.q", "attn.scores", "attn.weights"]
    q, scores, weights = thumbs(trace, 1, ops, HEAD, POSITION, together).values()
    own = slice(36, 45) if together else POSITION
    assert q.limit == np.abs(trace.read("attn.q", 1)[own, HEAD]).max()
    recorded = np.abs(trace.read("attn.scores", 1)[HEAD])
    assert scores.limit == (recorded.max() if together else recorded[POSITION].max())
    assert (weights.limit, weights.amount, q.amount) == (1, True, False)


def test_a_layer_that_is_not_kept_is_not_computed_op_by_op(trace_of, monkeypatch):
    trace = trace_of("llama")
    monkeypatch.setitem(trace.__dict__, "layer_fits", False)
    assert thumbs(trace, 1, ["attn.q"], HEAD, POSITION, False) == {}
