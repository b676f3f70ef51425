"""Why a stage kept or cut a token: the rule's numbers decide exactly as the filter did."""

import numpy as np
import pytest

from core import RunSpec
from core.decode import reasons
from core.decode.sampling import by_seed, choose, draw, drawn, stages

SCORES = np.log([0.5, 0.25, 0.15, 0.1])  # a softmax that one can see


def spec_of(**settings):
    return RunSpec("m", prompt="x", **{"temperature": 1.0, **settings})


def stage_of(name, logits, seen=(), **settings):
    spec = spec_of(**settings)
    (stage,) = [each for each in stages(logits, seen, spec) if each.name == name]
    return stage, spec


def kept_by(rule, name):
    """Who stays by the numbers alone."""
    m, bound = rule.measure, rule.bound
    return {
        "top_k": m >= bound,
        "min_p": m >= bound,
        "top_p": (m < bound) | (m == 0),
        "typical": m <= bound,
    }[name]


@pytest.mark.parametrize("order", ["transformers", "llama.cpp"])
@pytest.mark.parametrize(
    "settings", [{"top_k": 20}, {"top_p": 0.7}, {"top_p": 0.0}, {"min_p": 0.1}, {"typical_p": 0.4}]
)
def test_the_numbers_of_a_rule_decide_as_the_filter_did(settings, order):
    rng, name = np.random.default_rng(3), next(iter(settings)).removesuffix("_p")
    name = {"top": "top_p", "min": "min_p"}.get(name, name)
    for _ in range(20):
        logits = np.round(rng.normal(0, 3, 200), 1)  # with ties
        more = {"temperature": 1.7, "repetition_penalty": 1.2, "order": order}
        stage, spec = stage_of(name, logits, [1, 2], **more, **settings)
        rule = reasons.rule(stage, spec)
        np.testing.assert_array_equal(kept_by(rule, name), stage.scores > -np.inf)


def test_rules_worked_by_hand():
    top_k, spec = stage_of("top_k", SCORES, top_k=2)
    assert reasons.rule(top_k, spec).bound == SCORES[1]
    top_p, spec = stage_of("top_p", SCORES, top_p=0.7)
    rule = reasons.rule(top_p, spec)
    np.testing.assert_allclose(rule.measure, [0, 0.5, 0.75, 0.9])
    assert rule.bound == 0.7 and top_p.kept().tolist() == [0, 1]
    min_p, spec = stage_of("min_p", SCORES, min_p=0.4)
    rule = reasons.rule(min_p, spec)
    assert rule.bound == pytest.approx(np.log(0.2)) and rule.aside == pytest.approx(np.log(0.5))
    typical, spec = stage_of("typical", SCORES, typical_p=0.3)
    rule = reasons.rule(typical, spec)
    entropy = -sum(p * np.log(p) for p in (0.5, 0.25, 0.15, 0.1))  # 1.208 nat
    away = [abs(-np.log(p) - entropy) for p in (0.5, 0.25, 0.15, 0.1)]
    np.testing.assert_allclose(rule.measure, away)
    assert rule.aside == pytest.approx(entropy)
    # .25 is nearest (.178) but does not reach .3; .5 (.515) joins it
    assert typical.kept().tolist() == [0, 1] and rule.bound == pytest.approx(away[0])


def test_a_rule_of_temperature_is_there_at_zero_alone():
    zero, spec = stage_of("temperature", [1.0, 3.0, 3.0], temperature=0)
    assert reasons.rule(zero, spec).bound == 3 and zero.kept().tolist() == [1]
    hot, spec = stage_of("temperature", [1.0, 3.0, 3.0], temperature=2)
    assert reasons.rule(hot, spec) is None
    off, spec = stage_of("top_k", [1.0, 3.0, 3.0])
    assert reasons.rule(off, spec) is None


