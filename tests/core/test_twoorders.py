"""The same settings in both orders: who is kept by which, the same u, and why they differ."""

import numpy as np
import pytest

from core import RunSpec, run
from core.analyse import sampled
from core.decode import sampling, twoorders
from tests.conftest import SMOLLM

SCORES = np.log([0.5, 0.25, 0.15, 0.1])


def spec_of(**settings):
    return RunSpec("m", prompt="x", **{"temperature": 1.0, **settings})


def both(logits=SCORES, seen=(), **settings):
    return twoorders.both(logits, seen, spec_of(**settings))


def test_sets_worked_by_hand():
    # at T = 2: .353 .250 .193 .158 .. of roots .707 .5 .387 .316, sum 1.911: .370 .262 .203 .165
    found = both(temperature=2.0, top_p=0.7)
    assert found.first.last.kept().tolist() == [0, 1, 2]
    assert found.second.last.kept().tolist() == [0, 1]
    assert found.shared.tolist() == [0, 1] and found.only_first.tolist() == [2]
    assert not len(found.only_second) and not found.same and found.why == "hot"
    cold = both(temperature=0.5, top_p=0.7)
    assert (cold.only_first.tolist(), cold.only_second.tolist()) == ([], [1]) and cold.why == "cold"


def test_sets_are_those_of_the_final_stages():
    rng = np.random.default_rng(8)
    for _ in range(30):
        x = rng.normal(0, 3, 120)
        settings = {"temperature": rng.choice([0.5, 1, 2]), "typical_p": 0.6, "top_p": 0.8}
        found = both(x, top_k=50, **settings)
        a, b = (set(each.last.kept().tolist()) for each in (found.first, found.second))
        assert {*found.shared.tolist()} == a & b
        assert {*found.only_first.tolist()} == a - b
        assert {*found.only_second.tolist()} == b - a
        for ids, scores in (
            (found.shared, found.first.last.scores),
            (found.only_first, found.first.last.scores),
            (found.only_second, found.second.last.scores),
        ):
            assert (np.diff(scores[ids]) <= 0).all()


def test_each_order_draws_as_it_does_alone():
    x = np.random.default_rng(2).normal(0, 2, 50)
    for seed in range(20):
        settings = {"temperature": 1.8, "min_p": 0.1, "seed": seed}
        found = both(x, **settings)
        for each in (found.first, found.second):
            assert each.draw.id == sampling.choose(x, [], spec_of(order=each.order, **settings), 0)
        assert found.first.draw.u == found.second.draw.u


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({}, "off"),
        ({"temperature": 2.0, "repetition_penalty": 1.2}, "off"),
        ({"top_p": 0.6}, "one"),
        ({"typical_p": 0.6, "top_k": 9}, "one"),
        ({"temperature": 0.0, "top_p": 0.6, "min_p": 0.2}, "greedy"),
        ({"temperature": 2.0, "top_k": 2}, "rank"),
    ],
)
def test_where_nothing_can_differ_nothing_does(settings, why):
    rng = np.random.default_rng(4)
    for _ in range(20):
        found = both(rng.normal(0, 3, 60), [1, 2], **settings)
        assert found.same and found.why == why and not found.may_differ
        np.testing.assert_allclose(found.first.last.probs, found.second.last.probs, atol=1e-12)


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"temperature": 0.0, "typical_p": 0.3}, "greedy"),
        ({"typical_p": 0.5, "top_p": 0.6}, "typical"),
        ({"temperature": 3.0, "min_p": 0.3}, "hot"),
        ({"temperature": 0.4, "typical_p": 0.5}, "cold"),
    ],
)
def test_where_orders_may_differ_some_do(settings, why):
    rng = np.random.default_rng(5)
    found = [both(rng.normal(0, 3, 60), **settings) for _ in range(30)]
    assert {each.why for each in found} == {why} and found[0].may_differ
    assert not all(each.same for each in found)


@pytest.fixture(scope="module")
def france(smollm):
    return run(RunSpec(SMOLLM, prompt="The capital of France is"))


@pytest.mark.parametrize(
    ("cut", "first", "second"), [({"top_p": 0.9}, 13_307, 10), ({"min_p": 0.05}, 21, 2)]
)
def test_the_real_model_in_both_orders(france, cut, first, second):
    found = sampled.orders(france, 4, spec_of(temperature=2.0, **cut))
    assert (found.first.last.n_kept, found.second.last.n_kept) == (first, second)
    assert len(found.shared) == second and len(found.only_first) == first - second


@pytest.mark.parametrize(
    ("temperature", "prob"), [(0.5, 0.991949), (0.7, 0.954957), (1.0, 0.772533), (2.0, 0.052181)]
)
def test_what_a_temperature_leaves_of_the_first(france, temperature, prob):
    last = sampled.stages(france, 4, spec_of(temperature=temperature))[-1]
    assert last.probs[7042] == pytest.approx(prob, abs=2e-6)


def test_the_long_tail_of_a_warm_distribution(france):
    last = sampled.stages(france, 4, spec_of(temperature=1.5))[-1]
    assert last.probs[7042] == pytest.approx(0.244, abs=5e-4) and last.n_holding(0.9) == 3_285


def test_probabilities_before_all_stages_are_the_recorded_ones(france):
    for position in (0, 4):
        first = sampled.stages(france, position, spec_of(top_p=0.5))[0]
        agreement = sampled.recorded(france, position, first)
        assert agreement.equal
        assert sampled.seen(france, position) == tuple(france.ids[: position + 1])
    wrong = sampled.stages(france, 3, spec_of())[0]
    assert not sampled.recorded(france, 4, wrong).equal
