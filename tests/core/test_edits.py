"""Edits: what they change, where, once, and the same in prefill and decode."""

import numpy as np
import pytest

from core import Edit, RunSpec, SettingError, generate, run
from core.model.axes import VOCAB_OPS
from core.model.tap import apply_edit
from tests.conftest import SMOLLM
from tests.core.conftest import EACH_CASE
from tests.llama_ops import BLOCK_IDS, OP_IDS

FRANCE = "The capital of France is"
PARIS = 7042
IDS = (258, 273, 34, 264, 51, 52, 297, 298, 277, 40)


def changed_cells(edit, shape, first=0):
    """Indices where an edit changes an array of ones."""
    before = np.ones(shape, np.float32)
    after = apply_edit(edit, before, first)
    assert (before == 1).all()
    return set(zip(*map(lambda a: a.tolist(), np.nonzero(after != 1)), strict=True))


def test_kinds():
    x = np.array([[2, -3]], np.float32)

    def edited(kind, value=0.0):
        return apply_edit(Edit("resid_pre", kind=kind, value=value), x, 0).tolist()

    assert edited("zero") == [[0, 0]]
    assert edited("set", 7) == [[7, 7]]
    assert edited("scale", -2) == [[-4, 6]]
    assert edited("add", 0.5) == [[2.5, -2.5]]


def test_zero_and_set_also_reach_masked_cells():
    masked = np.array([[[1, -np.inf], [1, 1]]], np.float32)
    for kind, value in (("zero", 0.0), ("set", 2.0)):
        after = apply_edit(Edit("attn.masked", kind=kind, value=value), masked, 0)
        np.testing.assert_array_equal(after, np.full((1, 2, 2), value))


def test_head_position_and_index_address_one_axis_each():
    assert changed_cells(Edit("attn.mix", head=1, position=2), (3, 2, 2)) == {(2, 1, 0), (2, 1, 1)}
    assert changed_cells(Edit("attn.k", head=0, index=1), (1, 2, 2)) == {(0, 0, 1)}
    assert changed_cells(Edit("mlp.hidden", position=1, index=3), (2, 4)) == {(1, 3)}
    # in an attention map the position is the query's, the index the key
    assert changed_cells(Edit("attn.weights", head=0, position=1, index=0), (2, 2, 2)) == {
        (0, 1, 0)
    }
    assert len(changed_cells(Edit("attn.weights"), (2, 2, 2))) == 8


def test_positions_are_absolute():
    edit = Edit("mlp.out", position=5)
    assert changed_cells(edit, (3, 1), first=4) == {(1, 0)}
    assert changed_cells(edit, (3, 1), first=6) == changed_cells(edit, (3, 1), first=0) == set()


@pytest.mark.parametrize("op", OP_IDS[:-1])
def test_every_op_can_be_edited(tiny_name, op):
    edit = Edit(op, position=3, index=2, kind="add", value=3.0)
    before, after = run(RunSpec(tiny_name, ids=IDS)), run(RunSpec(tiny_name, ids=IDS, edits=[edit]))
    assert np.abs(after.logits(3) - before.logits(3)).max() > 1e-4
    np.testing.assert_array_equal(after.logits(2), before.logits(2))
    if op in BLOCK_IDS:
        with np.errstate(invalid="ignore"):  # -inf - -inf, where a cell is masked
            change = np.abs(after.read(op, 0) - before.read(op, 0))
        assert np.nanmax(change) == pytest.approx(3, abs=1e-4)


@EACH_CASE
def test_every_op_of_every_family_can_be_edited(case, trace_of):
    before = trace_of(case)
    for op in before.catalogue.ids[:-1]:
        layer = before.catalogue.layers_with(op)[0]
        edit = Edit(op, layer, position=3, index=2, kind="add", value=3.0)
        after = trace_of(case, edits=[edit])
        assert np.abs(after.logits(3) - before.logits(3)).max() > 1e-4, op
        np.testing.assert_array_equal(after.logits(2), before.logits(2))
        old, new = (
            t.output(op, 3) if op in VOCAB_OPS else t.read(op, layer) for t in (before, after)
        )
        with np.errstate(invalid="ignore"):  # -inf - -inf, where a cell is masked
            assert np.nanmax(new - old) == pytest.approx(3, abs=1e-4), op


@pytest.mark.parametrize(
    ("case", "edit"),
    [
        ("llama", Edit("pos_embed")),
        ("llama", Edit("attn.q_norm", layer=0)),
        ("gpt2", Edit("attn.q_rot")),
        ("gpt2", Edit("mlp.gate", layer=1)),
        ("olmo2", Edit("attn_norm")),
        ("smollm3", Edit("attn.k_rot", layer=3)),
        ("gemma3", Edit("attn.softcap")),
    ],
)
def test_an_op_that_the_model_or_layer_lacks_cannot_be_edited(case, edit, trace_of):
    with pytest.raises(SettingError) as caught:
        trace_of(case, edits=[edit])
    assert caught.value.code == "bad_edit"


def test_an_edit_without_a_layer_reaches_the_layers_that_have_the_op(trace_of):
    edited = trace_of("smollm3", edits=[Edit("attn.k_rot")])
    assert [edited.read("attn.k_rot", n).any() for n in (0, 1, 2)] == [False] * 3
    assert edited.read("attn.k", 3).any()


def test_an_edit_of_the_logits(tiny_name):
    edit = Edit("logits", position=9, index=7, kind="set", value=50.0)
    spec = RunSpec(tiny_name, ids=IDS, edits=[edit], max_new_tokens=2)
    assert run(spec).logits()[7] == 50 and run(spec).logits(8)[7] != 50
    assert next(generate(spec)).id == 7


