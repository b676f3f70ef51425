"""One head's map: what is read along each weight, shares without the first token, rows of one."""

import numpy as np
import pytest

from core import RunSpec, run
from core.analyse import headmap
from tests.conftest import SMOLLM
from tests.core.conftest import EACH_CASE, IDS


@pytest.fixture(scope="module")
def trace(tiny_name):
    return run(RunSpec(tiny_name, prompt="the cat and the other cat"))


@pytest.fixture
def found(trace):
    return headmap.head_map(trace, 1, 3)


def test_what_is_read_is_the_weight_times_a_value_through_the_heads_own_columns(trace, found):
    query, key, n = 4, 2, trace.config.head_dim
    weight = float(trace.read("attn.weights", 1)[3, query, key])
    value = trace.read("attn.v", 1)[key, 1].tolist()  # heads 2 and 3 read KV head 1
    columns = trace.model.weights.get("attn_out", 1)[:, 3 * n : 4 * n].tolist()
    vector = [sum(w * v for w, v in zip(row, value, strict=True)) for row in columns]
    length = sum(x * x for x in vector) ** 0.5
    assert found.kv_head == 1
    assert found.lengths[key] == pytest.approx(length, rel=1e-12)
    assert found.carried[query, key] == pytest.approx(weight * length, rel=1e-6)
    assert found.carried[key, query] == 0 and not found.carried.flags.writeable


@EACH_CASE
def test_all_heads_together_write_what_attention_wrote(case, trace_of):
    """The parts of every head and key, added up, are the recorded output less its bias."""
    trace, layer = trace_of(case), 1
    total = 0
    for head in range(trace.config.n_heads):
        found = headmap.head_map(trace, layer, head)
        total += found.weights.astype(float) @ headmap.read_of(trace, layer, head)
        here = headmap.row(trace, found, 40)
        assert here.agreement.equal and found.agreement.equal
        assert here.written <= here.added * (1 + 1e-6)  # the triangle's inequality
        assert here.recorded == pytest.approx(here.written, rel=1e-5)
    names = trace.catalogue.op("attn.out", layer).biases
    bias = sum(trace.model.weights.get(name, layer) for name in names)
    recorded = trace.read("attn.out", layer)
    np.testing.assert_allclose(total + bias, recorded, rtol=0, atol=1e-5 * np.abs(recorded).max())


@EACH_CASE
def test_what_is_seen_is_what_the_mask_left(case, trace_of):
    trace = trace_of(case)
    for layer in range(trace.config.n_layers):
        found = headmap.head_map(trace, layer, 0)
        seen = np.isfinite(trace.read("attn.masked", layer)[0])
        assert (np.isfinite(found.seen(found.weights)) == seen).all()
        for query in (0, 7, 20, len(IDS) - 1):
            why = [found.why_masked(query, key) for key in range(len(IDS))]
            assert [not each for each in why] == seen[query].tolist()
            assert set(why[query + 1 :]) <= {"later"} and set(why[: query + 1]) <= {"", "outside"}
            assert sorted(found.order(query)) == np.flatnonzero(seen[query]).tolist()
        before = found.scores if found.capped is None else found.capped
        np.testing.assert_array_equal(found.masked[seen], before[seen])
        assert (found.capped is not None) == bool(trace.config.attn_softcap)


def test_the_telling_key_of_a_row_that_parks_on_the_first():
    rows = np.float32([[1, 0, 0], [0.75, 0.25, 0], [0.75, 0.05, 0.2]])
    found = headmap.HeadMap(0, 0, 0, rows, None, rows, rows, np.ones(3), None)
    assert found.order(2) == [0, 2, 1]
    assert [found.telling(query) for query in range(3)] == [0, 1, 2]


def test_what_the_keys_that_are_not_listed_get_together():
    rows = np.float32([[1, 0, 0], [0.75, 0.25, 0], [0.5, 0.125, 0.375]])
    found = headmap.HeadMap(0, 0, 0, rows, None, rows, rows, np.array([2.0, 4.0, 8.0]), None)
    assert found.rest(2, [0, 2]) == (0.875, 4.0)  # 0.5 * 2 + 0.375 * 8
    assert found.rest(2, []) == (0.0, 0.0)


