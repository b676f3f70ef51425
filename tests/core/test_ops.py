"""Every op by hand, on numbers small enough to check with a pencil."""

import math

import numpy as np
import pytest

from core.model import ops
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


def test_rms_norm_per_head_and_over_all_heads():
    # two heads of two: (3, 4) and (0, 12); root mean squares 3.53553 and 8.48528 each by itself
    x = f32([[[3, 4], [0, 12]]])
    close(ops.rms_norm(x, f32([1, 10]), 0.0)[0], [[0.84853, 11.3137], [0, 14.1421]])
    # all four at once: mean square (9 + 16 + 144) / 4 = 42.25, whose root is 6.5; a weight each
    whole = ops.rms_norm_all_heads(x, f32([1, 10, 100, 1000]), 0.0)
    close(whole[0], [[3 / 6.5, 40 / 6.5], [0, 12_000 / 6.5]], 1e-3)


def test_layer_norm_of_1_3():
    # mean 2, distances -1 and 1, variance 1; with eps 3 the root is 2
    x, weight, bias = f32([[1, 3]]), f32([1, 10]), f32([0.5, -1])
    close(ops.layer_norm(x, weight, 0.0, bias), [[-0.5, 9]], 1e-6)
    close(ops.layer_norm(x, weight, 3.0, bias), [[0, 4]], 1e-6)
    close(ops.layer_norm(f32([[7, 7]]), weight, 1e-5, bias), [[0.5, -1]], 0)
    # what is added to all numbers of a row changes nothing
    close(ops.layer_norm(x + 100, weight, 0.0, bias), [[-0.5, 9]])


def test_layer_norm_without_a_weight_is_the_variance_over_n():
    # 1, 2, 3, 6: mean 3, squares 4, 1, 0, 9 of the distances, variance 14 / 4 = 3.5
    out = ops.layer_norm(f32([[1, 2, 3, 6]]), np.ones(4, np.float32), 0.0, np.zeros(4, np.float32))
    close(out, [[-2 / 3.5**0.5, -1 / 3.5**0.5, 0, 3 / 3.5**0.5]], 1e-6)


def test_a_position_adds_its_row_and_a_scale_multiplies():
    table = f32([[0, 0], [1, 2], [10, 20]])
    close(ops.add_positions(f32([[5, 5], [6, 6]]), table, np.array([1, 2])), [[6, 7], [16, 26]], 0)
    close(ops.scale(f32([[1, -2]]), 3.5), [[3.5, -7]], 0)


def test_linear_has_one_output_per_weight_row():
    x, weight = f32([[1, 2]]), f32([[1, 0], [0, 1], [3, -1]])
    close(ops.linear(x, weight), [[1, 2, 1]], 0)
    close(ops.linear(x, weight, f32([10, 20, 30])), [[11, 22, 31]], 0)


def test_project_heads_cuts_consecutive_rows_into_heads():
    x, weight = f32([[1], [2]]), f32([[1], [2], [3], [4], [5], [6]])
    close(ops.project_heads(x, weight, 3)[0], [[1, 2], [3, 4], [5, 6]], 0)
    bias = f32([10, 20, 30, 40, 50, 60])
    close(ops.project_heads(x, weight, 3, bias)[0], [[11, 22], [33, 44], [55, 66]], 0)
    assert ops.project_heads(x, weight, 3).shape == (2, 3, 2)


def test_merge_heads_lays_heads_side_by_side():
    x, weight = f32([[[1, 2], [3, 4]]]), f32([[1, 10, 100, 1000]])
    close(ops.merge_heads(x, weight), [[4321]], 0)
    close(ops.merge_heads(x, weight, f32([0.5])), [[4321.5]], 0)


def test_a_quarter_turn_swaps_the_halves():
    # number i turns with number i + head_dim/2: (1, 3) -> (-3, 1), and the pair (2, 4) stays
    x = f32([[[1, 2, 3, 4]]])
    turned = ops.rotate(x, f32([[0, 1]]), f32([[1, 0]]))
    close(turned, [[[-3, 2, 1, 4]]], 0)


def test_numbers_behind_the_pairs_are_not_turned():
    # one pair of a head of five: (1, 2) -> (-2, 1), and 3, 4, 5 stay; angles by position
    x = f32([[[1, 2, 3, 4, 5]], [[1, 2, 3, 4, 5]]])
    turned = ops.rotate(x, f32([[1], [0]]), f32([[0], [1]]))
    close(turned[:, 0], [[1, 2, 3, 4, 5], [-2, 1, 3, 4, 5]], 0)


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


