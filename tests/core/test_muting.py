"""A head muted: the run from its layer on is the whole run bit for bit; what it writes sums up; the
prediction moves as an independent count says.
"""

import math
from dataclasses import replace

import numpy as np
import pytest

from core import Edit, RunSpec, SettingError, run
from core.analyse import muting
from core.analyse.attribution import attribution
from core.run import TRACES
from tests import tiny as tiny_file
from tests.conftest import SMOLLM
from tests.core.conftest import EACH_CASE, EACH_FAMILY

NAMES = "When Mary and John went to the store, John gave a drink to"
LONG = tuple(37 * n % 290 for n in range(1030))  # is run in more than one pass


def whole(spec):
    """The same run from the first layer on, not from the store."""
    TRACES.clear()
    return run(spec)


def assert_same(made, expected):
    assert made is not expected and made.ids == expected.ids and made.key == expected.key
    np.testing.assert_array_equal(made.stream, expected.stream)
    for name in ("keys", "values"):
        np.testing.assert_array_equal(getattr(made.cache, name), getattr(expected.cache, name))
    assert made.cache.length == expected.cache.length
    assert made.timings.keys() == expected.timings.keys()


# ---- the run -------------------------------------------------------------------------------------


@EACH_CASE
def test_the_run_from_a_layer_on_is_the_whole_run(case, trace_of):
    trace = trace_of(case)
    layer = trace.config.n_layers - 1
    made = muting.muted(trace, layer, 3)
    assert_same(made, whole(made.spec))
    assert (made.read("attn.mix", layer)[:, 3] == 0).all()
    assert (made.stream[-1] != trace.stream[-1]).any()


@pytest.mark.parametrize("layer", [0, 1])
def test_a_prompt_of_several_passes_too(tiny_name, layer):
    made = muting.muted(run(RunSpec(tiny_name, ids=LONG)), layer, 1)
    assert_same(made, whole(made.spec))


def test_what_is_run_again_is_read_only_and_found_by_a_run(tiny_name):
    made = muting.muted(run(RunSpec(tiny_name, prompt="the cat")), 1, 0)
    assert run(made.spec).stream is made.stream
    for array in (made.stream, made.cache.keys, made.cache.values):
        assert not array.flags.writeable


def test_other_edits_stay_and_none_is_made_twice(tiny_name):
    first = Edit("mlp.out", layer=0, index=3, kind="add", value=0.5)
    trace = run(RunSpec(tiny_name, prompt="the cat", edits=(first,)))
    once = muting.muted(trace, 1, 2)
    assert once.spec.edits == (first, Edit("attn.mix", layer=1, head=2))
    assert muting.muted(once, 1, 2).spec == once.spec
    both = muting.muted(once, 0, 1)  # a layer before the one that was muted
    assert len(both.spec.edits) == 3
    assert_same(both, whole(both.spec))


def test_a_head_that_is_not_there_is_refused(tiny_name):
    trace = run(RunSpec(tiny_name, prompt="the cat"))
    for layer, head in ((0, tiny_file.HEADS), (tiny_file.LAYERS, 0)):
        with pytest.raises(SettingError):
            muting.muted(trace, layer, head)


# ---- what becomes of the prediction --------------------------------------------------------------


def test_a_divergence_worked_out_by_hand():
    p, q = np.log([0.5, 0.5]), np.log([0.25, 0.75])
    assert muting.divergence(p, q) == pytest.approx(0.5 * math.log(2) + 0.5 * math.log(2 / 3))
    assert muting.divergence(q, p) == pytest.approx(0.1308, abs=1e-4)  # not the same backwards
    assert muting.divergence(p, p) == 0


@EACH_FAMILY
def test_the_effect_in_every_family(case, trace_of):
    trace = trace_of(case)
    found = muting.effect(trace, 1, 2, 30)
    after = whole(muting.muted(trace, 1, 2).spec)
    p, q = trace.probs(30).astype(np.float64), after.probs(30).astype(np.float64)
    assert found.divergence == pytest.approx(float((p * np.log(p / q)).sum()), rel=1e-3)
    assert found.agreement.equal and found.agreement.difference < 1e-4
    best = {int(row) for probs in (p, q) for row in np.argsort(-probs)[: muting.FIRST]}
    assert set(found.ids) == best
    largest = [max(p[id], q[id]) for id in found.ids]
    assert largest == sorted(largest, reverse=True)
    for id in found.ids:
        assert found.raised(id) == np.sign(q[id] - p[id])
        less = trace.output("logits", 30)[id] - after.output("logits", 30)[id]
        assert found.total(id) == pytest.approx(float(less), abs=1e-5)
    assert found.changed == (p.argmax() != q.argmax())


def test_another_head_is_not_taken_for_the_one_that_is_missing(trace_of):
    trace = trace_of("llama")
    wrong = muting._missing(trace, muting.muted(trace, 1, 0), 1, 2, 30)
    assert not wrong.equal


# ---- what the head writes ------------------------------------------------------------------------


