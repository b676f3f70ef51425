"""What heads do, as numbers: on maps made by hand, where each measure is known, and on a real run
against sums written out one by one.
"""

import math

import numpy as np
import pytest

from core import ModelFileError, RunSpec, open_model, run
from core.analyse import learning, repeating, roles
from core.analyse.heads import attention
from tests.conftest import SMOLLM
from tests.families import build_folder

IDS = [7, 3, 7, 5, 3, 7]
ROLES = ("previous", "current", "first", "duplicate")


def looking_at(n, key):
    """A map in which the token at i gives all its attention to key(i)."""
    weights = np.zeros((1, n, n), np.float32)
    for i in range(n):
        weights[0, i, key(i)] = 1
    return weights


def last_equal(i):
    """The nearest earlier token equal to that at i; the first where there is none."""
    return max((j for j in range(i) if IDS[j] == IDS[i]), default=0)


PERFECT = {
    "previous": lambda i: max(i - 1, 0),
    "current": lambda i: i,
    "first": lambda i: 0,
    "duplicate": last_equal,
}


@pytest.mark.parametrize("name", ROLES)
def test_a_perfect_head_scores_exactly_1(name):
    found = roles.of_layer(looking_at(6, PERFECT[name]), IDS)
    assert found[name].tolist() == [1]
    assert all(found[other][0] < 1 for other in ROLES if other != name)
    assert found["entropy"].tolist() == [0]


def test_a_perfect_head_of_a_layer_with_a_window_scores_exactly_1():
    """Rows that cannot see what they are asked about do not count."""
    first = looking_at(6, lambda i: 0 if i < 3 else i)
    assert roles.first(first, IDS, 3).tolist() == [1] and roles.first(first, IDS)[0] < 1
    # in a window of 3 keys only position 2 still sees a 7 before it
    nearest = looking_at(6, lambda i: 0 if i == 2 else i)
    assert roles.duplicate(nearest, IDS, 3).tolist() == [1]
    assert roles.duplicate(nearest, IDS, 4)[0] == pytest.approx(1 / 3)  # rows 2, 4 and 5


def test_measures_by_hand():
    a = np.float32([[[1, 0, 0], [0.25, 0.75, 0], [0.5, 0.3, 0.2]]])
    found = {name: values[0] for name, values in roles.of_layer(a, [4, 9, 4]).items()}
    assert found["previous"] == pytest.approx((0.25 + 0.3) / 2)
    assert found["current"] == pytest.approx((1 + 0.75 + 0.2) / 3)
    assert found["first"] == pytest.approx((0.25 + 0.5) / 2)
    assert found["duplicate"] == pytest.approx(0.5)  # only the last row has an equal one
    rows = [0, 0.25 * math.log(4) - 0.75 * math.log(0.75)]
    rows += [-sum(w * math.log(w) for w in (0.5, 0.3, 0.2))]
    assert found["entropy"] == pytest.approx(sum(rows) / 3)
    assert found["distance"] == pytest.approx((0.25 * 1 + 0.5 * 2 + 0.3 * 1) / 3)
    assert found["distance_rest"] == pytest.approx(0.3 / (0.75 + 0.3 + 0.2))


def test_attention_that_is_spread_evenly_has_the_entropy_of_its_logarithm():
    n = 150  # more than the rows that are taken at a time
    even = np.tril(np.ones((2, n, n), np.float32)) / np.arange(1, n + 1, dtype=np.float32)[:, None]
    wanted = np.mean(np.log(np.arange(1, n + 1)))
    np.testing.assert_allclose(roles.entropy(even, None), [wanted] * 2, rtol=1e-6)
    np.testing.assert_allclose(roles.distance(even, None), [(n - 1) / 4] * 2, rtol=1e-6)


def test_what_a_text_cannot_say_is_no_number():
    alone = roles.of_layer(np.ones((2, 1, 1), np.float32), [4])
    undefined = {name for name, values in alone.items() if np.isnan(values).all()}
    assert undefined == {"previous", "first", "duplicate", "distance_rest"}
    assert alone["current"].tolist() == [1, 1]
    sink = looking_at(4, lambda i: 0)
    assert np.isnan(roles.distance_rest(sink, IDS[:4])) and roles.distance(sink, None) == [1.5]
    assert np.isnan(roles.duplicate(sink, [1, 2, 3, 4]))


def test_maps_stay_as_they_are():
    maps = looking_at(6, PERFECT["duplicate"])
    maps.flags.writeable = False
    before = maps.copy()
    roles.of_layer(maps, IDS)
    np.testing.assert_array_equal(maps, before)


