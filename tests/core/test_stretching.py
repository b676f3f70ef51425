"""Longer contexts: each way by hand, and as transformers computes it."""

import math

import numpy as np
import pytest

from core import open_model
from core.analyse.stretching import (
    FACTORS,
    METHODS,
    first_length,
    larger_base,
    stretched,
    stretches,
)
from core.model.config import ModelConfig, Rope, Scaling
from core.model.rope import frequencies

SIZES = dict(n_layers=2, width=24, n_heads=4, n_kv_heads=2, head_dim=8, neurons=40, vocab=70)
SIZES |= dict(norm_eps=1e-5, score_scale=8**-0.5, windows=(None, None))
BASE = Rope(64, 100_000.0)

# transformers 5.24 ROPE_INIT_FUNCTIONS, head size 16, base 100, from 128 to 512 tokens; "ntk" is
# its "dynamic" for a text of 512 tokens with factor 1
THEIRS = {
    "linear": [0.25, 0.140585, 0.0790569, 0.044457, 0.025, 0.0140585, 0.00790569, 0.0044457],
    "yarn": [1.0, 0.492049, 0.237171, 0.111142, 0.05, 0.0210878, 0.00790569, 0.0044457],
    "llama3": [1.0, 0.562341, 0.316228, 0.161053, 0.0509296, 0.0161053, 0.00790569, 0.0044457],
    "ntk": [1.0, 0.461308, 0.212805, 0.098169, 0.0452862, 0.0208909, 0.00963715, 0.0044457],
}
# the same for head size 64, base 100,000, from 8,192 to 32,768 tokens: pairs 0, 10, 14, 18, 31
THEIRS_LARGE = {
    "linear": [0.25, 0.00684605, 0.00162345, 0.000384982, 3.58253e-06],
    "yarn": [1.0, 0.0273842, 0.00454567, 0.000615971, 3.58253e-06],
    "llama3": [1.0, 0.0273842, 0.00649382, 0.000772948, 3.58253e-06],
    "ntk": [1.0, 0.01751, 0.00347218, 0.00068852, 3.58253e-06],
}


def config(*ropes, context=100):
    return ModelConfig("llama", context=context, ropes=ropes, **SIZES)


def by_name(config, layer, factor):
    return {stretch.name: stretch for stretch in stretches(config, layer, factor)}


@pytest.mark.parametrize("method", METHODS)
def test_as_transformers(method):
    found = frequencies(stretched(Rope(16, 100.0), method, 4, 128))
    np.testing.assert_allclose(found, THEIRS[method], rtol=1e-5)
    found = frequencies(stretched(BASE, method, 4, 8192))[[0, 10, 14, 18, 31]]
    np.testing.assert_allclose(found, THEIRS_LARGE[method], rtol=1e-5)


def test_linear_slows_every_pair_by_the_factor():
    found = by_name(config(Rope(8, 1e4), None), 0, 8)["linear"]
    np.testing.assert_allclose(found.slowed, 8)
    # without stretching a pair is round after 2π · 10^i tokens
    np.testing.assert_allclose(found.wavelengths, [16 * math.pi * 10**i for i in range(4)])
    assert (found.n_kept, found.n_full) == (0, 4)


def test_ntk_keeps_the_first_pair_and_slows_the_last_by_the_factor():
    # head size 8: base · 16^(8/6), so that pair i is slowed by 16^(i/3)
    assert larger_base(Rope(8, 1e4), 16) == pytest.approx(1e4 * 16 ** (4 / 3))
    found = by_name(config(Rope(8, 1e4), None), 0, 16)["ntk"]
    np.testing.assert_allclose(found.slowed, [1, 16 ** (1 / 3), 16 ** (2 / 3), 16])
    assert (found.n_kept, found.n_full) == (1, 1)


