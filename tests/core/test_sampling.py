"""From scores to a token: the stages and their order, the walk of u, and what decides a draw."""

import warnings

import numpy as np
import pytest

from core import RunSpec, run, spec
from core.decode import sampling
from core.decode.sampling import Draw, choose, draw, log_prob, rolls, stages
from tests.conftest import SMOLLM

PARIS = 7042
THREE = np.array([3, 2, 1], np.float32)


def f32(*values):
    return np.array(values, np.float32)


def spec_of(**settings):
    return RunSpec("m", prompt="x", **{"temperature": 1.0, **settings})


def kept(logits, seen=(), **settings):
    return sorted(stages(logits, seen, spec_of(**settings))[-1].kept().tolist())


def softmax(x):
    e = np.exp(np.asarray(x, np.float64) - np.max(x))
    return e / e.sum()


@pytest.fixture(scope="module")
def france(smollm):
    return run(RunSpec(SMOLLM, prompt="The capital of France is")).logits()


# stages


def test_the_orders_are_those_a_spec_may_name():
    assert tuple(sampling.ORDERS) == spec.ORDERS
    for order in sampling.ORDERS.values():
        assert sorted(order) == sorted(sampling.STAGES)


@pytest.mark.parametrize(
    ("order", "names"),
    [
        ("transformers", "repetition presence frequency temperature top_k top_p min_p typical"),
        ("llama.cpp", "repetition presence frequency top_k typical top_p min_p temperature"),
    ],
)
def test_stages_come_in_the_order(order, names):
    found = stages(THREE, [], spec_of(order=order))
    assert [s.name for s in found] == ["logits", *names.split()]


def test_a_stage_that_is_off_has_the_array_before_it():
    found = stages(THREE, [0, 1], spec_of(top_k=2))
    assert [s.name for s in found if s.active] == ["logits", "top_k"]
    assert all(s.active or s.scores is s.before for s in found)
    assert found[0].scores is found[4].scores is found[5].before
    assert found[5].scores is found[-1].scores
    assert all(not s.scores.flags.writeable for s in found)
    assert THREE.flags.writeable and found[0].scores.dtype == np.float64


def test_what_a_stage_says_of_itself():
    # probabilities .665 .245 .090
    found = {s.name: s for s in stages(f32(0, 2, 1), [], spec_of(top_k=2, top_p=0.7))}
    top_k, top_p = found["top_k"], found["top_p"]
    assert (top_k.n_kept, top_k.kept().tolist(), top_k.cut().tolist()) == (2, [1, 2], [0])
    assert top_k.mass_kept == pytest.approx(0.910, abs=1e-3)
    np.testing.assert_allclose(top_k.probs, [0, 0.7311, 0.2689], atol=1e-4)
    assert (top_p.n_kept, top_p.cut().tolist()) == (1, [2])
    assert top_p.mass_kept == pytest.approx(0.7311, abs=1e-4)
    for name in ("logits", "temperature", "min_p"):
        assert (found[name].mass_kept, found[name].cut().tolist()) == (1.0, [])


def test_who_was_cut_is_ranked_and_limited():
    (stage,) = [s for s in stages(np.arange(100), [], spec_of(top_k=10)) if s.name == "top_k"]
    assert stage.cut(3).tolist() == [89, 88, 87] and len(stage.cut()) == 90
    assert stage.kept(2).tolist() == [99, 98]


@pytest.mark.parametrize("order", spec.ORDERS)
def test_the_mass_of_all_stages_is_what_the_last_holds_of_the_first(order):
    x = np.random.default_rng(1).normal(0, 3, 300)
    settings = {"top_k": 50, "top_p": 0.9, "min_p": 0.02, "typical_p": 0.8, "order": order}
    found = stages(x, [], spec_of(**settings))
    assert len([s for s in found if s.n_kept < len(x)]) >= 4 and found[-1].n_kept > 1
    wanted = softmax(x)[found[-1].scores > -np.inf].sum()
    assert np.prod([s.mass_kept for s in found]) == pytest.approx(wanted, rel=1e-12)
    for stage in found:
        assert stage.probs.sum() == pytest.approx(1, abs=1e-12)


