"""Which neurons fire: by hand, with the functions of Python's math, and for every family."""

import math

import numpy as np
import pytest

from core import RunSpec, run
from core.analyse import firing
from core.analyse.firing import Decade
from tests.conftest import SMOLLM

FACTORS = {
    "silu": lambda z: 1 / (1 + math.exp(-z)),
    "gelu_tanh": lambda z: (1 + math.tanh(math.sqrt(2 / math.pi) * (z + 0.044715 * z**3))) / 2,
    "gelu_erf": lambda z: (1 + math.erf(z / math.sqrt(2))) / 2,
}
FAMILIES = ["llama", "gemma2", "gpt2", "gpt_neox"]  # every activation, with and without a gate


def by_hand(*values):
    value = np.array(values)
    return firing.Firing("silu", value, value, value, None, value, None)


def test_how_few_hold_most():
    made = by_hand(1, -2, 0, 4, 2)  # squares 1, 4, 0, 16, 4: of 25
    assert made.largest() == [3, 1, 4, 0, 2] and made.largest(2) == [3, 1]
    assert [made.holding(share) for share in (0.5, 0.64, 0.65, 0.8, 0.9, 1)] == [1, 1, 2, 2, 3, 4]
    assert by_hand(0, 0).holding(0.5) == 1


def test_neurons_are_counted_by_powers_of_ten():
    found = by_hand(0, 0.0009, -0.001, 0.5, -3, 10).decades()
    total = 0.0009**2 + 0.001**2 + 0.25 + 9 + 100
    edges = [0, 0.001, 0.01, 0.1, 1, 10, 100]
    counts = [(2, 0.0009**2), (1, 0.001**2), (0, 0), (1, 0.25), (1, 9), (1, 100)]
    wanted = [(n, square / total) for n, square in counts]
    assert [(d.low, d.high) for d in found] == list(zip(edges, edges[1:], strict=False))
    for each, (n, share) in zip(found, wanted, strict=True):
        assert each.n == n and each.share == pytest.approx(share)
    assert by_hand(0.0, 0.0).decades() == [Decade(0.0, 0.001, 2, 0.0)]


@pytest.mark.parametrize("kind", FACTORS)
@pytest.mark.filterwarnings("error")
def test_how_far_a_gate_is_open(kind):
    z = np.array([-4, -1.5, -0.1, 0, 0.2, 1, 5.0])
    expected = [FACTORS[kind](each) for each in z.tolist()]
    np.testing.assert_allclose(firing.OPEN[kind](z), expected, rtol=1e-5)
    assert firing.OPEN[kind](np.array([-3000.0, 3000.0])).tolist() == pytest.approx(
        [0, 1], abs=1e-30
    )
    x, y = firing.curve(kind, 5.0, 11)
    assert x.tolist() == [-5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5]
    np.testing.assert_allclose(y, [a * FACTORS[kind](a) for a in x.tolist()], rtol=1e-5)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_factors_make_what_was_recorded(family, trace_of, monkeypatch):
    trace = trace_of(family)
    gated, kind = trace.config.gated, trace.config.activation
    for op in ["mlp.act"] + ["mlp.hidden"] * gated:
        found = firing.firing(trace, op, 1, 9)
        assert found.agreement.equal and found.kind == kind
        row = trace.read(op, 1)[9]
        made = found.z * [FACTORS[kind](z) for z in found.z.tolist()]
        np.testing.assert_allclose(found.act, made, atol=1e-6)
        np.testing.assert_allclose(made * (found.up if op == "mlp.hidden" else 1), row, atol=1e-6)
        assert found.value.tolist() == row.tolist() and (found.up is None) != gated
        assert found.n_open == (found.z > 0).sum() > 0
        most, values, halves = firing.strongest(trace, op, 1)
        assert [most[9]] == found.largest(1) and values[9] == row[most[9]]
        assert halves[9] == found.holding(0.5) and len(halves) == len(trace.ids)
    other = "gelu_tanh" if kind == "silu" else "silu"
    monkeypatch.setitem(firing.OPEN, kind, firing.OPEN[other])
    assert not firing.firing(trace, "mlp.act", 1, 9).agreement.equal


def test_one_neuron_holds_the_first_token_of_one_layer(smollm):
    trace = run(RunSpec(SMOLLM, prompt="The capital of France is"))
    found = firing.firing(trace, "mlp.hidden", 11, 0)
    assert found.largest(1) == [1229] and found.agreement.equal
    assert found.value[1229] == pytest.approx(2824, rel=0.01) and found.holding(0.5) == 1
    most, values, halves = firing.strongest(trace, "mlp.hidden", 11)
    assert 1229 not in most[1:] and np.abs(values[1:]).max() < 100 and halves[1:].min() > 1
