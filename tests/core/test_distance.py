"""A score over distance: by hand, as the pass turned it, and the same wherever both tokens stand.

What each test can find: the identity holds for any base, so it finds faults of the turning (a
pairing or a sign), not a wrong base. Equality with the recorded score finds that.
"""

import math
from dataclasses import replace

import numpy as np
import pytest

from core import RunSpec, open_model, run
from core.analyse.distance import (
    Meeting,
    falling_heads,
    falls,
    heads,
    key_to_try,
    meeting,
    shares,
    waves,
)
from core.model import ops
from core.model.config import Rope, Scaling
from core.model.rope import cos_sin
from tests import tiny as tiny_file
from tests.families import CLASSES, SCALINGS, build_folder

SHIFTS = (1, 7, 50, 199)
MARY = "When Mary and John went to the store, John gave a drink to"
YARN = Scaling("yarn", factor=4.0, original=64)
ROPES = (Rope(64, 1e5), Rope(48, 1e4), Rope(64, 1e4, YARN), Rope(8, 100.0), None)


@pytest.fixture(scope="module")
def mary(smollm):
    return run(RunSpec(str(smollm.source.path), prompt=MARY))


def invented(rope, head_dim=64, seed=0):
    """A meeting of random vectors, five positions apart."""
    q, k = np.random.default_rng(seed).standard_normal((2, head_dim)).astype(np.float32)
    return Meeting(0, 9, 4, q, k, rope, 200, head_dim**-0.5, math.nan)


def assert_only_the_distance_counts(m):
    here = m.score(m.query, m.key)
    for shift in SHIFTS:
        assert m.score(m.query + shift, m.key + shift) == pytest.approx(here, abs=1e-4)
    return here


# --- by hand


def test_one_pair_by_hand():
    # one pair that turns by 1 radian a position: query (2, 0), key (0, 3), scale 1/2. They stand at
    # right angles; a query one position later has turned by 1 more: score 3 sin(d).
    q, k = (np.array(x, np.float32) for x in ([2, 0], [0, 3]))
    w = waves(q, k, Rope(2, 10.0), 9, 0.5)
    assert (w.size[0], w.phase[0], w.frequency[0], w.constant) == (3, -math.pi / 2, 1, 0)
    wanted = [3 * math.sin(d) for d in range(5)]
    np.testing.assert_allclose(w.scores(range(5)), wanted, atol=1e-12)
    m = Meeting(0, 5, 3, q, k, Rope(2, 10.0), 9, 0.5, math.nan)
    assert m.distance == 2 and m.score(5, 3) == pytest.approx(3 * math.sin(2), abs=1e-6)
    assert m.score(8, 7) == pytest.approx(3 * math.sin(1), abs=1e-6)


def test_numbers_that_do_not_turn_add_a_constant():
    # the first two of four turn; the others add 1 · 5 + 2 · 7 = 19 at any distance
    w = waves([1.0, 0, 1, 2], [1.0, 0, 5, 7], Rope(2, 10.0), 9, 1.0)
    assert w.constant == 19 and w.size.tolist() == [1]
    np.testing.assert_allclose(w.scores([0, 2]), [20, 19 + math.cos(2)])


def test_without_rotation_the_distance_does_not_count():
    m = invented(None)
    w = m.waves
    assert w.size.size == 0
    assert m.score(9, 4) == m.score(90, 0) == pytest.approx(float(w.constant), abs=1e-5)


def test_the_heaviest_pairs_come_first_and_add_up():
    # at distance 0 the pairs add 1, -6 and 2, the number that does not turn 10
    w = waves([1.0, 2, 1, 0, 0, 0, 10], [1.0, -3, 2, 0, 0, 0, 1], Rope(6, 10.0), 9, 1.0)
    first, second = shares(w, 0, 2)[0]
    assert (first.pair, first.value, first.running) == pytest.approx((1, -6, -6))
    assert (second.pair, second.value, second.running) == pytest.approx((2, 2, -4))
    assert (first.size, first.cosine) == pytest.approx((6, -1))
    assert second.wavelength == pytest.approx(2 * math.pi * 10 ** (2 / 3))
    assert shares(w, 0, 2)[1] == pytest.approx(1) and shares(w, 0, 9)[1] == 0
    assert second.running + 1 + w.constant == pytest.approx(w.scores([0])[0])
    assert shares(invented(None).waves, 3, 5) == ([], 0)


