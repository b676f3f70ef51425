"""The stream through all layers: lengths and shares by hand, and against what was recorded; who
wrote the largest jump, and the run without it.
"""

from dataclasses import replace

import numpy as np
import pytest

from core import Edit, RunSpec, run
from core.analyse import stream
from core.analyse.heads import attention
from tests.conftest import SMOLLM
from tests.core.conftest import EACH_FAMILY

HERO = "The capital of France is"


def rows(*numbers):
    return np.array(numbers, np.float32)


def test_parts_that_are_added_by_hand():
    attention, mlp = rows([3, 4], [1, 0], [2, 0], [0, 0]), rows([0, 0], [3, 0], [0, 2], [0, 0])
    lengths, other, both, share = stream.measured(attention, mlp)
    assert lengths.tolist() == [5, 1, 2, 0] and other.tolist() == [0, 3, 2, 0]
    np.testing.assert_allclose(both, [5, 4, 8**0.5, 0])
    assert share[:3].tolist() == [1, 0.25, 0.5] and np.isnan(share[3])  # of nothing, no share
    opposite = stream.measured(rows([4, 0]), rows([-1, 0]))
    assert [float(part[0]) for part in opposite] == [4, 1, 3, 4 / 3]


@EACH_FAMILY
def test_what_is_added_is_what_the_stream_gains(case, trace_of):
    trace = trace_of(case)
    found = stream.stream(trace)
    assert found.norms.shape == (trace.config.n_layers + 1, 70)
    x = trace.stream.astype(np.float64)
    np.testing.assert_allclose(found.norms, np.linalg.norm(x, axis=-1), rtol=1e-12)
    gained = np.diff(x, axis=0)
    np.testing.assert_allclose(found.update, np.linalg.norm(gained, axis=-1), rtol=1e-4)
    # attention's addition is seen in the middle of a block, before the MLP's
    for layer in range(trace.config.n_layers):
        middle = trace.read("resid_mid", layer).astype(np.float64) - x[layer]
        np.testing.assert_allclose(found.attention[layer], np.linalg.norm(middle, axis=-1), 1e-4)
        rest = x[layer + 1] - x[layer] - middle
        np.testing.assert_allclose(found.mlp[layer], np.linalg.norm(rest, axis=-1), 1e-4)
        along = (middle * gained[layer]).sum(-1) / (gained[layer] ** 2).sum(-1)
        np.testing.assert_allclose(found.share[layer], along, atol=1e-4)
    with pytest.raises(ValueError):
        found.cosine[0, 0] = 1


def test_the_law_of_cosines_ties_lengths_and_angles(trace_of):
    found = stream.stream(trace_of("gemma2"))
    before, after = found.norms[:-1], found.norms[1:]
    third = before**2 + after**2 - 2 * before * after * found.cosine
    np.testing.assert_allclose(found.update**2, third, rtol=1e-4)


@EACH_FAMILY
def test_the_longest_part_of_the_largest_jump(case, trace_of):
    trace = trace_of(case)
    found, weights = stream.leap(trace), trace.model.weights.layers
    grown = np.diff(np.linalg.norm(trace.stream.astype(np.float64), axis=-1), axis=0)
    assert grown[found.layer, found.position] == pytest.approx(grown.max())
    assert found.after - found.before == pytest.approx(grown.max())
    by = found.op == "mlp"
    parts = [_part(trace, weights[found.layer], found, n, by) for n in _writers(trace, by)]
    lengths = [np.linalg.norm(part) for part in parts]
    assert found.number == np.argmax(lengths) and found.part == pytest.approx(max(lengths))
    assert parts[found.number][found.dim] == pytest.approx(found.value)
    assert abs(found.value) == pytest.approx(np.abs(parts[found.number]).max())


def _writers(trace, mlp):
    return range(trace.config.neurons if mlp else trace.config.n_heads)


def _part(trace, weights, found, n, mlp):
    """What one neuron or head writes at the place of the jump."""
    if mlp:
        held = trace.read(trace.catalogue.op("mlp.out", found.layer).inputs[0], found.layer)
        return held[found.position, n].astype(float) * weights.mlp_out[:, n]
    size = trace.config.head_dim
    mixed = trace.read("attn.mix", found.layer)[found.position, n].astype(float)
    return weights.attn_out[:, n * size : (n + 1) * size] @ mixed


def test_attention_and_its_head_are_found_where_they_wrote_the_jump(trace_of):
    loud = (Edit("attn.mix", layer=1, head=2, position=9, kind="scale", value=1e4),)
    trace = trace_of("llama", edits=loud)
    found = stream.leap(trace)
    assert (found.op, found.number, found.layer, found.position) == ("attn", 2, 1, 9)
    assert found.activation is None and found.factor == found.after / found.before > 10
    assert replace(found, before=0.0).factor == np.inf
    off = stream.switched_off(trace, found)  # that head alone, beside the edit that there was
    without = trace_of("llama", edits=(*loud, Edit("attn.mix", layer=1, head=2)))
    assert off.norms[1] == np.linalg.norm(without.stream[2, 9].astype(float)) < found.after / 10
    assert off.tops[1] == np.argmax(without.probs())


def test_an_edit_that_was_there_stays_while_another_head_is_switched_off(trace_of):
    before = (Edit("mlp.hidden", layer=1), Edit("attn.mix", layer=1, head=2, kind="scale", value=9))
    found = stream.leap(trace_of("llama", edits=before))
    off = stream.switched_off(trace_of("llama", edits=before), found)
    edit = Edit("attn.mix", layer=found.layer, head=found.number)
    if found.op == "mlp":
        edit = Edit("mlp.hidden", layer=found.layer, index=found.number)
    without = trace_of("llama", edits=(*before, edit))
    assert off.probs[1] == without.probs()[off.tops[0]]


def test_smollms_first_token_and_the_neuron_that_makes_it_long(smollm):
    trace = run(RunSpec(SMOLLM, prompt=HERO))
    found = stream.leap(trace)
    assert (found.layer, found.position, found.op, found.number) == (11, 0, "mlp", 1229)
    assert found.dim == 507 and found.after == pytest.approx(22_712, abs=2)
    assert found.activation == pytest.approx(2823.6, abs=0.5)
    off = stream.switched_off(trace, found)
    assert off.n_heads == 18 * 9 and off.sinks == (126, 118)
    assert off.probs == pytest.approx((0.7725, 0.5271), abs=1e-3)
    assert off.norms[0] == pytest.approx(found.after) and off.norms[1] < found.after / 3
    again = run(RunSpec(SMOLLM, prompt=HERO, edits=(Edit("mlp.hidden", 11, index=1229),)))
    sinks = (attention(again).last[12:, :, 0] > 0.5).sum()
    assert sinks == off.sinks[1] and np.argmax(again.probs()) == off.tops[1]


def test_one_token_is_enough(tiny_name):
    trace = run(RunSpec(tiny_name, ids=(3,)))
    found = stream.leap(trace)
    assert found.position == 0 and np.isfinite(stream.stream(trace).cosine).all()
    assert stream.switched_off(trace, found).norms[1] != found.after