def test_what_became_of_a_token():
    stage, spec = stage_of("top_p", SCORES, [3, 3], top_k=3, top_p=0.6)
    rule = reasons.rule(stage, spec)
    stays, falls, gone = (reasons.fate(stage, rule, [3, 3], id) for id in (1, 2, 3))
    assert (stays.kept, stays.gone, stays.count) == (True, False, 0)
    assert stays.prob == pytest.approx(0.25 / 0.9) and stays.measure == pytest.approx(0.5 / 0.9)
    assert stays.surprise == pytest.approx(-np.log(0.25 / 0.9))
    assert (falls.kept, falls.gone, falls.after) == (False, False, -np.inf)
    assert (gone.kept, gone.gone, gone.prob, gone.count) == (False, True, 0, 2)


def test_penalties_name_the_tokens_that_they_moved():
    stage, _ = stage_of("repetition", [2.0, -2, 0, 1], [0, 1, 2, 1], repetition_penalty=2.0)
    assert stage.moved().tolist() == [0, 1]  # 0 / 2 is 0, and 3 is not in the text
    one = reasons.fate(stage, None, [0, 1, 2, 1], 1)
    assert (one.before, one.after, one.count, one.measure) == (-2, -4, 2, None)
    assert stage.n_cut == 0


def test_ties_that_stay_beyond_k():
    stage, spec = stage_of("top_k", [3.0, 2, 2, 2, 1], top_k=2)
    assert (stage.n_kept, stage.n_cut, reasons.beyond(stage, spec.top_k)) == (4, 1, 2)
    stage, spec = stage_of("top_k", [3.0, 2, 1], top_k=2)
    assert reasons.beyond(stage, spec.top_k) == 0
    stage, spec = stage_of("top_k", [3.0, -np.inf, -np.inf, 1], top_k=3)
    assert reasons.beyond(stage, spec.top_k) == 0


def test_rows_are_the_first_before_and_the_followed_one():
    stage, _ = stage_of("top_k", SCORES[::-1], top_k=1)
    rows = reasons.rows(stage, 2, also=0)
    assert [row.id for row in rows] == [3, 2, 0] and [row.cut for row in rows] == [
        False,
        True,
        True,
    ]
    assert [row.before for row in rows] == pytest.approx([0.5, 0.25, 0.1])
    assert [row.after for row in rows] == [1, 0, 0]
    (left,) = reasons.rows(stage, 2, also=0, left=True)
    assert (left.id, left.before, left.after, left.cut) == (3, 1, 1, False)


def test_how_many_hold_a_share():
    stage, _ = stage_of("top_k", SCORES, top_k=2)
    assert [stage.n_held_before(share) for share in (0.4, 0.6, 0.8)] == [1, 2, 3]
    assert [stage.n_holding(share) for share in (0.4, 0.6, 0.8)] == [1, 1, 2]


def test_a_share_step_by_step():
    made = reasons.share([1.0, 3.0, 2.0], 2)
    assert (made.score, made.largest) == (2, 3) and made.power == pytest.approx(np.exp(-1))
    assert made.total == pytest.approx(1.503215, abs=1e-6) and made.prob == pytest.approx(
        0.244728, abs=1e-6
    )


def test_what_each_seed_draws():
    for settings in ({"top_p": 0.8}, {"temperature": 0}):
        spec = spec_of(seed=5, **settings)
        made = drawn(stages(SCORES, [], spec), spec, 2)
        assert made.id == draw(SCORES, [], spec, 2).id
        alone = [choose(SCORES, [], spec_of(seed=n, **settings), 2) for n in range(5, 45)]
        assert by_seed(made, spec, 2, range(5, 45)) == alone
        assert len(set(alone)) == (1 if made.greedy else 3)


def test_a_temperature_too_small_for_the_scores_overflows():
    def tempered(scores, temperature):
        return stage_of("temperature", np.array(scores), temperature=temperature)

    assert reasons.shift(*tempered([20.0, 3.0], 1e-308)) == 20
    assert reasons.shift(*tempered([0.5, -3.0], 1e-308)) is None
    assert reasons.overflows(*tempered([0.5, -3.0], 1e-308))
    for temperature in (0.0, 0.01, 1.0, 2.0):
        assert not reasons.overflows(*tempered([20.0, 3.0], temperature))
