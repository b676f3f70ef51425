"""With and without a cache on the same tokens: what is run, that both agree, and that it is told
where they do not.
"""

import numpy as np
import pytest

from core import Edit, PromptError, RunSpec, open_model, run
from core.analyse import withcache
from core.analyse.agreement import Agreement
from core.analyse.passcost import cost
from core.analyse.withcache import agreed, held, lengths, may_differ, room_for, steps
from core.decode.generate import next_logits
from tests.conftest import SMOLLM
from tests.core.conftest import EACH_CASE, IDS

TINY_IDS = (258, 273, 34, 264, 51, 52, 297, 40, 41)


def test_a_prefill_and_then_one_token_at_a_time(tiny):
    done = list(steps(tiny, TINY_IDS, 4))
    assert [step.index for step in done] == [0, 1, 2, 3, 4]
    assert [step.id for step in done] == list(TINY_IDS[4:])
    assert [(step.n_before, step.n_after) for step in done] == [
        (0, 5),
        (5, 6),
        (6, 7),
        (7, 8),
        (8, 9),
    ]
    for step in done:
        assert step.cached.cost == cost(tiny, step.n_after - step.n_before, step.n_before)
        assert step.whole.cost == cost(tiny, step.n_after)
        assert step.cached.seconds > 0 < step.whole.seconds
    assert done[0].cached.cost == done[0].whole.cost and done[0].agreement.difference == 0


def test_what_is_run_and_in_which_order(tiny, monkeypatch):
    calls = []

    def watched(model, ids, cache, edits):
        calls.append((cache.length, tuple(ids)))
        return next_logits(model, ids, cache, edits)

    monkeypatch.setattr(withcache, "next_logits", watched)
    running = steps(tiny, TINY_IDS[:4], 2)
    next(running), next(running)
    a, b, c, d = TINY_IDS[:4]
    assert calls == [(0, (a, b)), (0, (a, b)), (2, (c,)), (0, (a, b, c))]
    running.close()  # stopped here: the last token is never run
    assert len(calls) == 4 and d not in {id for _, ids in calls for id in ids}


@EACH_CASE
def test_both_agree_unless_the_family_turns_old_keys_anew(case, trace_of):
    trace = trace_of(case)
    done = list(steps(trace.model, IDS, 10))  # over 64 tokens, where some scalings change
    agree = [step.agreement.equal and step.same_best for step in done]
    if may_differ(trace.config):
        assert not all(agree) and not all(step.agreement.equal for step in done)
    else:
        assert all(agree)
    assert done[-1].best[1] == trace.logits().argmax()


def test_only_scalings_by_length_may_differ(trace_of):
    cases = "llama", "llama dynamic", "llama longrope", "llama yarn", "gpt2"
    assert [may_differ(trace_of(case).config) for case in cases] == [
        False,
        True,
        True,
        False,
        False,
    ]


def test_a_wrong_key_in_the_cache_is_told(tiny):
    cache = room_for(tiny, len(TINY_IDS))
    running = steps(tiny, TINY_IDS, 3, cache=cache)
    assert next(running).agreement.equal and next(running).agreement.equal
    cache.keys[0, 2] += 0.1
    off = next(running).agreement
    assert not off.equal and off.difference > off.tolerance


def test_the_tolerance_goes_by_the_largest_finite_score():
    def found(*pair):
        return agreed(*np.array(pair, np.float32))

    assert found([0.5, 0.2], [0.5, 0.2]) == Agreement(0.0, 1e-4, True)
    assert found([40, 1.003], [40, 1]).equal and not found([40, 1.005], [40, 1]).equal
    assert found([40, -np.inf], [40, -np.inf]).equal
    assert not found([np.inf, 1], [np.inf, 2]).equal
    assert not found([np.nan, 1], [np.nan, 1]).equal


def test_edits_reach_both_ways(tiny):
    edit = Edit("resid_mid", layer=0, position=6, kind="zero")
    plain = [step.best for step in steps(tiny, TINY_IDS, 4)]
    done = list(steps(tiny, TINY_IDS, 4, edits=(edit,)))
    assert all(step.agreement.equal for step in done)
    scores = run(RunSpec(str(tiny.source.path), ids=TINY_IDS, edits=(edit,))).logits()
    assert done[-1].best == (scores.argmax(),) * 2 and plain[1] == done[1].best


@pytest.mark.parametrize("n_new", [-1, 9, 10])
def test_a_prompt_must_be_left(tiny, n_new):
    with pytest.raises(ValueError, match="0 to 8"):
        next(steps(tiny, TINY_IDS, n_new))


def test_one_token_alone_and_a_text_that_is_too_long(tiny):
    (only,) = steps(tiny, TINY_IDS[:1], 0)
    assert (only.n_before, only.n_after) == (0, 1) and only.agreement.difference == 0
    n = tiny.config.context
    with pytest.raises(PromptError):
        next(steps(tiny, [7] * (n + 1), 0))


def test_the_cache_can_be_looked_into(tiny):
    cache = room_for(tiny, len(TINY_IDS))
    running = steps(tiny, TINY_IDS, 3, cache=cache)
    next(running)
    early, _ = held(cache)
    before = early.copy()
    grown = [cache.nbytes for _ in running]
    keys, values = held(cache)
    assert keys.shape == values.shape == (2, 2, 9, 8) and early.shape == (2, 2, 6, 8)
    assert np.array_equal(early, before) and np.array_equal(keys[:, :, :6], before)
    assert np.shares_memory(keys, cache.keys) and not keys.flags.writeable
    assert np.diff(grown).tolist() == [cost(tiny, 1).written_bytes] * 2
    trace = run(RunSpec(str(tiny.source.path), ids=TINY_IDS))
    assert np.allclose(values[1], trace.read("attn.v", 1).swapaxes(0, 1), atol=1e-5)


def test_lengths_by_hand():
    rows = np.array([[[[3, 4], [0, 0], [-5, 12]]]], np.float32)
    found = lengths(rows)
    assert found.tolist() == [[[5, 0, 13]]] and found.dtype == np.float32
    assert not found.flags.writeable


@pytest.mark.parametrize("name", [SMOLLM, "nano"])
def test_64_steps_with_a_cache_are_the_full_pass(name, request):
    model = request.getfixturevalue("smollm") if name == SMOLLM else open_model(name)
    ids = model.tokenizer.encode("Once upon a time there was a little dog called")
    n_prompt, cache, decoded = len(ids), room_for(model, len(ids) + 64), []
    for _ in range(65):
        decoded.append(next_logits(model, ids[cache.length :], cache))
        ids.append(int(decoded[-1].argmax()))
    trace = run(RunSpec(name, ids=ids[:-1]))
    full = [trace.logits(position) for position in range(n_prompt - 1, n_prompt + 64)]
    assert np.abs(np.subtract(decoded, full)).max() < 1e-4
    assert [scores.argmax() for scores in full] == ids[n_prompt:]
    assert not np.array_equal(decoded, full)  # another order of sums: not bit for bit