@pytest.mark.parametrize("window", [None, 5])
def test_rows_of_a_head_make_its_measure(window):
    """Added up in another way: each row by its definition, in double precision."""
    n = 90
    rng = np.random.default_rng(0)
    ago = np.subtract.outer(np.arange(n), np.arange(n))
    seen = (ago >= 0) & (ago < (window or n))
    scores = np.where(seen, 3 * rng.standard_normal((4, n, n)), -np.inf)
    maps = np.exp(scores) / np.exp(scores).sum(axis=2, keepdims=True)
    maps, ids = maps.astype(np.float32), rng.integers(0, 9, n)
    found = roles.of_layer(maps, ids, window)
    assert found.keys() == roles.MEASURES.keys()
    for name, values in found.items():
        again = [roles.by_row(name, each, ids, window).score for each in maps]
        np.testing.assert_allclose(values, again, rtol=1e-5, err_msg=name)
        assert len(set(again)) == 4


def test_heads_in_order():
    scores = np.float32([[0.2, np.nan], [0.9, 0.2]])
    assert roles.order(scores) == [(1, 0), (0, 0), (1, 1), (0, 1)]
    assert roles.order(scores, "smallest") == [(0, 0), (1, 1), (1, 0), (0, 1)]
    assert roles.order(scores, "place") == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert [roles.rank(scores, *head) for head in ((1, 0), (0, 0), (1, 1))] == [1, 2, 2]
    assert roles.defined(scores) and not roles.defined(scores[:1, 1:])


def test_what_most_heads_look_at():
    scores = {"previous": [[0.9, 0.1, 0.3]], "current": [[0, 0.2, 0.4]], "first": [[0, 0.7, 0.1]]}
    found = roles.most({name: np.float32(values) for name, values in scores.items()})
    assert found == {"previous": 1, "current": 1, "first": 1, "none": 1}
    alone = {"previous": np.float32([[np.nan]]), "current": np.float32([[1]])}
    assert roles.most(alone | {"first": np.float32([[np.nan]])})["current"] == 1


def test_a_measure_beside_its_rows():
    a = looking_at(6, PERFECT["previous"])[0]
    rows = roles.by_row("previous", a, IDS)
    assert rows.total == rows.whole == 5 and rows.agreement(1.0).equal
    assert not rows.agreement(0.999).equal


# ---- words said twice ----------------------------------------------------------------------------


def test_a_perfect_induction_head_scores_exactly_1():
    # BOS a b c a b c: the second a (row 4) looks at b (2), the last c (row 6) at the second a (4)
    perfect = looking_at(7, lambda i: i - 2 if i > 3 else 0)[0]
    found = repeating.by_row(perfect, 3)
    assert found.score == 1 and np.isnan(found.values).tolist() == [True] * 4 + [False] * 3
    assert np.isnan(repeating.by_row(perfect, 3, 2).score)  # a window that ends before the b
    assert repeating.by_row(perfect, 3, 3).score == 1


@pytest.fixture(scope="module")
def windowed(tmp_path_factory):
    """A random model whose first layer sees 8 tokens back, its second all."""
    return build_folder(tmp_path_factory.mktemp("repeating") / "gemma2", "gemma2")


def test_the_text_is_random_words_said_twice(windowed):
    model = open_model(windowed)
    found = repeating.repeated(model, windowed)
    ids, period = found.trace.ids, found.period
    assert period == repeating.PERIOD == 50 and found.begin == 1
    assert ids[0] == model.tokenizer.bos_id
    assert ids[1 : period + 1] == ids[period + 1 :] and len({*ids[1:]}) == period
    assert ids == repeating.repeated(model, windowed).trace.ids


def test_scores_are_means_over_the_second_copy(windowed):
    found = repeating.repeated(open_model(windowed), windowed)
    maps, n = found.trace.read("attn.weights", 1), len(found.trace.ids)
    wanted = [sum(a[i, i - 49] for i in range(n - 50, n)) / 50 for a in maps]
    np.testing.assert_allclose(found.scores[1], wanted, rtol=1e-5)
    again = [repeating.by_row(a, 50).score for a in maps]
    np.testing.assert_allclose(again, wanted, rtol=1e-6)
    assert np.isnan(found.scores[0]).all()  # its window does not reach the first copy
    assert not found.scores.flags.writeable


def test_a_small_context_holds_shorter_copies(tmp_path):
    small = build_folder(tmp_path / "small", "llama", max_position_embeddings=21)
    assert repeating.repeated(open_model(small), small).period == 10
    smaller = build_folder(tmp_path / "smaller", "llama", max_position_embeddings=4)
    with pytest.raises(ModelFileError, match="said twice"):
        repeating.repeated(open_model(smaller), smaller)


# ---- SmolLM2 -------------------------------------------------------------------------------------


def test_heads_of_smollm2_that_are_known(smollm):
    """Found by an independent pass over other random sequences, too."""
    _, *best = learning.best(repeating.repeated(smollm, SMOLLM).scores)
    assert best == [18, 6]
    found = attention(run(RunSpec(SMOLLM, prompt="The quick brown fox jumps over the lazy dog")))
    score, *best = learning.best(found.scores["previous"])
    assert best == [16, 0] and score > 0.8
    assert int((found.scores["first"] > 0.5).sum()) > 90