def test_penalties_are_made_of_all_ids_so_far():
    settings = {"repetition_penalty": 2.0, "presence_penalty": 1.0, "frequency_penalty": 0.5}
    for order in spec.ORDERS:
        last = stages(f32(2, -2, 0, 1), [0, 1, 0], spec_of(order=order, **settings))[-1]
        np.testing.assert_array_equal(last.scores, [1 - 1 - 1, -4 - 1 - 0.5, 0, 1])


# the order decides


def test_temperature_before_or_after_the_cut():
    cold, hot = {"temperature": 0.5, "top_p": 0.8}, {"temperature": 2.0, "min_p": 0.3}
    assert kept(THREE, **cold) == [0]
    assert kept(THREE, **cold, order="llama.cpp") == [0, 1]
    assert kept(THREE, **hot) == [0, 1, 2]
    assert kept(THREE, **hot, order="llama.cpp") == [0, 1]


def test_temperature_before_or_after_the_cut_on_the_real_model(france):
    for cut, first, last in (({"top_p": 0.9}, 13_307, 10), ({"min_p": 0.05}, 21, 2)):
        assert len(kept(france, temperature=2.0, **cut)) == first
        assert len(kept(france, temperature=2.0, **cut, order="llama.cpp")) == last


# the walk


def test_candidates_walk_from_the_most_probable_equals_by_the_smaller_id():
    drawn = draw(f32(0, 2, 1, 2), [], spec_of(top_k=3), 0)
    assert drawn.ids.tolist() == [1, 3, 2]
    np.testing.assert_allclose(drawn.probs, softmax([2, 2, 1]))
    np.testing.assert_allclose(drawn.cumulative, [0, *np.cumsum(softmax([2, 2, 1]))])
    assert (drawn.n_kept, drawn.tied, drawn.greedy) == (3, 2, False)
    assert drawn.ids[drawn.place] == drawn.id and drawn.prob == drawn.probs[drawn.place]
    assert drawn.cumulative[drawn.place] <= drawn.u < drawn.cumulative[drawn.place + 1]


@pytest.mark.parametrize(
    ("u", "place"),
    [(0, 0), (0.25, 1), (np.nextafter(0.25, 0), 0), (0.5, 2), (np.nextafter(1, 0), 3)],
)
def test_a_token_is_the_first_whose_cumulative_probability_exceeds_u(u, place):
    assert Draw(np.zeros(4), u).id == place  # four tokens of .25, exactly


def test_a_sum_that_rounds_below_1_ends_at_the_last_token_that_adds_to_it():
    even = Draw(np.array([0.0] * 10 + [-2000.0]), np.nextafter(1, 0))
    assert even.cumulative[-1] <= even.u and even.probs[-1] == 0
    assert even.id == 9


def test_u_is_the_first_number_of_the_generator_of_seed_and_step():
    for step in range(5):
        drawn = draw(THREE, [], spec_of(seed=7), step)
        assert drawn.u == np.random.default_rng([7, step]).random()
        assert choose(THREE, [], spec_of(seed=7), step) == drawn.id


@pytest.mark.parametrize("order", spec.ORDERS)
def test_a_draw_is_made_of_the_last_stage(order):
    x = np.random.default_rng(2).normal(0, 2, 500)
    setting = spec_of(temperature=0.8, top_k=40, typical_p=0.9, presence_penalty=1.0, order=order)
    drawn, last = draw(x, [1, 2], setting, 3), stages(x, [1, 2], setting)[-1]
    np.testing.assert_array_equal(drawn.ids, last.kept())
    np.testing.assert_array_equal(drawn.probs, last.probs[last.kept()])
    assert drawn.probs.sum() == pytest.approx(1, abs=1e-12)


def test_draws_follow_the_probabilities():
    # 5,000 draws of .665 .245 .090: three standard deviations are at most .020
    draws = [choose(f32(2, 1, 0), [], spec_of(), step) for step in range(5_000)]
    np.testing.assert_allclose(np.bincount(draws) / 5_000, softmax([2, 1, 0]), atol=0.02)


def test_draws_stay_inside_what_was_kept():
    two = spec_of(top_k=2)
    assert {choose(f32(0, 1, 1, -5), [], two, step) for step in range(200)} == {1, 2}
    first = spec_of(top_p=0.0)
    assert {choose(f32(0, 1, 2), [], first, step) for step in range(50)} == {2}


