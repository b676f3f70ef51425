"""A cache that grows: what it holds, where it stops, and that old rows stay; which tokens the
comparison and the two jobs run.
"""

import numpy as np
import pytest

from core import Edit, RunSpec, generate, run
from core.analyse import bothways, growing, twojobs
from core.analyse.agreement import Agreement
from core.analyse.cachesize import as_held, cache_size
from core.analyse.growing import grow, spent
from core.analyse.passcost import Cost, cost
from core.analyse.withcache import Pass, Step
from core.model.cache import KVCache
from tests import tiny as tinies
from tests.conftest import SMOLLM
from tests.core.conftest import EACH_CASE, IDS

SHORT = IDS[:6]


@pytest.fixture(scope="module")
def france(smollm):
    """A run of five tokens, and 8 more."""
    trace = run(RunSpec(SMOLLM, prompt="The capital of France is"))
    return trace, grow(trace, 8)


def test_it_goes_on_as_generate_does(france):
    trace, growth = france
    told = [event.id for event in generate(RunSpec(SMOLLM, ids=trace.ids, max_new_tokens=8))]
    assert growth.ids == (*trace.ids, *told) and growth.stop == "limit"
    assert (growth.n_prompt, growth.n_steps) == (5, 9)
    assert [growth.span(step) for step in (0, 1, 8)] == [(0, 5), (5, 6), (12, 13)]


def test_bytes_of_smollm2_by_hand(france):
    _, growth = france
    assert growth.cache.nbytes == 13 * 46_080 == 599_040
    assert growth.n_before == growth.n_same == 5 * 46_080 // 4


def test_lengths_and_rows_are_those_of_the_arrays(france):
    _, growth = france
    for kind, arrays, told in (
        ("keys", growth.cache.keys, growth.key_lengths),
        ("values", growth.cache.values, growth.value_lengths),
    ):
        rows = arrays[7, :13, 2]  # [layer, seq, kv_head, head_dim]
        np.testing.assert_array_equal(growth.rows(kind, 7, 2), rows)
        np.testing.assert_allclose(told[7, 2], np.linalg.norm(rows, axis=1), rtol=1e-6)
        assert not told.flags.writeable and not growth.rows(kind, 7, 2).flags.writeable


def test_a_run_from_the_start_has_the_same_rows_but_for_rounding(france):
    """Nothing that came later has changed an earlier row: a witness that never saw the cache."""
    _, growth = france
    whole = run(RunSpec(SMOLLM, ids=growth.ids)).cache
    np.testing.assert_allclose(growth.cache.keys[:, :13], whole.keys[:, :13], atol=2e-4)
    np.testing.assert_allclose(growth.cache.values[:, :13], whole.values[:, :13], atol=2e-4)


def test_a_changed_row_is_counted(france):
    trace, _ = france
    other = trace.cache.copy(0)
    other.keys[3, 2, 1, 0] = np.nextafter(other.keys[3, 2, 1, 0], np.float32(9))
    n = 2 * trace.cache.keys[:, :5].size
    assert growing._same(trace.cache, other) == n - 1
    assert growing._same(trace.cache, trace.cache.copy(0)) == n


@EACH_CASE
def test_any_model_grows_and_is_counted_right(case, name_of):
    trace = run(RunSpec(name_of(case), ids=SHORT))
    growth = grow(trace, 4)
    assert growth.n_same == growth.n_before > 0
    assert as_held(cache_size(trace.config), growth.cache).equal
    assert growth.cache.length == len(growth.ids) == growth.key_lengths.shape[-1]
    assert spent(trace.model, growth, 0) == cost(trace.model, len(SHORT))
    if growth.n_steps > 1:
        assert spent(trace.model, growth, 1) == cost(trace.model, 1, len(SHORT))
        assert spent(trace.model, growth, 1).written_bytes == cache_size(trace.config).per_token


def test_why_it_stops(tiny, monkeypatch):
    trace = run(RunSpec(tiny.source.path.as_posix(), ids=(0,)))
    model, cache = trace.model, KVCache(1, 1, 1, 1)
    context, ends = trace.config.context, (*model.tokenizer.end_ids,)
    scores = np.zeros(trace.config.vocab, np.float32)
    monkeypatch.setattr(growing, "next_logits", lambda *_: scores)

    def stop():
        return growing._continue(trace, cache, 3)[1]

    first = int(np.argmax(trace.logits()))
    assert first not in ends
    scores[first] = 1
    assert stop() == "limit"
    scores[ends[0]] = 2
    assert growing._continue(trace, cache, 3) == ([0, first], "end")
    scores[:] = np.nan
    assert stop() == "nonfinite"
    scores[:] = 0
    scores[first] = 1
    assert growing._continue(trace, cache, 10**6)[1] == "context"
    assert len(growing._continue(trace, cache, 10**6)[0]) == context