def test_a_window_counts_the_query_itself():
    # two positions are seen, the own and the one before
    masked = ops.mask(np.ones((1, 4, 4), np.float32), 2)
    hidden = [[0, 1, 1, 1], [0, 0, 1, 1], [1, 0, 0, 1], [1, 1, 0, 0]]
    close(masked[0], np.where(np.array(hidden) == 1, -INF, np.float32(1)), 0)
    one = ops.mask(np.ones((1, 3, 3), np.float32), 1)
    assert (np.isfinite(one[0]) == np.eye(3, dtype=bool)).all()
    # a wide one hides nothing but later keys, and the last rows of a longer text see the same
    close(ops.mask(np.ones((1, 3, 3), np.float32), 3)[0], ops.mask(np.ones((1, 3, 3)))[0], 0)
    close(ops.mask(np.ones((1, 2, 4), np.float32), 2)[0], masked[0, 2:], 0)


def test_softcap():
    # 2 tanh(x / 2): small numbers stay as they are, 2 becomes 2 tanh(1) = 1.52319, none passes 2
    close(ops.softcap(f32([0, 2, -2, 0.01, 100]), 2.0), [0, 1.523188, -1.523188, 0.01, 2], 1e-6)


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


def phi(x):
    """The normal distribution function."""
    return math.erfc(-x / math.sqrt(2)) / 2


def test_gelu_at_known_points():
    # Φ(1) = 0.8413447461, Φ(2) = 0.9772498681
    x = f32([0, 1, -1, 2, -2])
    close(ops.gelu_erf(x), [0, 0.8413447, -0.1586553, 1.9544997, -0.0455003], 1.5e-7)
    # with tanh: 0.5 x (1 + tanh(0.7978846 (x + 0.044715 x³))), at 1 tanh(0.8335620) = 0.6823840
    close(ops.gelu_tanh(x), [0, 0.8411920, -0.1588080, 1.9545977, -0.0454023], 1.5e-7)


def test_gelu_everywhere():
    x = np.concatenate([np.linspace(-13, 13, 5001), [-1e4, -20, 20, 1e4]]).astype(np.float32)
    exact = np.array([float(v) * phi(float(v)) for v in x])
    np.testing.assert_allclose(ops.gelu_erf(x), exact, rtol=2e-6, atol=1e-38)
    c = math.sqrt(2 / math.pi)
    wanted = [v / 2 * (1 + math.tanh(c * (v + 0.044715 * v**3))) for v in map(float, x)]
    np.testing.assert_allclose(ops.gelu_tanh(x), wanted, rtol=1e-6, atol=1e-6)
    # the two are told apart: 4.7e-4 at most, at 2.3 or so
    assert 4e-4 < np.abs(ops.gelu_erf(x) - ops.gelu_tanh(x)).max() < 5e-4
    assert np.isnan(ops.gelu_erf(f32([np.nan]))).all()


def test_sums_products_and_copies():
    x, y = f32([[1, 2]]), f32([[10, 20]])
    close(ops.add(x, y), [[11, 22]], 0)
    close(ops.multiply(x, y), [[10, 40]], 0)
    close(ops.same(x), x, 0)


def test_ops_change_nothing_in_place():
    rng = np.random.default_rng(1)
    x, w = rng.standard_normal((2, 4, 8)).astype(np.float32)
    before = x.copy()
    cos, sin = w[:, :2], w[:, 2:4]
    ops.rms_norm(x, w[0], 1e-5), ops.silu(x), ops.softmax(x), ops.mask(x[None]), ops.add(x, w)
    ops.layer_norm(x, w[0], 1e-5, w[1]), ops.gelu_erf(x), ops.gelu_tanh(x), ops.softcap(x, 2.0)
    ops.scale(x, 2.0), ops.add_positions(x, w, np.arange(4)), ops.linear(x, w, w[0, :4])
    ops.rotate(x.reshape(4, 2, 4), cos, sin)
    np.testing.assert_array_equal(x, before)


@pytest.mark.parametrize("n", [1, 2, 511, 1024, 1025, 1300, 8192])
def test_chunks_cover_every_token_once(n):
    spans = chunks(n)
    assert [i for first, stop in spans for i in range(first, stop)] == list(range(n))
    assert len(spans) == (1 if n <= 1024 else -(-n // 512))