def test_shares_without_the_first_sum_to_one_where_anything_is_left():
    weights = np.array([[1, 0, 0], [0.75, 0.25, 0], [1, 0, 0], [0.5, 0.125, 0.375]], np.float32)
    shares = headmap.without_first(weights)
    assert np.isnan(shares[:, 0]).all() and np.isnan(shares[[0, 2]]).all()
    np.testing.assert_array_equal(shares[[1, 3], 1:], [[1, 0], [0.25, 0.75]])


def test_the_limits_of_rows_are_what_the_colours_divide_by(found):
    np.testing.assert_array_equal(found.fullest("row"), found.weights.max(axis=1))
    left = found.fullest("rest")
    shares = headmap.without_first(found.weights)[1:, 1:]
    np.testing.assert_allclose(found.weights[1:, 1:] / left[1:, None], shares, rtol=1e-6)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert left[0] == 0 and found.n_empty == 1


def test_faint_rows_and_the_sum_that_is_farthest_from_one():
    rows = np.float32([[1, 0, 0], [0.875, 0.125, 0], [0.875, 0.0625, 0.09375]])
    found = headmap.HeadMap(0, 0, 0, rows, None, rows, rows, np.ones(3), None)
    assert found.n_faint == 1 and found.worst_sum == 1.03125
    assert not found.agreement.equal


def test_the_telling_key_is_the_strongest_but_the_first(found):
    for query in range(1, len(found.weights)):
        row = found.weights[query, 1 : query + 1]
        assert row[found.telling(query) - 1] == row.max()
    assert found.telling(0) == 0


def test_the_first_tokens_shares_are_means_over_the_rows_with_a_choice(found):
    weight, part = headmap.first_token(found)
    rows = range(1, len(found.weights))
    assert weight == pytest.approx(np.mean([found.weights[row, 0] for row in rows]), rel=1e-6)
    parts = [found.carried[row, 0] / found.carried[row].sum() for row in rows]
    assert part == pytest.approx(np.mean(parts), rel=1e-6)


def test_a_single_token_has_nothing_to_choose(tiny_name):
    trace = run(RunSpec(tiny_name, prompt="the"))
    found = headmap.head_map(trace, 0, 0)
    assert found.telling(0) == 0 and found.n_empty == 1 and found.order(0) == [0]
    assert np.isnan(headmap.first_token(found)).all()
    assert headmap.row(trace, found, 0).part == 1


def test_heads_that_share_keys_are_shown_with_what_the_mask_hides(trace):
    heads, maps = headmap.sharing(trace, 0, 1, 64)
    assert list(heads) == [2, 3] and len({head // trace.config.group for head in heads}) == 1
    weights = trace.read("attn.weights", 0)[2:4]
    seen = np.tri(weights.shape[1], dtype=bool)
    np.testing.assert_array_equal(maps[:, seen], weights[:, seen])
    assert np.isnan(maps[:, ~seen]).all()
    _, small = headmap.sharing(trace, 0, 1, 3)
    assert small.shape[1] <= 3 and small[0, 0, 0] == weights[0, :2, :2].max()


def test_a_head_that_is_not_there(trace):
    with pytest.raises(IndexError):
        headmap.head_map(trace, 0, trace.config.n_heads)
    with pytest.raises((KeyError, IndexError)):
        headmap.head_map(trace, trace.config.n_layers, 0)


def test_the_head_of_the_first_preset(smollm):
    found = headmap.head_map(run(RunSpec(SMOLLM, prompt="The capital of France is")), 23, 4)
    assert found.telling(4) == 3 and found.weights[4, 3] == pytest.approx(0.9033, abs=5e-5)
    # its first token is looked at more than it is read from
    weight, part = headmap.first_token(found)
    assert weight > 0.6 and part < 0.45
