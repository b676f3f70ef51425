"""What may be done to scores, each by hand; the counts that the order decides on the real model."""

import warnings

import numpy as np
import pytest

from core import RunSpec, run
from core.decode import filters
from core.decode.filters import keep_min_p, keep_top_k, keep_top_p, keep_typical, penalize, temper
from tests.conftest import SMOLLM

PARIS = 7042
OFF = {  # the neutral settings
    "repetition": lambda x: penalize(x, [0, 1], 1),
    "presence": lambda x: filters.presence(x, [0, 1], 0),
    "frequency": lambda x: filters.frequency(x, [0, 1], 0.0),
    "temperature": lambda x: temper(x, 1),
    "top_k 0": lambda x: keep_top_k(x, 0),
    "top_k of all": lambda x: keep_top_k(x, 3),
    "top_k of more": lambda x: keep_top_k(x, 60_000),
    "top_p": lambda x: keep_top_p(x, 1),
    "min_p": lambda x: keep_min_p(x, 0),
    "typical": lambda x: keep_typical(x, 1.0),
    "nothing seen": lambda x: penalize(filters.presence(x, [], 1), [], 2),
}
CUTTING = {
    "temperature": lambda x: temper(x, 0),
    "top_k": lambda x: keep_top_k(x, 2),
    "top_p": lambda x: keep_top_p(x, 0.8),
    "min_p": lambda x: keep_min_p(x, 0.2),
    "typical": lambda x: keep_typical(x, 0.8),
}


def f64(*values):
    return np.array(values, np.float64)


def kept(scores):
    return np.flatnonzero(np.isfinite(scores)).tolist()


@pytest.fixture(scope="module")
def france(smollm):
    return run(RunSpec(SMOLLM, prompt="The capital of France is")).logits().astype(np.float64)


@pytest.mark.parametrize("name", OFF)
def test_a_neutral_setting_returns_the_same_array(name):
    scores = f64(3, 1, 2)
    assert OFF[name](scores) is scores


@pytest.mark.parametrize("name", CUTTING)
def test_what_is_kept_keeps_its_score_and_the_input_is_left_alone(name):
    scores = f64(0, 3, 1, 2, 2, -4)
    before = scores.copy()
    scores.flags.writeable = False
    after = CUTTING[name](scores)
    assert 0 < len(kept(after)) < 6
    np.testing.assert_array_equal(after[kept(after)], before[kept(after)])
    np.testing.assert_array_equal(scores, before)


@pytest.mark.parametrize("name", CUTTING)
def test_a_token_once_cut_stays_cut_and_counts_for_nothing(name):
    scores = f64(0, 3, 1, 2, 2, -4)
    hidden = np.insert(scores, [0, 3, 6], -np.inf)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        after = CUTTING[name](hidden)
    np.testing.assert_array_equal(after[hidden > -np.inf], CUTTING[name](scores))
    assert (after[hidden == -np.inf] == -np.inf).all()


def test_softmax_of_2_1_0():
    np.testing.assert_allclose(filters.softmax(f64(2, 1, 0)), [0.6652, 0.2447, 0.09], atol=1e-4)
    np.testing.assert_array_equal(filters.softmax(f64(1e300, 0, -np.inf)), [1, 0, 0])
    np.testing.assert_allclose(filters.log_softmax(f64(1e4, 0)), [0, -1e4])


def test_descending_takes_equals_by_the_smaller_id_and_leaves_out_what_is_cut():
    assert filters.descending(f64(1, 3, -np.inf, 3, 0.0, -0.0, 2)).tolist() == [1, 3, 6, 0, 4, 5]
    rough = np.round(np.random.default_rng(0).normal(0, 3, 5_000), 2)
    wanted = np.lexsort((np.arange(5_000), -rough))
    assert len(np.unique(rough)) < 2_500  # most share their score with another
    np.testing.assert_array_equal(filters.descending(rough), wanted)


def test_penalty_divides_positive_and_multiplies_negative_scores():
    scores = f64(2, -2, 0, 1)
    np.testing.assert_array_equal(penalize(scores, [0, 1, 2, 0], 2), [1, -4, 0, 1])
    np.testing.assert_array_equal(penalize(scores, (0, 1), 0.5), [4, -1, 0, 1])
    assert scores[0] == 2


