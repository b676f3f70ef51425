"""A draw and the filters look at the beginning of the walk only, where it is enough: what they find
is, bit for bit, what sorting the whole vocabulary finds.
"""

import numpy as np
import pytest

from core.decode import background, filters
from core.decode.filters import keep_top_p, keep_typical, softmax
from core.decode.generate import Event
from core.decode.sampling import Draw, log_prob

N = 3_000
LAST = np.nextafter(1, 0)  # the largest u there is
INF = np.inf


def normal(seed, spread, n=N):
    return np.random.default_rng(seed).normal(0, spread, n)


def cut(scores, n):
    """All but every n-th token."""
    return np.where(np.arange(len(scores)) % n == 0, scores, -INF)


CASES = {
    "peaked": normal(1, 6),  # 512 tokens hold nearly all
    "flat": normal(2, 0.5),  # they hold 40 %
    "ties": np.round(normal(3, 3)),  # the 512th place is in the middle of equals
    "all equal": np.zeros(N),
    "few": normal(4, 2, 20),
    "some cut": cut(normal(5, 2), 3),
    "all but a few cut": cut(normal(6, 2), 700),
    "equals, most of them cut": cut(np.zeros(N), 100),
    "one left": cut(normal(7, 2), N),
    "no second": np.array([0.0] + [-2_000.0] * (N - 1)),  # probabilities of 0, but not cut
}
US = (0.0, 0.3, 0.9, 0.99, 1 - 1e-6, LAST)


def whole(scores):
    """Ids, probabilities and running sums, from 0, by a sort of everything."""
    ids = np.lexsort((np.arange(len(scores)), -scores))
    ids = ids[scores[ids] > -INF]
    probs = softmax(scores)[ids]
    return ids, probs, np.append(0.0, np.cumsum(probs))


@pytest.fixture(params=CASES)
def scores(request):
    array = CASES[request.param].copy()
    array.flags.writeable = False
    return array


def test_the_first_tokens_are_those_of_the_whole_order(scores):
    ids, _, _ = whole(scores)
    for n in (0, 1, 8, 512, 2_999, N, N + 1, None):
        assert filters.descending(scores, n).tolist() == ids[:n].tolist()


def test_a_draw_is_the_one_by_a_sort_of_everything(scores):
    ids, probs, cumulative = whole(scores)
    beyond = np.flatnonzero(cumulative[1:] == cumulative[-1])[
        0
    ]  # where rounding leaves the sum < u
    for u in US:
        exceeding = np.flatnonzero(cumulative[1:] > u)
        place = int(exceeding[0]) if len(exceeding) else int(beyond)
        drawn = Draw(scores, u)
        found = drawn.id, drawn.place, drawn.prob, drawn.before
        assert found == (ids[place], place, probs[place], cumulative[place])
        np.testing.assert_array_equal(drawn.ids, ids)
        np.testing.assert_array_equal(drawn.probs, probs)
        np.testing.assert_array_equal(drawn.cumulative, cumulative)


def test_a_draw_at_the_border_of_the_beginning():
    _, _, cumulative = whole(CASES["flat"])
    border = cumulative[filters.SOME]
    for u, place in ((np.nextafter(border, 0), filters.SOME - 1), (border, filters.SOME)):
        assert Draw(CASES["flat"], u).place == place


def test_a_greedy_choice_has_nothing_before_it(scores):
    drawn, ids = Draw(scores, None), whole(scores)[0]
    assert (drawn.id, drawn.place, drawn.before) == (ids[0], 0, 0.0)
    assert drawn.prob == softmax(scores)[ids[0]]


def test_a_draw_sorts_no_more_than_it_needs(monkeypatch):
    asked, descending = [], filters.descending
    monkeypatch.setattr(
        filters, "descending", lambda scores, n=None: asked.append(n) or descending(scores, n)
    )
    drawn = Draw(CASES["peaked"], 0.5)
    assert drawn.id == np.argmax(CASES["peaked"]) and drawn.prob > 0.5 > drawn.before
    assert asked == [filters.SOME]
    assert Draw(CASES["flat"], 0.9).place > filters.SOME
    assert asked == [filters.SOME, filters.SOME, None]


@pytest.mark.parametrize("p", [0.0, 0.2, 0.9, 0.999, LAST])
def test_the_nucleus_is_the_one_by_a_sort_of_everything(scores, p):
    ids, _, cumulative = whole(scores)
    kept = ids[: max(1, np.count_nonzero(cumulative[:-1] < p))]
    wanted = np.full(len(scores), -INF)
    wanted[kept] = scores[kept]
    np.testing.assert_array_equal(keep_top_p(scores, p), wanted)


@pytest.mark.parametrize("mass", [0.05, 0.2, 0.9, 0.999, LAST])
def test_typical_tokens_are_those_by_a_sort_of_everything(scores, mass):
    away = filters.from_entropy(scores)
    nearest = np.argsort(away, kind="stable")
    held = np.cumsum(softmax(scores)[nearest])
    last = min(np.count_nonzero(held < mass), len(held) - 1)
    wanted = np.where(away <= away[nearest[last]], scores, -INF)
    np.testing.assert_array_equal(keep_typical(scores, mass), wanted)


@pytest.mark.parametrize("temperature", [1, 0.5])
@pytest.mark.parametrize("u", [None, 0.7])
def test_the_candidates_that_are_kept_have_the_models_probability_and_that_of_the_draw(
    temperature, u
):
    logits = CASES["flat"].astype(np.float32)
    scores = logits.astype(np.float64) / temperature
    made = Draw(scores, u)
    event = Event(
        0, made.id, "", 1, None, logprob=log_prob(logits, made.id), draw=made, logits=logits
    )
    kept = background._written(event, 0.0)
    ids = whole(scores)[0]
    assert [each.id for each in kept.best] == ids[: background.N_BEST].tolist()
    probs = softmax(logits)[ids[: background.N_BEST]]
    assert [each.prob for each in kept.best] == pytest.approx(probs, rel=1e-12)
    assert [each.drawn for each in kept.best] == softmax(scores)[ids[: background.N_BEST]].tolist()
    assert (kept.place, kept.before) == (made.place, whole(scores)[2][made.place])
    assert kept.event.draw is None and kept.event.logits is None
