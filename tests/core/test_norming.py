"""What a norm measures: worked by hand, in every family beside the record, and what a single number
does to the scale by leaving it out.
"""

from dataclasses import replace

import numpy as np
import pytest

from core import RunSpec, run
from core.analyse import norming
from core.analyse.norming import Normed
from core.analyse.view import step_view
from core.model import ops
from tests.conftest import SMOLLM
from tests.core.conftest import EACH_FAMILY, places

KINDS = ("norm", "norm_all_heads", "layer_norm")


def by_hand(before, weight, mean=0.0, bias=None, eps=0.0, recorded=None):
    arrays = (np.array(x, float) for x in (before, weight))
    before, weight = arrays
    recorded = np.zeros(len(before), np.float32) if recorded is None else recorded
    bias = None if bias is None else np.array(bias, float)
    return Normed(before, recorded, weight, bias, np.float64(mean), eps)


def norms(trace):
    """Every norm of a model, and a cell of it."""
    for op, layer in places(trace):
        if trace.catalogue.op(op, layer).kind in KINDS:
            yield op, layer, tuple(n - 1 for n in trace.read(op, layer).shape)


def test_the_root_mean_square_by_hand():
    row = by_hand([3, 4], weight=[2, 1])  # squares 9 and 16, mean 12.5
    assert row.mean_square == 12.5 and row.root == row.scale**-1 == 12.5**0.5
    assert row.standard == pytest.approx([3 / 12.5**0.5, 4 / 12.5**0.5])
    assert row.standard_root == pytest.approx(1)
    assert row.after == pytest.approx([6 / 12.5**0.5, 4 / 12.5**0.5])
    assert by_hand([3, 4], [2, 1], eps=3.5).scale == 0.25


def test_mean_variance_and_bias_by_hand():
    row = by_hand([1, 3], weight=[2, 5], mean=2, bias=[1, -1])
    assert row.mean_square == 1 and row.standard.tolist() == [-1, 1]
    assert row.after.tolist() == [-1, 4]


def test_the_size_after_is_that_of_the_record():
    assert by_hand([3, 4], [2, 1], recorded=np.float32([1, 7])).after_root == 5


def test_shares_by_hand():
    largest, other = norming.largest_squares(by_hand([3, -4], weight=[1, 1]), 5)
    assert (largest.number, largest.value, largest.share) == (1, -4, 16 / 25)
    assert largest.factor == pytest.approx(5 / 3)  # √(12.5 / 4.5)
    assert other.factor == pytest.approx(5 / 4) and norming.rest([largest]) == pytest.approx(9 / 25)
    assert norming.rest([largest, other]) == 0


def test_shares_count_from_the_mean_and_the_scale_has_its_eps():
    first, second = norming.largest_squares(by_hand([1, 3], [1, 1], mean=2, bias=[0, 0]), 2)
    assert (first.value, second.value, first.share) == (-1, 1, 0.5)
    largest = norming.largest_squares(by_hand([3, -4], weight=[1, 1], eps=3.5), 1)[0]
    assert largest.factor == pytest.approx(2**0.5)  # √((12.5 + 3.5) / (4.5 + 3.5))


def test_without_its_only_number_a_row_has_no_scale():
    (only,) = norming.largest_squares(by_hand([0, 2], weight=[1, 1]), 5)
    assert only.share == 1 and only.factor == float("inf")
    assert norming.largest_squares(by_hand([0, 0], [1, 1], eps=0.25), 5) == []
    assert by_hand([0, 0], [1, 1], eps=0.25).scale == 2


def test_the_factor_is_what_the_norm_does_without_that_number(smollm):
    trace = run(RunSpec(SMOLLM, prompt="The capital of France is"))
    row, _ = norming.of_cell(trace, "attn_norm", 29, (1, 0))
    first = norming.largest_squares(row, 1)[0]
    assert first.number == 17 and first.share > 0.75  # one number sets the scale
    x = trace.read("resid_pre", 29)[1:2].copy()
    x[0, 17] = 0
    without = ops.rms_norm(x, row.weight.astype(np.float32), row.eps)[0]
    np.testing.assert_allclose(
        np.delete(without, 17), np.delete(row.recorded, 17) * first.factor, rtol=1e-5
    )


@EACH_FAMILY
def test_every_norm_of_a_family_computed_again(case, trace_of):
    trace, found = trace_of(case), 0
    for op, layer, index in norms(trace):
        row, own = norming.of_cell(trace, op, layer, index)
        assert row.recorded[own] == trace.read(op, layer)[index]
        assert row.agreement.equal, (op, layer)
        kept = row.mean_square / (row.mean_square + trace.config.norm_eps)
        assert row.standard_root == pytest.approx(kept**0.5)  # 1 but for eps
        assert not replace(row, eps=row.eps + row.mean_square / 1000).agreement.equal
        every = norming.of_all(trace, op, layer, index)
        assert len(every.before) == len(trace.ids)
        assert np.array_equal(every.before[index[0]], row.before)
        assert np.array_equal(every.recorded[index[0]], row.recorded)
        assert every.scale[index[0]] == pytest.approx(float(row.scale))
        found += 1
    assert found >= len(trace.catalogue.blocks)


def test_a_number_that_does_not_agree_is_the_one_shown():
    row = by_hand([3, 4, 0], weight=[2, 1, 1])
    recorded = row.after.astype(np.float32)
    assert replace(row, recorded=recorded).agreement.equal
    recorded[1] += 1e-3
    found = replace(row, recorded=recorded).agreement
    assert not found.equal and found.difference == pytest.approx(1e-3, rel=1e-2)
    assert found.tolerance == row.allowed[1]


def test_the_strip_at_standard_size_is_the_row_times_the_scale(smollm):
    trace = run(RunSpec(SMOLLM, prompt="Hi there"))
    view = step_view(trace, "mlp_norm", 3, 0, 1, 5)
    row, _ = norming.of_cell(trace, "mlp_norm", 3, view.index)
    panel = norming.standard_strip(row, view.inputs[0])
    expected = view.inputs[0].values * float(row.scale)
    np.testing.assert_allclose(panel.values, expected, rtol=1e-6)
    assert panel.selected == (0, 5) and panel.limit == pytest.approx(np.abs(expected).max())