def test_new_angles_by_hand():
    # within 100 tokens the pairs of 628 and 6,283 tokens per turn do not go round
    found = by_name(config(Rope(8, 1e4), None), 0, 16)
    new = {name: way.n_new(100, 16) for name, way in found.items()}
    assert new["plain"] == 2 and new["linear"] == 0
    assert new["ntk"] == 1  # the last is slowed in full, the one before it by 16^(2/3)
    assert found["plain"].n_new(700, 16) == 1 and found["plain"].n_new(7000, 16) == 0
    assert found["linear"].n_new(100, 17) == 2  # slowed by 16, that is not enough for 17 times


def test_llama3_goes_by_wavelength():
    # from 4,000 tokens: 6.3, 63 and 628 are below a fourth of that and stay; 6,283 is above it
    found = by_name(config(Rope(8, 1e4), None, context=4000), 0, 2)["llama3"]
    np.testing.assert_allclose(found.slowed, [1, 1, 1, 2], rtol=1e-12)
    assert (found.n_kept, found.n_full) == (3, 1)


def test_yarn_goes_over_gradually():
    # from 4,000 tokens the pair that turns 32 times is number 1.3, and once: 2.8; rounded outwards
    # the ramp rises from pair 1 to pair 3
    found = by_name(config(Rope(8, 1e4), None, context=4000), 0, 2)["yarn"]
    np.testing.assert_allclose(1 / found.slowed, [1, 1, 0.75, 0.5])
    assert (found.n_kept, found.n_between, found.n_full) == (2, 1, 1)
    assert found.amplitude == pytest.approx(0.1 * math.log(2) + 1)


@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("name", ["smollm2", "nano"])
def test_what_all_have_in_common(name, factor, request):
    model = request.getfixturevalue("smollm") if name == "smollm2" else open_model("nano")
    found = by_name(model.config, 0, factor)
    plain = found.pop("plain")
    assert tuple(found) == METHODS and plain.n_kept == model.config.ropes[0].dim // 2
    for stretch in found.values():
        assert np.all((stretch.slowed > 1 - 1e-12) & (stretch.slowed < factor * (1 + 1e-12)))
        assert np.all(np.diff(stretch.wavelengths) > 0)
        np.testing.assert_allclose(stretch.wavelengths, plain.wavelengths * stretch.slowed)
        assert stretch.slowed[-1] == pytest.approx(factor)  # the slowest pair: all by the factor
        assert stretch.n_kept == 0 if stretch.name == "linear" else stretch.slowed[0] == 1
    assert found["llama3"].n_kept >= found["yarn"].n_kept >= found["ntk"].n_kept == 1


def test_a_scaling_of_the_model_is_shown_last_and_none_is_stacked_on_it():
    own = Rope(8, 1e4, Scaling("llama3", 8.0, 64))
    c = config(own, own, context=512)
    assert first_length(c, 0) == 64
    found = by_name(c, 1, 8)
    assert tuple(found) == ("plain", *METHODS, "own") and found["own"].rope is own
    np.testing.assert_array_equal(found["own"].slowed, found["llama3"].slowed)
    np.testing.assert_array_equal(found["plain"].slowed, 1)
    assert found["own"].factor == 8 and by_name(c, 1, 2)["own"].n_full == found["own"].n_full
    assert found["linear"].n_full == 4
    assert first_length(config(Rope(8, 1e4, Scaling("linear", 2.0)), None), 0) == 100


def test_divisors_of_a_file_state_no_factor():
    own = Rope(8, 1e4, Scaling("factors", short=(1.0, 1.5, 8.0, 8.0)))
    found = by_name(config(own, None), 0, 8)["own"]
    np.testing.assert_allclose(found.slowed, [1, 1.5, 8, 8])
    assert (found.n_kept, found.n_between, found.n_full) == (1, 3, 0)


def test_a_single_pair_has_no_base():
    found = by_name(config(Rope(2, 1e4), None), 0, 4)
    assert found["ntk"].slowed.tolist() == [1] and found["linear"].slowed.tolist() == [4]


def test_an_unknown_method_is_refused():
    with pytest.raises(ValueError, match="wanted one of"):
        stretched(BASE, "magic", 4, 128)