def test_near_finds_the_first_rise_and_the_best_distance():
    # one pair that turns by 1 radian a position, both vectors alike: cos(d) falls up to 3, then
    # rises; a quarter turn behind, sin(d) rises at once and is largest at 2
    alike, behind = ([1, 0], [0, 1])
    q, k = (np.array(x, np.float32) for x in (alike, behind))
    m = Meeting(0, 5, 3, q, q, Rope(2, 10.0), 9, 1.0, math.nan)
    assert (m.near.rise, m.near.best, m.near.best_score) == (3, 0, 1)
    m = replace(m, k=k)
    assert (m.near.rise, m.near.best) == (1, 8)  # sin(8) = 0.99, sin(2) = 0.91


def test_falls_needs_every_step():
    assert falls(np.array([[3.0, 2, 1], [3, 3, 1], [1, 2, 0]])).tolist() == [True, False, False]


# --- identities


@pytest.mark.parametrize("rope", ROPES)
@pytest.mark.parametrize("seed", range(3))
def test_moving_both_leaves_the_score_and_moving_one_does_not(rope, seed):
    m = invented(rope, 8 if rope and rope.dim == 8 else 64, seed)
    here = assert_only_the_distance_counts(m)
    moved = max(abs(m.score(m.query, key) - here) for key in range(10))
    assert moved > 0.05 if rope else moved == 0


@pytest.mark.parametrize("rope", ROPES[:4])
def test_the_waves_are_what_turning_both_gives(rope):
    m = invented(rope, 8 if rope.dim == 8 else 64)
    turned = [m.score(150, 150 - d) for d in range(0, 140, 7)]
    np.testing.assert_allclose(m.waves.scores(range(0, 140, 7)), turned, atol=1e-4)


def test_the_identity_finds_a_wrong_pairing_but_no_wrong_base():
    m = invented(Rope(64, 1e5))
    assert_only_the_distance_counts(replace(m, rope=Rope(64, 123.0)))

    def turned(x, at):  # the key's pairs turned the wrong way round
        cos, sin = cos_sin(m.rope, at, at + 1, 200)
        return ops.rotate(x[None, None], cos, -sin)[0, 0]

    wrong = [float(turned(m.q, t + 5) @ ops.rotate(m.k[None, None], *cos_sin(m.rope, t, t + 1, 200))
                   [0, 0]) for t in (0, 50)]  # fmt: skip
    assert abs(wrong[0] - wrong[1]) > 1


# --- against the pass


def assert_as_recorded(trace, layer, head, query, key):
    m = meeting(trace, layer, head, query, key)
    assert m.recorded == trace.read("attn.scores", layer)[head, query, key]
    assert abs(m.score(query, key) - m.recorded) <= m.tolerance
    assert abs(float(m.waves.scores([query - key])[0]) - m.recorded) <= m.tolerance
    assert_only_the_distance_counts(m)
    return m


@pytest.mark.parametrize("family", CLASSES)
def test_every_family_by_its_own_rule(family, tmp_path):
    path = build_folder(tmp_path / "model", family)
    trace = run(RunSpec(path, ids=(5, 9, 5, 30, 2, 41, 7)))
    for layer, head in ((0, 3), (trace.config.n_layers - 1, 0)):
        m = assert_as_recorded(trace, layer, head, 6, 2)
        assert (m.rope is None) == ("attn.q_rot" not in trace.catalogue.blocks[layer])


@pytest.mark.parametrize("kind", SCALINGS)
def test_every_scaling_as_the_run_had_it(kind, tmp_path):
    trace = run(RunSpec(build_folder(tmp_path / "m", "llama", **SCALINGS[kind]), ids=range(80)))
    m = assert_as_recorded(trace, 1, 3, 79, 33)
    plain = replace(m, rope=replace(m.rope, scaling=None))
    assert abs(plain.score(79, 33) - m.recorded) > 10 * m.tolerance


