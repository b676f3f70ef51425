"""The map of some rows: against the covariance's own directions, against distances, by hand."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from core.analyse import near, plane
from core.errors import TokenwalkError


def map_of(rows, ids=None):
    embed = np.array(rows, np.float32)
    model = SimpleNamespace(weights=SimpleNamespace(embed=embed))
    return plane.plane(model, range(len(embed)) if ids is None else ids)


@pytest.fixture
def rows():
    """Twelve rows of six numbers, far from the origin."""
    return np.random.default_rng(3).normal(5, [3, 2, 1, 1, 0.5, 0.2], (12, 6)).astype(np.float32)


def test_a_rectangle_lies_on_the_map_as_it_is():
    drawn = map_of([[7 + 2 * x, 1, 3 + y] for x in (-1, 1) for y in (-1, 1)])
    assert drawn.points == pytest.approx(np.array([[-2, -1], [-2, 1], [2, -1], [2, 1]]))
    assert drawn.shares == pytest.approx([0.8, 0.2])
    assert drawn.variance == pytest.approx(5) and drawn.left_out == pytest.approx(0)
    assert drawn.components == pytest.approx(np.array([[1, 0, 0], [0, 0, 1]]))
    assert drawn.centre.tolist() == [7, 1, 3]


def test_the_directions_are_those_of_the_covariance(rows):
    drawn = map_of(rows)
    values, vectors = np.linalg.eigh(np.cov(rows.astype(np.float64).T, bias=True))
    assert drawn.shares == pytest.approx(values[:-3:-1] / values.sum())
    assert drawn.variance == pytest.approx(values.sum())
    for component, expected in zip(drawn.components, vectors.T[::-1], strict=False):
        assert abs(component @ expected) == pytest.approx(1)


def test_no_other_two_directions_leave_out_less(rows):
    drawn, centred = map_of(rows), rows.astype(np.float64) - rows.mean(axis=0, dtype=np.float64)
    rng = np.random.default_rng(4)
    for _ in range(50):
        other, _ = np.linalg.qr(rng.normal(size=(6, 2)))
        left = 1 - ((centred @ other) ** 2).sum() / (centred**2).sum()
        assert left >= drawn.left_out


def test_shares_sum_to_what_the_map_shows(rows):
    drawn = map_of(rows)
    on_map = (drawn.points**2).sum() / len(rows) / drawn.variance
    assert drawn.shares.sum() == pytest.approx(on_map) and drawn.left_out == pytest.approx(
        1 - on_map
    )


def test_distances_are_never_longer_on_the_map(rows):
    drawn = map_of(rows)
    assert drawn.in_space[2, 5] == pytest.approx(np.linalg.norm(rows[2] - rows[5]), rel=1e-6)
    assert (drawn.on_map <= drawn.in_space + 1e-9).all() and drawn.on_map[2, 5] > 0
    assert (drawn.in_space == drawn.in_space.T).all()


def test_three_rows_lie_wholly_on_the_map(rows):
    drawn = map_of(rows[:3])
    assert drawn.left_out == pytest.approx(0, abs=1e-12)
    assert drawn.on_map == pytest.approx(drawn.in_space)


def test_the_map_does_not_turn_round_when_tokens_come_in_another_order(rows):
    order = np.random.default_rng(5).permutation(12)
    drawn, other = map_of(rows), map_of(rows, order.tolist())
    assert other.points == pytest.approx(drawn.points[order])
    for component in drawn.components:
        assert component[abs(component).argmax()] > 0


def test_the_closest_two_and_the_neighbours_that_are_kept():
    apart = plane.distances(np.array([[0.0], [5.0], [6.0], [10.0]]))
    assert plane.closest(apart) == (1, 2)
    kept = SimpleNamespace(in_space=apart, on_map=apart)
    assert plane.neighbours_kept(kept) == 4
    moved = plane.distances(np.array([[0.0], [5.0], [9.0], [10.0]]))
    # nearest before: 1 2 1 2; after: 1 2 3 2
    assert plane.neighbours_kept(SimpleNamespace(in_space=apart, on_map=moved)) == 3


def test_a_coordinate_is_computed_again_and_a_wrong_one_is_found(rows):
    drawn = map_of(rows)
    for component in (0, 1):
        product, check = plane.coordinate(drawn, 4, component)
        assert check.equal and check.shown == drawn.points[4, component]
        assert product.value == pytest.approx(float(product.a @ product.b))
    wrong = replace(drawn, points=drawn.points + 0.01)
    assert not plane.coordinate(wrong, 4, 0)[1].equal


@pytest.mark.parametrize("ids", [[0, 1], [0, 1, 1], range(61)])
def test_too_few_or_too_many_rows_are_refused(ids):
    with pytest.raises(ValueError, match="rows"):
        map_of(np.eye(61), ids)


def test_equal_rows_are_flat():
    assert map_of([[0.1, 0.7]] * 3).flat and not map_of([[0, 1], [0, 1], [1, 0]]).flat


def test_rows_that_are_no_numbers_are_refused():
    with pytest.raises(TokenwalkError) as refused:
        map_of([[1, 2], [np.nan, 1], [3, 1]])
    assert refused.value.code == "nonfinite_outside"


def test_countries_lie_left_and_capitals_right(smollm):
    words = "France Germany Italy Spain Japan China Paris Berlin Rome Madrid Tokyo Beijing".split()
    drawn = plane.plane(smollm, [near.word(smollm.tokenizer, word).id for word in words])
    across = drawn.points[:, 0]
    assert max(across[:6]) < min(across[6:]) or min(across[:6]) > max(across[6:])
