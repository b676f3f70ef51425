"""Explanations of what families do in their own way: biases, LayerNorm, caps, windows, norms of
queries; every number of every op recombines, and a falsified one does not.
"""

import numpy as np
import pytest

from core import Edit
from core.analyse.explain import explain
from core.model.axes import VOCAB_OPS
from tests.core.conftest import EACH_CASE, EACH_FAMILY, places
from tests.core.test_explain import Falsified, cells


@EACH_CASE
def test_every_op_of_every_family_explains(case, trace_of):
    trace = trace_of(case)
    for op, layer in places(trace):
        for index in cells(trace, op, layer, 20):
            e = explain(trace, op, layer, index)
            assert e.equal, (op, layer, index, e.value, e.recorded)


@EACH_FAMILY
def test_a_falsified_record_is_not_equal(case, trace_of):
    trace = trace_of(case)
    for op, layer in places(trace):
        wrong = Falsified(trace, op, lambda value: np.where(value > 1, value * 1.01, value + 0.01))
        for index in cells(trace, op, layer, 5):
            e = explain(wrong, op, layer, index)
            hidden = op == "attn.masked" and not len(e.values)
            assert hidden or not e.equal, (op, layer, index, e.value, e.recorded)


@EACH_FAMILY
def test_operands_are_numbers_of_the_run_or_of_the_file(case, trace_of):
    trace = trace_of(case)
    for op, layer in places(trace):
        e = explain(trace, op, layer, cells(trace, op, layer, 1)[0])
        for term in e.top(3):
            for o in term.operands:
                assert o.kind == "constant" or o.value == source_of(trace, o), (op, layer, o)


def source_of(trace, operand):
    """The number that an operand says it is."""
    if operand.kind == "weight":
        return trace.model.weights.get(operand.source, operand.layer)[operand.index]
    if operand.source in VOCAB_OPS:
        position, token = operand.index
        return trace.output(operand.source, position)[token]
    return trace.read(operand.source, operand.layer)[operand.index]


def steps_of(trace, op, layer, index):
    e = explain(trace, op, layer, index)
    return e, [(step.name, step.sign) for step in e.steps]


def test_every_number_of_a_layer_norm_recombines(trace_of):
    trace = trace_of("gpt2")
    w, row = trace.model.weights.layers[1], trace.read("resid_pre", 1)[3].astype(np.float64)
    e, names = steps_of(trace, "attn_norm", 1, (3, 7))
    eps, root, own, mean, scale, weight, bias = e.steps
    assert [name for name, _ in names] == (
        ["eps", "inverse_root", "own_start", "mean", "scale", "weight", "bias"]
    )
    assert [sign for _, sign in names] == ["+", "1/√", "", "−", "×", "×", "+"]
    assert (own.value, mean.value) == (row[7], pytest.approx(row.mean()))
    assert (weight.value, bias.value) == (w.attn_norm[7], w.attn_norm_bias[7])
    assert e.total == pytest.approx(row.var()) and eps.value == trace.config.norm_eps
    assert scale.value == root.result == pytest.approx((e.total + eps.value) ** -0.5)
    assert e.value == pytest.approx((row[7] - mean.value) * scale.value * weight.value + bias.value)
    for term in e.top(4):
        number, middle = term.operands
        assert (middle.source, middle.value) == ("mean", mean.value)
        assert term.value == pytest.approx((number.value - middle.value) ** 2 / 32)


def test_the_norm_of_a_query_is_of_its_head_or_of_all_heads(trace_of):
    one, all_heads = trace_of("qwen3"), trace_of("olmo2")
    by_head = explain(one, "attn.q_norm", 1, (5, 2, 3))
    assert {o.index[:2] for t in by_head.top(16) for o in t.operands} == {(5, 2)}
    assert len(by_head.values) == 16
    whole = explain(all_heads, "attn.k_norm", 1, (5, 1, 3))
    assert {o.index[1] for t in whole.top(16) for o in t.operands} == {0, 1}
    assert len(whole.values) == 2 * 8
    weight = whole.steps[-1].value
    assert weight == all_heads.model.weights.layers[1].attn_k_norm[1 * 8 + 3]


