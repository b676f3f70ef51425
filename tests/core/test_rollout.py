"""Attention rollout: by hand on two layers of three tokens, as a plain product of matrices, and on
a run.
"""

import numpy as np
import pytest

from core import RunSpec, run
from core.analyse import rollout

MAPS = np.float32(
    [[[1, 0, 0], [0.5, 0.5, 0], [0.2, 0.4, 0.4]], [[1, 0, 0], [0.8, 0.2, 0], [0.6, 0.3, 0.1]]]
)
EACH_KIND = pytest.mark.parametrize("kind", rollout.KINDS)


def product(maps):
    """Â_L ... Â_1 in double precision."""
    found = np.eye(maps.shape[1])
    for each in maps.astype(np.float64):
        found = (0.5 * each + 0.5 * np.eye(len(each))) @ found
    return found


def random_maps(layers, n, seed=0):
    scores = 2 * np.random.default_rng(seed).standard_normal((layers, n, n))
    powers = np.tril(np.exp(scores))
    return (powers / powers.sum(axis=2, keepdims=True)).astype(np.float32)


def test_by_hand():
    # after layer 0 the last token is .1 first, .2 second, .7 itself; the second is .25, .75
    last = rollout.rows(MAPS, 2)
    np.testing.assert_allclose(last[:2], [[0, 0, 1], [0.1, 0.2, 0.7]], rtol=1e-6)
    # layer 1 takes .3 of the first, .15 of the second, .55 of itself
    wanted = [0.3 + 0.15 * 0.25 + 0.55 * 0.1, 0.15 * 0.75 + 0.55 * 0.2, 0.55 * 0.7]
    np.testing.assert_allclose(last[2], wanted, rtol=1e-6)
    np.testing.assert_allclose(rollout.rollout(MAPS)[2], wanted, rtol=1e-6)


def test_without_the_first_token_by_hand():
    rest = rollout.without_first(MAPS[0])
    np.testing.assert_allclose(rest, [[1, 0, 0], [0, 1, 0], [0, 0.5, 0.5]], rtol=1e-6)
    np.testing.assert_allclose(rollout.rows(MAPS, 2, "rest")[1], [0, 0.25, 0.75], rtol=1e-6)
    assert MAPS[0, 2, 0] == np.float32(0.2)  # the map itself stays as it is


def test_a_row_that_gives_all_to_the_first_looks_at_itself_instead():
    sink = np.float32([[1, 0, 0], [1, 0, 0], [0.5, 0.5, 0]])
    assert rollout.without_first(sink).tolist() == [[1, 0, 0], [0, 1, 0], [0, 1, 0]]


def test_without_the_first_token_the_second_takes_all_that_flows_to_it():
    """Its row of every Â is itself alone."""
    found = rollout.rows(random_maps(60, 8), 7, "rest")
    assert rollout.rows(MAPS, 1, "rest").tolist() == [[0, 1]] * 3
    assert found[-1].argmax() == 1 and found[-1, 1] > 0.9


def test_the_last_layers_by_hand():
    found = rollout.rows(MAPS, 2, since=1)
    np.testing.assert_allclose(found, [[0, 0, 1], [0, 0, 1], [0.3, 0.15, 0.55]], rtol=1e-6)
    assert rollout.rows(MAPS, 2, since=2).tolist() == [[0, 0, 1]] * 3
    passed = rollout.terms(MAPS, 1.0, 0, 2, 2, since=1)
    assert passed.agreement.equal and passed.step.tolist() == [0, 0, 1]


def test_the_token_to_look_at():
    assert rollout.telling_key(np.float32([0.5, 0.3, 0.01, 0.04, 0.15])) == 3
    assert [rollout.telling_key(np.ones(n)) for n in (1, 2, 3, 4)] == [0, 1, 2, 2]


@pytest.mark.parametrize("since", [0, 2])
@EACH_KIND
def test_all_ways_lead_to_the_same_numbers(kind, since):
    """Rows from above, columns from below, the whole matrix, and the product written out."""
    maps = random_maps(5, 12)
    rest = kind == "rest"
    plain = np.stack([rollout.without_first(each) for each in maps]) if rest else maps
    wanted = [product(plain[since:layer]) for layer in range(6)]
    np.testing.assert_allclose(rollout.rollout(maps, kind, since), wanted[-1], atol=1e-6)
    for position in (0, 4, 11):
        found = rollout.rows(maps, position, kind, since)
        for layer in range(6):
            row = wanted[layer][position]
            np.testing.assert_allclose(found[layer], row[: position + 1], atol=1e-6)
            assert not row[position + 1 :].any()
    column = rollout.column(maps, 3, 2, 12, kind, since)
    np.testing.assert_allclose(column, wanted[3][:, 2], atol=1e-6)


@EACH_KIND
def test_every_row_is_a_share_of_a_whole(kind):
    found = rollout.rows(random_maps(20, 30), 29, kind)
    assert rollout.sums(found).equal
    assert kind == "whole" or not found[:, 0].any()  # nothing reaches the first token any more
    assert not rollout.sums(found * 1.001).equal


@pytest.mark.parametrize("since", [0, 2])
@EACH_KIND
def test_a_number_is_the_sum_over_the_tokens_between(kind, since):
    maps = random_maps(4, 9)
    found = rollout.rows(maps, 7, kind, since)
    for layer, key in ((0, 7), (3, 2), (3, 7)):
        made = rollout.terms(maps, found[layer + 1, key], layer, 7, key, kind, since)
        assert made.agreement.equal and len(made.products) == 8
        assert made.step.sum() == pytest.approx(1, abs=1e-6)
    wrong = rollout.terms(maps, found[4, 2] + 1e-3, 3, 7, 2, kind, since)
    assert not wrong.agreement.equal


def test_sums_by_hand():
    assert rollout.first_share(MAPS, 1) == pytest.approx(0.65)  # of 0.5 and 0.8
    row = np.float32([0.5, 0.125, 0.25, 0.125])
    assert rollout.together(row, [0, 3]) == 0.625 and rollout.together(row, []) == 0
    made = rollout.terms(MAPS, 1.0, 1, 2, 0)
    assert made.total == pytest.approx(0.3 + 0.15 * 0.25 + 0.55 * 0.1)


def test_broken_weights_stay_broken_without_the_first_token():
    rest = rollout.without_first(np.float32([[1, 0], [np.nan, np.nan]]))
    assert rest[0].tolist() == [1, 0] and np.isnan(rest[1, 1])


def test_when_a_share_is_passed():
    shares = np.float32([0, 0.4, 0.6, 0.5])
    assert rollout.first_above(shares) == 2 and rollout.first_above(shares, 0.7) is None


def test_means_of_a_run_are_those_of_its_heads(tiny_name):
    trace = run(RunSpec(tiny_name, prompt="the cat and the other cat"))
    found = rollout.means(trace)
    for layer in range(trace.config.n_layers):
        heads = trace.read("attn.weights", layer)
        np.testing.assert_allclose(found[layer], sum(heads) / len(heads), atol=1e-7)
    assert not found.flags.writeable and rollout.means(trace) is found
    for kind in rollout.KINDS:
        rollout.rollout(found, kind)  # writes into none of them