def test_seed_and_step_decide_the_draw():
    flat = np.zeros(1000, np.float32)

    def draws(seed):
        return [choose(flat, [], spec_of(seed=seed), step) for step in range(10)]

    assert draws(1) == draws(1) != draws(2)
    assert len(set(draws(1))) > 5


def test_rolls_begin_with_the_draw_and_follow_the_probabilities():
    setting = spec_of(seed=3)
    drawn = draw(f32(0, 2, 1), [], setting, 5)
    one, many = rolls(drawn, setting, 5, 1), rolls(drawn, setting, 5, 5_000)
    assert one.tolist() == [n == drawn.place for n in range(3)]
    np.testing.assert_allclose(many / 5_000, drawn.probs, atol=0.02)
    assert many.sum() == 5_000
    us = np.random.default_rng([3, 5]).random(20)
    by_hand = [drawn.place_of(u) for u in us]
    assert rolls(drawn, setting, 5, 20).tolist() == np.bincount(by_hand, minlength=3).tolist()


# without a draw


@pytest.mark.parametrize("order", spec.ORDERS)
def test_greedy_takes_the_first_of_equals(order):
    setting = spec_of(temperature=0, order=order)
    drawn = draw(f32(1, 3, 3), [], setting, 0)
    assert (drawn.id, drawn.place, drawn.tied, drawn.u, drawn.greedy) == (1, 0, 2, None, True)
    assert drawn.ids.tolist() == [1, 2, 0]
    assert drawn.prob == pytest.approx(softmax([1, 3, 3])[1])
    assert stages(f32(1, 3, 3), [], setting)[-1].kept().tolist() == [1]
    assert rolls(drawn, setting, 0, 100).tolist() == [100, 0, 0]


def test_greedy_is_taken_of_what_came_before_the_temperature():
    settings = {"temperature": 0, "top_k": 2, "repetition_penalty": 3.0}
    assert draw(THREE, [0], spec_of(**settings), 0).ids.tolist() == [1, 0, 2]  # 2, 1, 1
    assert draw(THREE, [0], spec_of(**settings, order="llama.cpp"), 0).n_kept == 3  # a tie
    assert draw(THREE, [1], spec_of(**settings, order="llama.cpp"), 0).ids.tolist() == [0, 2]


@pytest.mark.parametrize("temperature", [0, 0.0, 1e-6, 1e-300])
def test_cold_is_greedy_without_a_warning(france, temperature):
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        for seed in range(5):
            setting = spec_of(temperature=temperature, seed=seed)
            assert choose(france, [], setting, seed) == PARIS


def test_penalty_is_part_of_the_choice():
    setting = spec_of(temperature=0, repetition_penalty=3.0)
    assert choose(f32(3, 2), [], setting, 0) == 0
    assert choose(f32(3, 2), [0], setting, 0) == 1


def test_log_prob_is_of_the_logits_as_they_are():
    assert log_prob(f32(2, 1, 0), 1) == pytest.approx(np.log(softmax([2, 1, 0])[1]))


# settings


def test_a_whole_temperature_is_a_temperature():
    assert choose(THREE, [], spec_of(temperature=1), 0) == choose(THREE, [], spec_of(), 0)


@pytest.mark.parametrize("order", spec.ORDERS)
@pytest.mark.parametrize("extreme", [1e-6, 1e6])
def test_no_legal_penalty_overflows(order, extreme):
    settings = {"repetition_penalty": extreme, "presence_penalty": 100, "frequency_penalty": -100}
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        drawn = draw(f32(9, -9, 0), [0, 1, 2] * 50, spec_of(order=order, **settings), 0)
        assert drawn.n_kept == 3 and drawn.id in drawn.ids


@pytest.mark.parametrize(
    ("stage", "setting"),
    [
        ("repetition", {"repetition_penalty": 2.0}),
        ("presence", {"presence_penalty": 2.0}),
        ("frequency", {"frequency_penalty": 2.0}),
        ("temperature", {"temperature": 0.5}),
        ("top_k", {"top_k": 2}),
        ("top_p", {"top_p": 0.5}),
        ("min_p", {"min_p": 0.5}),
        ("typical", {"typical_p": 0.5}),
    ],
)
def test_each_setting_drives_the_stage_of_its_name(stage, setting):
    found = stages(THREE, [0], spec_of(**setting))
    assert [s.name for s in found if s.active] == ["logits", stage]