@EACH_CASE
def test_the_keys_add_up_to_what_the_head_writes(case, trace_of):
    trace = trace_of(case)
    for layer, position in ((0, 40), (trace.config.n_layers - 1, 69)):
        found = muting.written(trace, layer, 1, position, 17)
        heads = attribution(trace, 17, None, position).heads
        assert len(found.parts) == position + 1 and found.agreement.equal
        assert found.total == pytest.approx(heads[layer, 1], abs=1e-5)
        assert muting.place(trace, layer, 1, 17, position) == 1 + (heads > heads[layer, 1]).sum()


def test_one_key_worked_out_in_another_order(trace_of):
    """value -> output projection -> last norm with the scale of the run -> row of the token."""
    trace, layer, head, position, key, token = trace_of("llama"), 1, 3, 50, 20, 9
    c, w = trace.config, trace.model.weights
    value = trace.read("attn.v", layer)[key, head // c.group].astype(np.float64)
    columns = w.layers[layer].attn_out[:, head * c.head_dim : (head + 1) * c.head_dim]
    last = trace.stream[-1, position].astype(np.float64)
    scaled = columns @ value / math.sqrt(np.mean(last**2) + c.norm_eps) * w.final_norm
    found = muting.written(trace, layer, head, position, token)
    assert found.values[key] == pytest.approx(float(scaled @ w.head[token]), abs=1e-7)
    weight = float(trace.read("attn.weights", layer)[head, position, key])
    assert found.parts[key] == pytest.approx(weight * found.values[key], rel=1e-9)


def test_in_the_last_layer_of_a_model_without_what_follows_both_effects_meet(trace_of):
    """With the last MLP silent and the scale as it was, the direct effect is all there is."""
    silent = Edit("mlp.out", layer=1)
    trace = trace_of("llama", edits=(silent,))
    other, token = muting.muted(trace, 1, 2), 11
    rows = [each.stream[-1, 40].astype(np.float64) for each in (trace, other)]
    scale = [math.sqrt(np.mean(row**2) + trace.config.norm_eps) for row in rows]
    before, after = (float(each.output("logits", 40)[token]) for each in (trace, other))
    held = before - after * scale[1] / scale[0]
    assert muting.written(trace, 1, 2, 40, token).total == pytest.approx(held, abs=1e-4)


def test_few_keys_are_those_that_are_looked_at_and_those_that_add_most():
    weights = np.array([0.5, *[0.02] * 10, 0.01, 0.29, 0.001])
    parts = np.zeros(14)
    parts[[11, 13]] = 3.0, -5.0
    found = muting.Written(weights, parts / weights, parts, -2.0, None)
    assert found.few(2, 2) == [0, 12, 11, 13]
    n, weight, part = found.rest([0, 12, 11, 13])
    assert (n, part) == (10, 0) and weight == pytest.approx(0.2)
    assert len(found.few(10, 4)) == 14  # not many more: all of them
    assert found.total == -2 and found.looked == pytest.approx(1.001)
    assert found.most([0, 11]) == 3 and found.most([11, 13]) == 5


def test_two_effects_are_compared_by_their_signs():
    pairs = ((1, 2), (-1, -2), (1, -2), (-1, 2), (0, 1), (1, 0))
    one = np.ones(1)
    said = [muting.Written(one, one, own * one, own, None).beside(total) for own, total in pairs]
    assert said == [1, 1, -1, -1, 0, 0]


def test_samples_are_counted():
    one = muting.Sample(0, 1.0, None, 0.0, 5, 0.5, 0.25, -1, True, 2.0)
    samples = [one, replace(one, raised=1, direct=-1.0), replace(one, raised=0, changed=False)]
    counts = muting.counted([*samples, one])
    assert counts == {"lower": 2, "higher": 1, "n": 4, "changed": 3, "helps": 3}


def test_a_single_token_can_be_muted_too(tiny_name):
    trace = run(RunSpec(tiny_name, prompt="the"))
    found = muting.effect(trace, 0, 0)
    assert len(trace.ids) == 1 and found.divergence > 0 and found.agreement.equal
    written = muting.written(trace, 0, 0, -1, 5)
    assert written.weights.tolist() == [1.0] and written.few() == [0]
    assert muting.sample(trace, 0, 0).other is None


# ---- of SmolLM2, as measured by another pass ----------------------------------------------------


def test_a_head_that_helps_and_one_that_looks_and_hurts(smollm):
    france = muting.sample(run(RunSpec(SMOLLM, prompt="The capital of France is")), 23, 4)
    assert (france.key, france.raised, france.changed) == (3, -1, False)
    numbers = (france.weight, france.before, france.after)
    np.testing.assert_allclose(numbers, (0.903, 0.773, 0.141), atol=6e-4)
    trace = run(RunSpec(SMOLLM, prompt=NAMES))
    hurts, helps = muting.sample(trace, 24, 4), muting.sample(trace, 23, 0)
    mary = trace.model.tokenizer.encode(" Mary")[0]
    assert hurts.token == helps.token == mary and hurts.key == helps.key == 1
    numbers = (hurts.weight, hurts.before, hurts.after, hurts.direct)
    np.testing.assert_allclose(numbers, (0.81, 0.923, 0.978, -1.31), atol=6e-3)
    np.testing.assert_allclose((helps.weight, helps.after, helps.direct), (0.69, 0.873, 1.14), 0.01)
    assert (hurts.raised, helps.raised) == (1, -1)