def test_a_scale_edit_counts_once_when_a_layer_is_opened(tiny_name):
    plain = run(RunSpec(tiny_name, ids=IDS))
    twice = run(RunSpec(tiny_name, ids=IDS, edits=[Edit("resid_pre", 1, kind="scale", value=2.0)]))
    np.testing.assert_array_equal(twice.read("resid_pre", 1), 2 * plain.read("resid_pre", 1))
    np.testing.assert_array_equal(twice.read("resid_post", 0), plain.read("resid_post", 0))


def test_edits_are_made_in_their_order(tiny_name):
    double, add = (Edit("embed", kind=k, value=2.0) for k in ("scale", "add"))
    a = run(RunSpec(tiny_name, ids=IDS, edits=[double, add])).read("embed")
    b = run(RunSpec(tiny_name, ids=IDS, edits=[add, double])).read("embed")
    np.testing.assert_allclose(b - a, 2, atol=1e-5)


def test_the_head_that_carries_the_fact(smollm):
    def paris(*edits):
        return run(RunSpec(SMOLLM, prompt=FRANCE, edits=edits)).probs()[PARIS]

    assert paris() == pytest.approx(0.773, abs=6e-4)
    assert paris(Edit("attn.mix", layer=23, head=4)) == pytest.approx(0.141, abs=6e-4)
    others = [paris(Edit("attn.mix", layer=23, head=h)) for h in range(9) if h != 4]
    assert min(others) == pytest.approx(0.752, abs=6e-4)
    assert max(others) == pytest.approx(0.795, abs=6e-4)


def test_one_neuron_writes_the_spike(smollm):
    plain = run(RunSpec(SMOLLM, prompt=FRANCE))
    assert plain.read("mlp.hidden", 11)[0, 1229] == pytest.approx(2824, abs=1)
    off = run(RunSpec(SMOLLM, prompt=FRANCE, edits=[Edit("mlp.hidden", layer=11, index=1229)]))
    assert np.linalg.norm(plain.read("resid_post", 11)[0]) == pytest.approx(22_712, abs=1)
    # muting takes away exactly what the neuron wrote: its value times its column of the weight
    wrote = plain.read("mlp.hidden", 11)[0, 1229] * smollm.weights.layers[11].mlp_out[:, 1229]
    difference = plain.read("mlp.out", 11)[0] - off.read("mlp.out", 11)[0]
    np.testing.assert_allclose(difference, wrote, atol=0.05)
    assert off.probs()[PARIS] == pytest.approx(0.527, abs=6e-4)


@pytest.mark.parametrize(
    "edit",
    [
        Edit("attn.mix", layer=1, head=2),
        Edit("resid_mid", position=11, kind="add", value=0.5),
        Edit("attn.k_rot", layer=0, head=1, position=3, kind="scale", value=-1.0),
        Edit("attn.weights", layer=1, index=2),
        Edit("final_norm", index=4, kind="set", value=2.0),
    ],
)
def test_decode_with_edits_is_prefill_with_edits(tiny_name, edit):
    check_decode_is_prefill(tiny_name, edit)


@pytest.mark.parametrize(
    ("case", "edit"),
    [
        ("gpt2", Edit("pos_embed", position=12, kind="scale", value=2.0)),
        ("gemma2", Edit("attn.softcap", layer=1, position=11, kind="scale", value=-1.0)),
        ("gemma2", Edit("logits_capped", index=5, kind="add", value=0.5)),
        ("gemma3", Edit("attn.k_norm", layer=5, head=1)),
        ("gemma3", Edit("embed_scaled", position=10, kind="scale", value=0.5)),
        ("olmo2", Edit("attn.q_norm", layer=0, head=3, kind="scale", value=2.0)),
        ("olmo2", Edit("mlp.post_norm", index=7, kind="add", value=1.0)),
    ],
)
def test_decode_with_edits_of_new_ops_is_prefill_with_them(case, edit, name_of):
    check_decode_is_prefill(name_of(case), edit)


def check_decode_is_prefill(name, edit):
    ids = [i % 90 for i in IDS]
    events = list(generate(RunSpec(name, ids=ids, max_new_tokens=5, edits=[edit])))
    ids = [*ids, *(event.id for event in events)]
    whole = run(RunSpec(name, ids=ids[:-1], edits=[edit]))
    for n, event in enumerate(events):
        logits = whole.logits(len(IDS) - 1 + n).astype(np.float64)
        assert logits.argmax() == event.id
        log_sum = np.log(np.exp(logits - logits.max()).sum()) + logits.max()
        assert event.logprob == pytest.approx(logits[event.id] - log_sum, abs=1e-4)


@pytest.mark.parametrize(
    "wrong",
    [
        {"op": "attn.pattern"},
        {"op": "probs"},
        {"op": "mlp.out", "head": 0},
        {"op": "mlp.out", "kind": "twist"},
        {"op": "mlp.out", "kind": "set", "value": float("nan")},
        {"op": "mlp.out", "position": -1},
    ],
)
def test_edits_that_cannot_be_made(wrong):
    with pytest.raises(SettingError) as caught:
        Edit(**wrong)
    assert caught.value.code == "bad_edit"


@pytest.mark.parametrize(
    "edit",
    [
        Edit("mlp.out", layer=2),
        Edit("embed", layer=0),
        Edit("attn.mix", head=4),
        Edit("attn.k", head=2),
        Edit("mlp.out", position=2048),
        Edit("mlp.out", index=32),
        Edit("mlp.hidden", index=48),
        Edit("logits", index=299),
    ],
)
def test_edits_outside_the_model_are_refused_not_ignored(tiny_name, edit):
    for action in (run, lambda spec: next(generate(spec))):
        with pytest.raises(SettingError) as caught:
            action(RunSpec(tiny_name, ids=IDS, edits=[edit]))
        assert caught.value.code == "bad_edit"