@pytest.mark.parametrize("layer, head", [(0, 0), (1, 3)])
def test_nano(layer, head):
    nano = open_model("nano")
    trace = run(RunSpec(str(nano.source.path), ids=tuple(range(20, 50))))
    assert_as_recorded(trace, layer, head, 29, 11)


def test_a_wrong_base_or_a_wrong_key_head_is_found_by_the_recorded_score(mary):
    m = assert_as_recorded(mary, 24, 4, 13, 1)
    wrong = replace(m, rope=replace(m.rope, theta=1e4))
    assert abs(wrong.score(13, 1) - m.recorded) > 100 * m.tolerance
    other = replace(m, k=mary.read("attn.k", 24)[1, 4 % 3 + 1])
    assert abs(other.score(13, 1) - m.recorded) > 100 * m.tolerance


def test_a_number_out_of_range_is_refused(tiny, tiny_name):
    trace = run(RunSpec(tiny_name, ids=(5, 9, 5)))
    for query, key in ((3, 0), (0, 3), (-1, 0)):
        with pytest.raises(IndexError, match="0 to 2"):
            meeting(trace, 0, 0, query, key)


# --- what the page tells of SmolLM2


def test_nearer_is_not_higher_in_two_heads(mary):
    assert mary.tokens[13].endswith("to") and mary.tokens[1].endswith("Mary")
    gentle = meeting(mary, 24, 4, 13, 1).waves.scores([0, 3, 12])
    np.testing.assert_allclose(gentle, [4.27, 4.36, 3.53], atol=0.01)
    steep = meeting(mary, 16, 0, 13, 1).waves.scores(range(4))
    np.testing.assert_allclose(steep, [-0.51, 3.46, 0.53, -6.71], atol=0.01)


def test_only_some_heads_score_nearer_keys_higher(mary):
    found = falling_heads(mary, 13, 1)
    assert (sum(found.values()), len(found)) == (30, 270)


def test_the_count_of_heads_is_that_of_the_recorded_vectors(mary):
    found = falling_heads(mary, 13, 1)
    for layer in (0, 7, 29):
        for head in range(9):
            m = meeting(mary, layer, head, 13, 1)
            assert found[layer, head] == (m.near.rise is None)


def test_all_heads_of_a_layer_are_each_as_met_alone(mary):
    together = heads(mary, 24, 13, 1)
    assert together.size.shape == (9, 32)
    for head in range(9):
        alone = meeting(mary, 24, head, 13, 1)
        assert alone.head == head
        curve = alone.waves.scores(range(20))
        np.testing.assert_array_equal(together.scores(range(20))[head], curve)


def test_heads_that_do_not_turn_are_not_counted(tmp_path):
    trace = run(RunSpec(build_folder(tmp_path / "m", "smollm3"), ids=(5, 9, 5, 30)))
    turning = {n for n, rope in enumerate(trace.config.ropes) if rope}
    assert {layer for layer, _ in falling_heads(trace, 3, 1)} == turning != set()
    learned = run(RunSpec(build_folder(tmp_path / "g", "gpt2"), ids=(5, 9, 5, 30)))
    assert falling_heads(learned, 3, 1) == {}


def test_the_key_to_try_is_the_most_looked_at_but_the_first(mary):
    assert key_to_try(mary, 24, 4, 13) == 1
    row = mary.read("attn.weights", 24)[4, 13]
    assert row[1] == row[1:].max()
    assert key_to_try(mary, 24, 4, 0) == 0 and key_to_try(mary, 24, 4, 1) == 1


def test_tiny_file_has_grouped_heads(tiny, tiny_name):
    trace = run(RunSpec(tiny_name, ids=(5, 9, 5)))
    assert tiny_file.HEADS != tiny_file.KV_HEADS
    for head in range(tiny_file.HEADS):
        assert_as_recorded(trace, 1, head, 2, 0)