def test_which_tokens_are_compared(france, monkeypatch):
    trace, _ = france
    ids, n = bothways.tokens(trace)
    assert n == 16 and len(ids) == 21 and ids[:5] == trace.ids
    monkeypatch.setattr(bothways, "LONGEST", 2)
    monkeypatch.setattr(bothways, "STEPS", 3)
    assert bothways.tokens(trace) == (trace.ids, 3)


def step(index, seconds, difference=0.0, tolerance=1.0):
    """Of a comparison: with the cache `seconds`, without it three times as long."""
    spend = cost_of(index)
    passes = Pass(seconds, spend), Pass(3 * seconds, spend)
    told = Agreement(difference, tolerance, True)
    return Step(index, 0, index, index + 1, *passes, told, (0, 0))


def cost_of(n):
    return Cost(n, 0, n, n, n, n)


def test_sums_leave_the_prefill_out_and_the_worst_is_relative():
    steps = [step(0, 50.0), step(1, 1.0, 0.5, 1.0), step(2, 2.0, 0.9, 9.0)]
    assert bothways.sums(steps) == {"time": (3.0, 9.0), "flops": (3, 3), "bytes": (12, 12)}
    assert bothways.worst(steps).difference == 0.5


def test_the_two_jobs_cost_what_the_formula_says(tiny):
    trace = run(RunSpec(tiny.source.path.as_posix(), ids=(258, 273, 34)))
    n_long = min(128, trace.config.context - 1)
    (ids, longer), jobs = twojobs.texts(trace), twojobs.measure(trace)
    assert ids == trace.ids and longer[:6] == trace.ids * 2 and len(longer) == n_long
    assert [point.name for point in jobs.points] == ["step", "text", "long"]
    wanted = cost(tiny, 1, 3), cost(tiny, 3), cost(tiny, n_long)
    for point, planned, each in zip(jobs.points, twojobs.planned(trace), wanted, strict=True):
        assert (point.flops, point.n_bytes) == (each.flops, each.n_bytes)
        assert (planned.name, planned.flops, planned.n_bytes) == (
            point.name, point.flops, point.n_bytes,
        )  # fmt: skip
        assert not point.calculated and planned.calculated


def overflowing(path, value):
    """A tiny model and the token that it writes first after ids[0], whose own row is broken."""
    arrays = tinies.arrays()
    arrays["output.weight"] = arrays["token_embd.weight"].copy()
    sound = run(RunSpec(tinies.build(path / "sound.gguf", tensors=arrays), ids=(258, 273, 34)))
    first = int(np.argmax(sound.logits()))
    assert first not in (258, 273, 34, *sound.model.tokenizer.end_ids)
    arrays["token_embd.weight"][first] = value
    return tinies.build(path / "broken.gguf", tensors=arrays)


@pytest.mark.parametrize("value", [np.nan, np.inf])
@np.errstate(all="ignore")
def test_a_token_whose_numbers_are_not_finite_is_not_kept(tmp_path, value):
    growth = grow(run(RunSpec(overflowing(tmp_path, value), ids=(258, 273, 34))), 4)
    assert growth.stop == "nonfinite" and growth.ids == (258, 273, 34)
    assert growth.cache.length == 3 == growth.key_lengths.shape[-1]
    assert np.isfinite(growth.key_lengths).all() and np.isfinite(growth.value_lengths).all()
    assert growth.n_same == growth.n_before


@np.errstate(all="ignore")
def test_a_token_whose_keys_overflow_is_not_kept(tiny):
    """The second new token; the lengths of its keys are infinite before its scores are."""
    trace = run(RunSpec(tiny.source.path.as_posix(), ids=(258, 273, 34)))
    sound = grow(trace, 4)
    assert sound.n_steps > 3
    huge = Edit("attn.k", layer=1, position=4, kind="scale", value=1e25)
    growth = grow(run(RunSpec(trace.spec.model, ids=trace.ids, edits=(huge,))), 4)
    assert growth.stop == "nonfinite" and growth.ids == sound.ids[:4]
    assert growth.cache.length == 4 and np.isfinite(growth.key_lengths).all()


def test_where_a_cache_is_as_large_as_the_weights(smollm):
    n = growing.as_large(smollm)
    assert (n - 1) * 46_080 < smollm.weights.nbytes <= n * 46_080