@pytest.mark.parametrize(
    ("case", "op", "index", "steps"),
    [
        ("gpt2", "attn.q", (3, 1, 2), [("bias", "+")]),
        ("gpt2", "mlp.out", (3, 9), [("bias", "+")]),
        ("gpt2", "mlp.act", (3, 9), [("inner", ""), ("tanh", "tanh"), ("one", "+"), ("half", "×")]),
        ("gpt_neox", "mlp.act", (3, 9), [("normal_cdf", "×")]),
        ("llama", "mlp.act", (3, 9), [("sigmoid", "×")]),
        ("gemma2", "attn.softcap", (1, 5, 2), [("cap", "÷"), ("tanh", "tanh"), ("cap", "×")]),
        ("gemma2", "attn.scores", (1, 5, 2), [("own_scale", "×")]),
        ("smollm3", "attn.scores", (1, 5, 2), [("score_scale", "×")]),
        ("olmo2", "attn.q", (3, 1, 2), []),
    ],
)
def test_what_happens_to_the_sum(case, op, index, steps, trace_of):
    e, found = steps_of(trace_of(case), op, 0, index)
    assert found == steps and e.equal


def test_a_cap_and_a_scale_of_this_model(trace_of):
    trace = trace_of("gemma2")
    capped = explain(trace, "logits_capped", None, (6, 11))
    x = float(trace.output("logits", 6)[11])
    assert [s.value for s in capped.steps] == [3.0, pytest.approx(x / 3), 3.0]
    assert capped.value == pytest.approx(3 * np.tanh(x / 3), rel=1e-6)
    assert explain(trace, "attn.scores", 0, (0, 2, 1)).steps[0].value == pytest.approx(24**-0.5)
    scaled = explain(trace, "embed_scaled", None, (4, 2))
    assert scaled.value == pytest.approx(float(trace.read("embed")[4, 2]) * 32**0.5)
    assert explain(trace, "probs", None, (6, 11)).term(11).operands[0].source == "logits_capped"


def test_a_number_behind_the_pairs_passes_unchanged(trace_of):
    trace = trace_of("gpt_neox")  # 4 of 8 numbers turn: 0 with 2, 1 with 3
    turned, kept = (explain(trace, "attn.q_rot", 0, (5, 1, dim)) for dim in (3, 4))
    assert [t.operands[0].index[2] for t in map(turned.term, (0, 1))] == [3, 1]
    assert len(kept.values) == 1 and kept.recorded == trace.read("attn.q", 0)[5, 1, 4]


def test_rows_of_positions_and_of_tokens_add_up(trace_of):
    trace = trace_of("gpt2")
    token, position = map(explain(trace, "pos_embed", None, (5, 3)).term, (0, 1))
    assert token.operands[0].source == "embed"
    assert position.operands[0].value == trace.model.weights.pos_embed[5, 3]


def test_what_lies_outside_the_window_is_minus_infinity(trace_of):
    trace = trace_of("gemma2")
    assert trace.config.windows == (8, None)
    for key, hidden in ((2, True), (3, False), (10, False), (11, True)):
        e = explain(trace, "attn.masked", 0, (0, 10, key))
        assert e.equal and (len(e.values) == 0) == (e.recorded == -np.inf) == hidden
    assert np.isfinite(explain(trace, "attn.masked", 1, (0, 10, 2)).value)


@pytest.mark.parametrize(
    ("case", "op", "index", "sources"),
    [
        ("olmo2", "resid_mid", (3, 2), ["resid_pre", "attn.post_norm"]),
        ("gpt2", "resid_post", (3, 2), ["resid_mid", "mlp.out"]),
        ("gpt_neox", "mlp_norm", (3, 2), ["resid_pre", "mean"]),
        ("gpt_neox sequential", "mlp_norm", (3, 2), ["resid_mid", "mean"]),
        ("gpt2", "mlp.out", (3, 2), ["mlp.act", "mlp_out"]),
    ],
)
def test_a_step_names_what_it_reads(case, op, index, sources, trace_of):
    e = explain(trace_of(case), op, 1, index)
    operands = [o.source for t in e.top(2) for o in t.operands]
    assert set(operands) == set(sources)


@pytest.mark.parametrize(("op", "z"), [("silu", -95.0), ("gelu_erf", -20.0), ("gelu_tanh", -4.0)])
def test_a_number_that_float32_cannot_hold_is_no_difference(op, z, trace_of):
    case, source = ("llama", "mlp.gate") if op == "silu" else (TANH_OR_ERF[op], "mlp.up")
    edit = Edit(source, layer=1, position=2, index=3, kind="set", value=z)
    e = explain(trace_of(case, edits=[edit]), "mlp.act", 1, (2, 3))
    assert e.kind == op and e.equal and abs(e.recorded) < 1e-3


TANH_OR_ERF = {"gelu_erf": "gpt_neox", "gelu_tanh": "gpt2"}
