"""From scores to a token: each step by hand, and the counts that order decides."""

import warnings

import numpy as np
import pytest

from core import RunSpec, SettingError, run
from core.decode import sampling
from core.decode.sampling import choose, keep_min_p, keep_top_k, keep_top_p, log_softmax, penalize
from tests.conftest import SMOLLM

PARIS = 7042


def f32(*values):
    return np.array(values, np.float32)


def kept(logits):
    return np.flatnonzero(np.isfinite(logits)).tolist()


@pytest.fixture(scope="module")
def france(smollm):
    return run(RunSpec(SMOLLM, prompt="The capital of France is")).logits()


def softmax(logits):
    return np.exp(log_softmax(np.asarray(logits, np.float64)))


def test_log_softmax_of_2_1_0():
    np.testing.assert_allclose(np.exp(log_softmax(f32(2, 1, 0))), [0.6652, 0.2447, 0.09], atol=1e-4)
    np.testing.assert_allclose(log_softmax(f32(1e4, 0)), [0, -1e4])


def test_penalty_divides_positive_and_multiplies_negative_scores():
    logits = f32(2, -2, 0, 1)
    np.testing.assert_array_equal(penalize(logits, [0, 1, 2, 0], 2), [1, -4, 0, 1])
    np.testing.assert_array_equal(penalize(logits, [0, 1, 2], 1), logits)
    assert logits[0] == 2


def test_top_k():
    assert kept(keep_top_k(f32(3, 1, 2), 2)) == [0, 2]
    assert kept(keep_top_k(f32(2, 2, 2, 1), 2)) == [0, 1, 2]  # ties with the k-th stay
    for k in (0, 3, 60_000):
        assert kept(keep_top_k(f32(3, 1, 2), k)) == [0, 1, 2]


def test_top_p():
    # probabilities .665 .245 .090
    logits = f32(2, 1, 0)
    assert kept(keep_top_p(logits, 0.6)) == [0]
    assert kept(keep_top_p(logits, 0.7)) == [0, 1]
    assert kept(keep_top_p(logits, 0.95)) == [0, 1, 2]
    assert kept(keep_top_p(logits, 0)) == [0]
    assert kept(keep_top_p(logits, 1)) == [0, 1, 2]
    assert kept(keep_top_p(f32(1, 1, 1, 1), 0.5)) == [0, 1]  # a tie at the edge: never empty


def test_min_p():
    # relative to the best: 1, .368, .135
    logits = f32(2, 1, 0)
    assert kept(keep_min_p(logits, 0.3)) == [0, 1]
    assert kept(keep_min_p(logits, 0.1)) == [0, 1, 2]
    assert kept(keep_min_p(logits, 0)) == [0, 1, 2]
    assert kept(keep_min_p(logits, 1)) == [0]


def test_temperature_comes_before_truncation(france):
    hot = france / np.float32(2)
    assert len(kept(keep_top_p(hot, 0.9))) == 13_307
    assert len(kept(keep_min_p(hot, 0.05))) == 21
    assert len(kept(keep_top_p(france, 0.9))) == 10
    assert len(kept(keep_min_p(france, 0.05))) == 2
    three = f32(3, 2, 1)
    assert kept(keep_top_p(three / np.float32(0.5), 0.8)) == [0]
    assert kept(keep_top_p(three, 0.8)) == [0, 1]


@pytest.mark.parametrize(
    ("temperature", "paris"), [(0.5, 0.991949), (0.7, 0.954957), (1, 0.772533), (2, 0.052181)]
)
def test_temperature_on_the_real_model(france, temperature, paris):
    assert softmax(france.astype(np.float64) / temperature)[PARIS] == pytest.approx(paris, abs=2e-5)


@pytest.mark.parametrize("temperature", [0, 0.0, 1e-6, 1e-300])
def test_cold_is_greedy_without_a_warning(france, temperature):
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        for seed in range(5):
            spec = RunSpec("m", prompt="x", temperature=temperature, seed=seed)
            assert choose(france, [], spec, seed) == PARIS


def test_greedy_takes_the_first_of_equals():
    assert choose(f32(1, 3, 3), [], RunSpec("m", prompt="x"), 0) == 1


def test_draws_follow_the_probabilities():
    # 5,000 draws of .665 .245 .090: three standard deviations are at most .020
    spec = RunSpec("m", prompt="x", temperature=1)
    draws = [choose(f32(2, 1, 0), [], spec, step) for step in range(5_000)]
    np.testing.assert_allclose(np.bincount(draws) / 5_000, softmax([2, 1, 0]), atol=0.02)


def test_draws_stay_inside_what_was_kept():
    spec = RunSpec("m", prompt="x", temperature=1, top_k=2)
    assert {choose(f32(0, 1, 1, -5), [], spec, step) for step in range(200)} == {1, 2}
    spec = RunSpec("m", prompt="x", temperature=1, top_p=0.0)
    assert {choose(f32(0, 1, 2), [], spec, step) for step in range(50)} == {2}


def test_seed_and_step_decide_the_draw():
    flat = np.zeros(1000, np.float32)

    def draws(seed):
        spec = RunSpec("m", prompt="x", temperature=1, seed=seed)
        return [choose(flat, [], spec, step) for step in range(10)]

    assert draws(1) == draws(1) != draws(2)
    assert len(set(draws(1))) > 5


def test_penalty_is_part_of_the_choice():
    spec = RunSpec("m", prompt="x", repetition_penalty=3.0)
    assert choose(f32(3, 2), [], spec, 0) == 0
    assert choose(f32(3, 2), [0], spec, 0) == 1


@pytest.mark.parametrize("value", [-1, float("nan"), float("inf"), "1", None, True])
def test_temperatures_that_are_none(value):
    with pytest.raises(SettingError) as caught:
        RunSpec("m", prompt="x", temperature=value)
    assert caught.value.code == "bad_setting" and "temperature" in str(caught.value)


@pytest.mark.parametrize(
    "setting",
    [
        {"top_k": -1},
        {"top_k": 1.5},
        {"top_p": 1.1},
        {"top_p": -0.1},
        {"min_p": 2},
        {"repetition_penalty": 0},
        {"repetition_penalty": -1},
        {"max_new_tokens": 0},
        {"seed": -1},
        {"seed": 0.5},
    ],
)
def test_settings_outside_their_bounds(setting):
    with pytest.raises(SettingError) as caught:
        RunSpec("m", prompt="x", **setting)
    assert caught.value.params["name"] == next(iter(setting))


def test_the_order_is_the_documented_one():
    words = sampling.__doc__
    places = [words.index(w) for w in ("penalty", "temperature", "top-k", "top-p", "min-p", "draw")]
    assert places == sorted(places)