def test_presence_counts_once_and_frequency_every_time():
    scores, seen = f64(2, -2, 0, 1), [0, 1, 0, 0]
    np.testing.assert_array_equal(filters.presence(scores, seen, 0.5), [1.5, -2.5, 0, 1])
    np.testing.assert_array_equal(filters.frequency(scores, seen, 0.5), [0.5, -2.5, 0, 1])
    np.testing.assert_array_equal(filters.frequency(scores, seen, -0.5), [3.5, -1.5, 0, 1])


def test_temperature_divides():
    np.testing.assert_array_equal(temper(f64(2, -1, 0), 0.5), [4, -2, 0])


def test_temperature_0_leaves_the_first_of_the_largest():
    np.testing.assert_array_equal(temper(f64(1, 3, 3), 0), [-np.inf, 3, -np.inf])


@pytest.mark.parametrize("scores", [(1, 3, 2), (-1, -3, -2), (1e-3, 3e300, 2)])
@pytest.mark.parametrize("temperature", [1e-6, 1e-300, 5e-324])
def test_a_temperature_near_0_overflows_nothing(scores, temperature):
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        probs = filters.softmax(temper(f64(*scores), temperature))
    np.testing.assert_array_equal(probs, np.arange(3) == np.argmax(scores))


def test_top_k():
    assert kept(keep_top_k(f64(3, 1, 2), 2)) == [0, 2]
    assert kept(keep_top_k(f64(2, 2, 2, 1), 2)) == [0, 1, 2]  # ties with the k-th stay
    assert filters.kth_largest(f64(3, 1, 2), 2) == 2


def test_top_p():
    # probabilities .665 .245 .090
    scores = f64(2, 1, 0)
    assert kept(keep_top_p(scores, 0.6)) == [0]
    assert kept(keep_top_p(scores, 0.7)) == [0, 1]
    assert kept(keep_top_p(scores, 0.95)) == [0, 1, 2]
    assert kept(keep_top_p(scores, 0)) == [0]
    assert kept(keep_top_p(f64(1, 1, 1, 1), 0.5)) == [0, 1]  # at the edge, the smaller ids
    assert kept(keep_top_p(f64(0, 1, 1), 0)) == [1]
    ids, before = filters.mass_before(f64(0, 2, 1))
    assert ids.tolist() == [1, 2, 0]
    np.testing.assert_allclose(before, [0, 0.6652, 0.9100], atol=1e-4)


def test_min_p():
    # relative to the best: 1, .368, .135
    scores = f64(2, 1, 0)
    assert kept(keep_min_p(scores, 0.3)) == [0, 1]
    assert kept(keep_min_p(scores, 0.1)) == [0, 1, 2]
    assert kept(keep_min_p(scores, 1)) == [0]
    assert kept(keep_min_p(f64(2, 1, 2), 1)) == [0, 2]
    assert filters.least_score(scores, 0.5) == pytest.approx(2 - 0.693147)


def test_typical_prefers_what_surprises_as_much_as_the_mean():
    # p .5 .25 .25: surprise .693 1.386 1.386, entropy 1.040: all the same .347 away, so all stay
    third = np.log(f64(0.5, 0.25, 0.25))
    np.testing.assert_allclose(filters.from_entropy(third), [0.3466] * 3, atol=1e-4)
    # p .6 .2 .1 .1: entropy 1.089; .578, .521, 1.214 and 1.214 away: the best is not the first
    scores = np.log(f64(0.6, 0.2, 0.1, 0.1))
    np.testing.assert_allclose(filters.from_entropy(scores), [0.578, 0.521, 1.214, 1.214], 1e-3)
    assert kept(keep_typical(scores, 0.1)) == [1]
    assert kept(keep_typical(scores, 0.3)) == [0, 1]
    assert kept(keep_typical(scores, 0.85)) == [0, 1, 2, 3]  # a tie with the last stays


@pytest.mark.parametrize(
    ("temperature", "paris"), [(0.5, 0.991949), (0.7, 0.954957), (1, 0.772533), (2, 0.052181)]
)
def test_temperature_on_the_real_model(france, temperature, paris):
    assert filters.softmax(temper(france, temperature))[PARIS] == pytest.approx(paris, abs=2e-5)


def test_settings_at_the_size_of_the_vocabulary(france):
    for k in (0, 49_152, 60_000):
        assert keep_top_k(france, k) is france
    assert kept(keep_top_k(france, 1)) == [PARIS]
