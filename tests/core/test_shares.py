"""What heads and neurons write: against the output with all others silenced, for every family."""

from copy import copy
from dataclasses import replace

import numpy as np
import pytest

from core import RunSpec, run
from core.analyse import shares
from core.model import ops
from tests.conftest import SMOLLM

BY_HAND = shares.Shares(
    into=np.array([3.0, -1.0, 0.5]),
    bias=0.5,
    lengths=np.array([5.0, 2.0, 0.0]),
    along=np.array([4.0, -1.0, 0.0]),
    recorded=3.001,
    length=4.0,
    tolerance=0.002,
)
FAMILIES = ["llama", "gemma2", "olmo2", "gpt2", "gpt_neox", "smollm3", "llama biases"]
LAYER, POSITION, DIM = 1, 11, 7


@pytest.fixture(params=FAMILIES)
def trace(request, trace_of):
    return trace_of(request.param)


def alone(x, part):
    """x with all but one of its parts at zero."""
    kept = np.zeros_like(x)
    kept[part] = x[part]
    return kept


def compared(found, vectors, row, bias):
    """That shares are those of vectors [part, embedding], whose sum plus a bias is the row."""
    row = row.astype(float)
    lengths = np.sqrt((vectors**2).sum(axis=1))
    cosines = vectors @ row / lengths / np.sqrt(row @ row)
    np.testing.assert_allclose(found.into, vectors[:, DIM], rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(found.lengths, lengths, rtol=1e-5)
    np.testing.assert_allclose(found.cosines, cosines, atol=1e-5)
    np.testing.assert_allclose(found.length, np.sqrt(row @ row), rtol=1e-6)
    of_bias = 0 if bias is None else bias @ row / (row @ row)
    assert found.shares.sum() + of_bias == pytest.approx(1, abs=1e-5)
    assert found.bias == (0 if bias is None else pytest.approx(bias[DIM]))
    assert found.agreement.equal and found.recorded == pytest.approx(row[DIM])
    assert found.longest(3) == sorted(range(len(lengths)), key=lambda i: -lengths[i])[:3]


def test_by_hand():
    found = BY_HAND.agreement
    assert BY_HAND.total == 3 and found.difference == pytest.approx(0.001) and found.equal
    assert not replace(BY_HAND, recorded=3.01).agreement.equal
    assert BY_HAND.cosines[:2].tolist() == [0.8, -0.5] and np.isnan(BY_HAND.cosines[2])
    assert BY_HAND.shares.tolist() == [1, -0.25, 0]
    assert BY_HAND.longest() == [0, 1, 2] and BY_HAND.longest(1) == [0]
    assert BY_HAND.rest([0]) == -0.5 and BY_HAND.rest([0, 1, 2]) == 0
    assert shares.columns(np.array([[3, 0], [4, 2]], np.float32)).tolist() == [5, 2]


def test_a_head_writes_what_the_projection_makes_of_it_alone(trace):
    weights = trace.model.weights
    row, mixed = (trace.read(op, LAYER)[POSITION] for op in ("attn.out", "attn.mix"))
    bias = weights.get("attn_out_bias", LAYER) if trace.config.biases & {"attn_out"} else None
    weight = weights.get("attn_out", LAYER)
    vectors = [ops.merge_heads(alone(mixed, h)[None], weight)[0] for h in range(len(mixed))]
    compared(shares.of_heads(trace, LAYER, POSITION, DIM), np.array(vectors, float), row, bias)


def test_a_neuron_writes_its_column_as_often_as_it_is_active(trace):
    weights, hidden = trace.model.weights, "mlp.hidden" if trace.config.gated else "mlp.act"
    row, y = (trace.read(op, LAYER)[POSITION] for op in ("mlp.out", hidden))
    bias = weights.get("mlp_out_bias", LAYER) if trace.config.biases & {"mlp_out"} else None
    vectors = np.outer(y, np.ones(len(row))) * weights.get("mlp_out", LAYER).T
    found = shares.of_neurons(trace, LAYER, POSITION, DIM)
    compared(found, vectors, row, bias)
    some = [4, 9, 30]
    made, row = vectors[some].sum(axis=0), row.astype(float)
    group = shares.group(trace, LAYER, POSITION, some)
    assert group.length == pytest.approx(np.linalg.norm(made))
    assert group.share == pytest.approx(found.shares[some].sum())
    assert group.share == pytest.approx(group.length * group.cosine / found.length)


def test_all_positions_are_the_same_one_by_one(trace):
    heads, (most, longest) = (
        shares.lengths_of_heads(trace, LAYER),
        shares.longest_of_neurons(trace, LAYER),
    )
    lengths = shares.lengths(trace, "mlp.out", LAYER)
    for t in (0, POSITION, len(trace.ids) - 1):
        np.testing.assert_allclose(heads[t], shares.of_heads(trace, LAYER, t, 0).lengths)
        found = shares.of_neurons(trace, LAYER, t, 0)
        assert [most[t]] == found.longest(1) and longest[t] == pytest.approx(found.lengths.max())
        assert lengths[t] == pytest.approx(found.length)
    panel = shares.panel_of_heads(trace, LAYER, POSITION, 2)
    assert panel.selected == (POSITION, 2) and panel.limit == pytest.approx(heads.max())
    assert panel.values.dtype == np.float32 and panel.n_rows == len(trace.ids)


def test_a_number_that_was_recorded_otherwise_is_found(trace):
    other, off = copy(trace), {"attn.out": 1e-3, "mlp.out": 1e-3}
    other.read = lambda op, layer: trace.read(op, layer) + np.float32(off.get(op, 0))
    for shared in (shares.of_heads, shares.of_neurons):
        assert not shared(other, LAYER, POSITION, DIM).agreement.equal


def test_whom_a_head_looks_at_most():
    trace = run(RunSpec("nano", prompt="In France, the capital is"))
    for t in (0, 4):
        for h, (key, weight) in enumerate(shares.looked_at(trace, 1, t)):
            row = trace.read("attn.weights", 1)[h, t].tolist()
            assert weight == max(row) and row.index(weight) == key <= t


def test_the_first_token_of_one_layer_is_written_by_two_neurons(smollm):
    """SmolLM2's outlier: neuron 1229 of layer 11 (see also the page that shows it)."""
    trace = run(RunSpec(SMOLLM, prompt="The capital of France is"))
    found = shares.of_neurons(trace, 11, 0, 507)
    assert found.longest(2) == [1229, 1487] and found.agreement.equal and found.length > 20_000
    assert shares.group(trace, 11, 0, [1229, 1487]).share > 0.99
    other = shares.of_neurons(trace, 11, 1, 507)
    assert other.length < 200 and 1229 not in other.longest(5)
