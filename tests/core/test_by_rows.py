"""Large arrays in parts: the same numbers, bit for bit, and small ones are left alone."""

import numpy as np
import pytest

from core.model import ops, parts


@pytest.mark.parametrize("n_parts", [2, 3, 7, 64])
@pytest.mark.parametrize("op", [ops.softmax, ops.silu, ops.gelu_tanh, ops.gelu_erf, ops.mask])
def test_parts_give_the_same_bits(monkeypatch, op, n_parts):
    x = np.random.default_rng(0).standard_normal((9, 200, 200)).astype(np.float32) * 5
    monkeypatch.setattr(parts, "N_PARTS", n_parts)
    cut = op(x)
    monkeypatch.setattr(parts, "N_PARTS", 1)
    np.testing.assert_array_equal(cut.view(np.uint32), op(x).view(np.uint32))


def test_what_follows_the_array_reaches_every_part(monkeypatch):
    monkeypatch.setattr(parts, "N_PARTS", 2)
    x = np.zeros((4, 300, 300), np.float32)
    assert np.isfinite(ops.mask(x, 3)).sum(axis=-1).tolist() == [[1, 2, *[3] * 298]] * 4


def test_a_small_array_and_a_single_row_are_not_cut(monkeypatch):
    seen = []
    monkeypatch.setattr(parts, "N_PARTS", 2)
    op = parts.by_rows(lambda out, x: seen.append(x.shape))
    for shape in ((4, 1000), (1 << 19,), (4, 1 << 17)):
        op(np.zeros(shape, np.float32))
    assert sorted(seen) == [(2, 1 << 17), (2, 1 << 17), (4, 1000), (1 << 19,)]


def test_a_failure_in_a_part_is_not_lost(monkeypatch):
    monkeypatch.setattr(parts, "N_PARTS", 2)

    @parts.by_rows
    def fails(out, x):
        raise FloatingPointError("here")

    with pytest.raises(FloatingPointError, match="here"):
        fails(np.zeros((2, 1 << 19), np.float32))


@pytest.mark.parametrize("n_parts", [2, 3, 7])
def test_a_heavy_product_in_parts_is_the_product(monkeypatch, n_parts):
    generator = np.random.default_rng(1)
    x, weight = (generator.standard_normal((n, 600)).astype(np.float32) for n in (40, 900))
    monkeypatch.setattr(parts, "BLAS_THREADS", 1)
    monkeypatch.setattr(parts, "N_PARTS", n_parts)
    cut = parts.product(x, weight)
    assert cut.dtype == np.float32 and (cut == parts.product(x, weight)).all()  # bit for bit again
    exact = x.astype(np.float64) @ weight.T.astype(np.float64)
    np.testing.assert_allclose(cut, exact, rtol=0, atol=1e-4)


@pytest.mark.parametrize("cores, heavy, n_cut", [(2, True, 2), (2, False, 0), (1, True, 0)])
def test_only_a_heavy_product_is_cut_and_only_for_free_cores(monkeypatch, cores, heavy, n_cut):
    cut = []
    monkeypatch.setattr(parts, "BLAS_THREADS", 1)
    monkeypatch.setattr(parts, "N_PARTS", cores)
    monkeypatch.setattr(parts.POOL, "map", lambda does, each: cut.extend(each) or map(does, each))
    x, weight = np.ones((4 if heavy else 3, 1 << 11), np.float32), np.ones((1 << 11, 1 << 11))
    assert (parts.product(x, weight.astype(np.float32)) == 1 << 11).all()
    assert len(cut) == n_cut
