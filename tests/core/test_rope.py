"""The angles of RoPE by hand, and every way to stretch them by its formula written once more."""

import math
from dataclasses import replace

import numpy as np
import pytest

from core.model import ops, rope
from core.model.config import Rope, Scaling

PLAIN = Rope(64, 100_000.0)
SMALL = Rope(8, 10_000.0)  # 1, 0.1, 0.01, 0.001 radians a position


def scaled(kind, **settings):
    return replace(SMALL, scaling=Scaling(kind, **settings))


def wavelengths(r):
    """Positions after which each pair is back where it was."""
    return [2 * math.pi * r.theta ** (2 * i / r.dim) for i in range(r.dim // 2)]


def test_rotation_keeps_length_and_depends_on_distance_only():
    rng = np.random.default_rng(0)
    q, k = rng.standard_normal((2, 1, 1, 8)).astype(np.float32)

    def score(at_q, at_k):
        turned_q = ops.rotate(q, *rope.cos_sin(SMALL, at_q, at_q + 1, 200))
        turned_k = ops.rotate(k, *rope.cos_sin(SMALL, at_k, at_k + 1, 200))
        assert np.linalg.norm(turned_q) == pytest.approx(np.linalg.norm(q), abs=1e-5)
        return float((turned_q * turned_k).sum())

    assert score(9, 4) == pytest.approx(score(105, 100), abs=1e-5)
    assert abs(score(9, 4) - score(9, 5)) > 1e-2


def test_angles():
    # pair i of head_dim 64 turns by theta^(-2i/64) radians a position: the first by one radian
    cos, sin = rope.cos_sin(PLAIN, 0, 8192, 8192)
    assert cos.shape == sin.shape == (8192, 32) and cos.dtype == sin.dtype == np.float32
    np.testing.assert_array_equal(cos[0], 1)
    assert sin[3, 0] == pytest.approx(math.sin(3), abs=1e-7)
    assert cos[8191, 31] == pytest.approx(math.cos(8191 * 100_000 ** (-62 / 64)), abs=1e-7)
    assert sin[8191, 1] == pytest.approx(math.sin(8191 * 100_000 ** (-2 / 64)), abs=1e-7)
    assert not cos.flags.writeable and not sin.base.flags.writeable


@pytest.mark.parametrize("r", [PLAIN, scaled("dynamic", factor=2.0, original=64)])
def test_rows_do_not_depend_on_what_else_is_asked(r):
    whole = rope.cos_sin(r, 0, 5000, 5000)
    for first, stop in ((0, 1), (63, 65), (64, 65), (1000, 1030)):
        for part, rows in zip(rope.cos_sin(r, first, stop, 5000), whole, strict=True):
            np.testing.assert_array_equal(part, rows[first:stop])


def test_a_part_of_the_head_has_fewer_pairs_and_its_own_exponents():
    # 6 of 8 numbers turn: 10,000^(-2i/6), not 10,000^(-2i/8)
    found = rope.frequencies(Rope(6, 10_000.0))
    np.testing.assert_allclose(found, [1, 10_000 ** (-1 / 3), 10_000 ** (-2 / 3)], rtol=1e-12)


def test_linear_divides_every_frequency():
    found = rope.frequencies(scaled("linear", factor=4.0))
    np.testing.assert_allclose(found, [0.25, 0.025, 0.0025, 0.00025], rtol=1e-12)
    assert rope.amplitude(scaled("linear", factor=4.0)) == 1
    # position 8 of the stretched model stands where position 2 stood
    np.testing.assert_array_equal(
        rope.cos_sin(scaled("linear", factor=4.0), 8, 9, 9), rope.cos_sin(SMALL, 2, 3, 3)
    )


def test_dynamic_changes_nothing_up_to_the_first_length_and_the_base_beyond():
    r = scaled("dynamic", factor=2.0, original=64)
    for length in (1, 64):
        np.testing.assert_array_equal(rope.frequencies(r, length), rope.frequencies(SMALL))
    # 160 tokens: (2 · 160 / 64 - 1)^(8/6) = 4^(4/3) times the base
    base = 10_000 * 4 ** (4 / 3)
    wanted = [base ** (-i / 4) for i in range(4)]
    np.testing.assert_allclose(rope.frequencies(r, 160), wanted, rtol=1e-12)
    # the same position turns otherwise in a longer text
    assert np.abs(rope.cos_sin(r, 5, 6, 64)[1] - rope.cos_sin(r, 5, 6, 160)[1]).max() > 1e-2


def test_llama3_by_wavelength():
    # first training 2,048; low 1, high 4: wavelengths under 512 stay, over 2,048 are slowed by 8.
    # Those of this model: 6.3, 62.8, 628, 6,283
    settings = {"factor": 8.0, "original": 2048, "low": 1.0, "high": 4.0}
    found = rope.frequencies(scaled("llama3", **settings))
    np.testing.assert_allclose(found[[0, 1, 3]], [1, 0.1, 0.001 / 8], rtol=1e-12)
    smooth = (2048 / wavelengths(SMALL)[2] - 1) / (4 - 1)
    assert found[2] == pytest.approx((1 - smooth) * 0.01 / 8 + smooth * 0.01, rel=1e-12)
    assert 0.01 / 8 < found[2] < 0.01


def test_yarn_between_its_two_borders():
    # within the first 2,048 positions pair 8.06 turns 32 times and pair 20.1 once; rounded outwards
    r = Rope(64, 10_000.0, Scaling("yarn", factor=4.0, original=2048))

    def border(times):
        return 64 * math.log(2048 / (times * 2 * math.pi)) / (2 * math.log(10_000))

    low, high = math.floor(border(32)), math.ceil(border(1))
    assert (low, high) == (8, 21)
    plain, found = rope.frequencies(Rope(64, 10_000.0)), rope.frequencies(r)
    np.testing.assert_allclose(found[: low + 1], plain[: low + 1], rtol=1e-12)
    np.testing.assert_allclose(found[high:], plain[high:] / 4, rtol=1e-12)
    for i in range(low, high + 1):
        ramp = (i - low) / (high - low)
        assert found[i] == pytest.approx(plain[i] * (1 - ramp) + plain[i] / 4 * ramp, rel=1e-12)


def test_yarn_makes_cosines_and_sines_larger():
    settings = {"factor": 4.0, "original": 64}
    assert rope.amplitude(scaled("yarn", **settings)) == pytest.approx(1.138629, abs=1e-6)
    assert rope.amplitude(scaled("yarn", amplitude=1.5, **settings)) == 1.5
    cos, sin = rope.cos_sin(scaled("yarn", **settings), 0, 9, 9)
    np.testing.assert_allclose(cos * cos + sin * sin, 1.138629**2, rtol=1e-5)


def test_yarn_may_keep_its_borders_unrounded():
    exact = Rope(64, 10_000.0, Scaling("yarn", factor=4.0, original=2048, truncate=False))
    low, high = (64 * math.log(2048 / (t * 2 * math.pi)) / (2 * math.log(10_000)) for t in (32, 1))
    ramp = (12 - low) / (high - low)
    plain = 10_000 ** (-24 / 64)
    wanted = plain * (1 - ramp) + plain / 4 * ramp
    assert rope.frequencies(exact)[12] == pytest.approx(wanted, rel=1e-12)


def test_longrope_has_a_divisor_per_pair_and_two_sets_of_them():
    short, long = (1.0, 1.1, 1.3, 1.2), (1.0, 1.6, 2.5, 4.0)
    r = scaled("longrope", factor=2.0, original=64, short=short, long=long)
    for length, divisors in ((64, short), (65, long)):
        wanted = [0.1**i / divisor for i, divisor in enumerate(divisors)]
        np.testing.assert_allclose(rope.frequencies(r, length), wanted, rtol=1e-12)
    # sqrt(1 + ln 2 / ln 64) = sqrt(1 + 1/6)
    assert rope.amplitude(r) == pytest.approx(math.sqrt(7 / 6), rel=1e-12)
    assert rope.amplitude(scaled("longrope", factor=1.0, original=64)) == 1


def test_factors_of_a_gguf_file_are_divisors():
    found = rope.frequencies(scaled("factors", short=(1.0, 1.0, 2.0, 8.0)))
    np.testing.assert_allclose(found, [1, 0.1, 0.005, 0.000125], rtol=1e-12)
