"""Every op by hand, on numbers small enough to check with a pencil."""

import math

import numpy as np
import pytest

from core.model import ops, rope
from core.model.forward import chunks

INF = np.float32(np.inf)


def f32(values):
    return np.array(values, np.float32)


def close(value, wanted, tolerance=1e-4):
    np.testing.assert_allclose(value, wanted, rtol=0, atol=tolerance)
    assert value.dtype == np.float32


def test_embed_takes_one_row_per_id():
    table = f32([[0, 1], [2, 3], [4, 5]])
    close(ops.embed(np.array([2, 0, 2]), table), [[4, 5], [0, 1], [4, 5]], 0)


def test_rms_norm_of_3_4():
    # mean square (9 + 16) / 2 = 12.5; 3 / sqrt(12.5) = 0.84853, 4 / sqrt(12.5) = 1.13137
    x, weight = f32([[3, 4]]), f32([1, 10])
    close(ops.rms_norm(x, weight, 0.0), [[0.84853, 11.3137]])
    # eps stands inside the root: 12.5 + 12.5 = 25, whose root is 5
    close(ops.rms_norm(x, weight, 12.5), [[0.6, 8]])
    assert np.isfinite(ops.rms_norm(f32([[0, 0]]), weight, 1e-5)).all()


def test_linear_has_one_output_per_weight_row():
    x, weight = f32([[1, 2]]), f32([[1, 0], [0, 1], [3, -1]])
    close(ops.linear(x, weight), [[1, 2, 1]], 0)


def test_project_heads_cuts_consecutive_rows_into_heads():
    x, weight = f32([[1], [2]]), f32([[1], [2], [3], [4], [5], [6]])
    close(ops.project_heads(x, weight, 3)[0], [[1, 2], [3, 4], [5, 6]], 0)
    assert ops.project_heads(x, weight, 3).shape == (2, 3, 2)


def test_merge_heads_lays_heads_side_by_side():
    x, weight = f32([[[1, 2], [3, 4]]]), f32([[1, 10, 100, 1000]])
    close(ops.merge_heads(x, weight), [[4321]], 0)


def test_a_quarter_turn_swaps_the_halves():
    # number i turns with number i + head_dim/2: (1, 3) -> (-3, 1), and the pair (2, 4) stays
    x = f32([[[1, 2, 3, 4]]])
    turned = ops.rotate(x, f32([[0, 1]]), f32([[1, 0]]))
    close(turned, [[[-3, 2, 1, 4]]], 0)


def test_rotation_keeps_length_and_depends_on_distance_only():
    rng = np.random.default_rng(0)
    q, k = rng.standard_normal((2, 1, 1, 8)).astype(np.float32)

    def score(at_q, at_k):
        turned_q = ops.rotate(q, *rope.cos_sin(at_q, at_q + 1, 8, 10000.0))
        turned_k = ops.rotate(k, *rope.cos_sin(at_k, at_k + 1, 8, 10000.0))
        close(np.linalg.norm(turned_q), np.linalg.norm(q), 1e-5)
        return float((turned_q * turned_k).sum())

    assert score(9, 4) == pytest.approx(score(105, 100), abs=1e-5)
    assert abs(score(9, 4) - score(9, 5)) > 1e-2


def test_rope_angles():
    # pair i of head_dim 64 turns by theta^(-2i/64) radians a position: the first by one radian
    cos, sin = rope.cos_sin(0, 8192, 64, 100_000.0)
    assert cos.shape == sin.shape == (8192, 32)
    close(cos[0], np.ones(32), 0)
    close(sin[3, 0], math.sin(3), 1e-7)
    slowest = 8191 * 100_000 ** (-62 / 64)
    close(cos[8191, 31], math.cos(slowest), 1e-7)
    close(sin[8191, 1], math.sin(8191 * 100_000 ** (-2 / 64)), 1e-7)
    assert not cos.flags.writeable and not sin.base.flags.writeable


def test_rope_rows_do_not_depend_on_what_else_is_asked():
    whole = rope.cos_sin(0, 5000, 64, 100_000.0)
    for first, stop in ((0, 1), (63, 65), (64, 65), (1000, 1030)):
        for part, rows in zip(rope.cos_sin(first, stop, 64, 100_000.0), whole, strict=True):
            np.testing.assert_array_equal(part, rows[first:stop])


def test_scores_of_grouped_heads():
    # four query heads on two key heads: 0 and 1 read key head 0, 2 and 3 read key head 1
    q = f32([[[1], [2], [3], [4]]])
    k = f32([[[10], [100]], [[1], [1000]]])
    close(ops.scores(q, k, 0.5)[:, 0], [[5, 0.5], [10, 1], [150, 1500], [200, 2000]], 0)


def test_smollm_heads_read_three_by_three():
    q = np.ones((1, 9, 1), np.float32)
    k = f32([[[0], [1], [2]]])
    assert ops.scores(q, k, 1.0)[:, 0, 0].tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]


def test_mask_hides_later_keys_only():
    masked = ops.mask(np.ones((1, 3, 3), np.float32))
    close(masked[0], [[1, -INF, -INF], [1, 1, -INF], [1, 1, 1]], 0)


def test_mask_of_the_last_two_queries_of_four():
    masked = ops.mask(np.ones((1, 2, 4), np.float32))
    close(masked[0], [[1, 1, 1, -INF], [1, 1, 1, 1]], 0)


def test_softmax_of_2_1_0():
    # exponentials 1, .3679, .1353 of the distances to the maximum; their sum is 1.5032
    close(ops.softmax(f32([2, 1, 0])), [0.6652, 0.2447, 0.0900])
    close(ops.softmax(f32([1002, 1001, 1000])), [0.6652, 0.2447, 0.0900])
    close(ops.softmax(f32([5, -INF])), [1, 0], 0)


def test_mix_sums_value_rows_by_weight():
    weights = f32([[[0.25, 0.75]], [[1, 0]], [[0, 1]], [[0.5, 0.5]]])  # four heads, one query
    v = f32([[[4], [10]], [[8], [20]]])  # [key, kv_head, head_dim]
    close(ops.mix(weights, v)[0], [[7], [4], [20], [15]], 0)


def test_silu():
    # x * sigmoid(x): at 2, 2 / (1 + e^-2) = 1.76159
    close(ops.silu(f32([2, 0, -2, 200, -200])), [1.76159, 0, -0.23841, 200, 0])


def test_sums_products_and_copies():
    x, y = f32([[1, 2]]), f32([[10, 20]])
    close(ops.add(x, y), [[11, 22]], 0)
    close(ops.multiply(x, y), [[10, 40]], 0)
    close(ops.same(x), x, 0)


def test_ops_change_nothing_in_place():
    rng = np.random.default_rng(1)
    x, w = rng.standard_normal((2, 4, 8)).astype(np.float32)
    before = x.copy()
    cos, sin = rope.cos_sin(0, 4, 4, 10000.0)
    ops.rms_norm(x, w[0], 1e-5), ops.silu(x), ops.softmax(x), ops.mask(x[None]), ops.add(x, w)
    ops.rotate(x.reshape(4, 2, 4), cos, sin)
    np.testing.assert_array_equal(x, before)


@pytest.mark.parametrize("n", [1, 2, 511, 1024, 1025, 1300, 8192])
def test_chunks_cover_every_token_once(n):
    spans = chunks(n)
    assert [i for first, stop in spans for i in range(first, stop)] == list(range(n))
    assert len(spans) == (1 if n <= 1024 else -(-n // 512))
