"""Rotated queries and keys once more as complex numbers, in float64 and from the formula of the
paper; what the views say of pairs, clocks and the other pairing.
"""

import math

import numpy as np
import pytest

from core import RunSpec, open_model, run
from core.analyse import rotation
from tests.conftest import SMOLLM
from tests.families import SCALINGS, build_folder, build_gguf

PROMPT = "When Mary and John went to the store, John gave a drink to"
NANO_PROMPT = "In France, the capital is Paris. In Spain, the capital is"


@pytest.fixture(scope="module")
def smol(smollm):
    return run(RunSpec(SMOLLM, prompt=PROMPT))


@pytest.fixture(scope="module")
def nano():
    return run(RunSpec("nano", prompt=NANO_PROMPT))


@pytest.fixture(params=["smol", "nano"])
def trace(request):
    return request.getfixturevalue(request.param)


def as_complex(x, base, neighbours=False):
    """x [seq, head, head_dim] turned: two numbers as one complex number times e^(i·t·ω)."""
    x, half = x.astype(np.float64), x.shape[-1] // 2
    first, second = (x[..., ::2], x[..., 1::2]) if neighbours else (x[..., :half], x[..., half:])
    speeds = np.array([1 / base ** (2 * i / (2 * half)) for i in range(half)])
    turns = np.exp(1j * np.outer(np.arange(len(x)), speeds))
    z = (first + 1j * second) * turns[:, None, :]
    if neighbours:
        return np.stack([z.real, z.imag], axis=-1).reshape(x.shape)
    return np.concatenate([z.real, z.imag], axis=-1)


BASES = {"smol": 100_000.0, "nano": 100.0}  # as their config.json say


@pytest.mark.parametrize("which", BASES)
def test_rotated_queries_and_keys_are_a_product_of_complex_numbers(which, request):
    trace = request.getfixturevalue(which)
    for layer in {0, trace.config.n_layers // 2, trace.config.n_layers - 1}:
        for letter in "qk":
            plain, turned = (trace.read(f"attn.{letter}{end}", layer) for end in ("", "_rot"))
            expected = as_complex(plain, BASES[which])
            assert np.abs(turned - expected).max() < 1e-4
            assert np.abs(turned - expected).max() < 1e-6 * np.abs(plain).max()
            mixed = as_complex(plain, BASES[which], neighbours=True)  # the control
            assert np.abs(turned - mixed).max() > 0.1 * np.abs(plain).max()


@pytest.mark.parametrize("which", BASES)
def test_the_other_pairing_is_that_of_neighbours(which, request):
    trace = request.getfixturevalue(which)
    plain, layer = trace.read("attn.k", 1), 1
    cos, sin = trace.constants("attn.k_rot", layer)
    found = rotation.neighbours(plain, cos[:, None, :], sin[:, None, :])
    np.testing.assert_allclose(found, as_complex(plain, BASES[which], True), atol=1e-5)


def test_neighbours_by_hand():
    # a quarter turn for (1, 2), half a turn for (3, 4); the fifth number is in no pair
    x, cos, sin = np.array([1.0, 2, 3, 4, 5]), np.array([0.0, -1]), np.array([1.0, 0])
    assert rotation.neighbours(x, cos, sin).tolist() == [-2, 1, -3, -4, 5]
    assert x.tolist() == [1, 2, 3, 4, 5]


def test_a_pair_is_what_was_recorded(trace):
    layer, head, position = trace.config.n_layers - 1, trace.config.n_heads - 1, 5
    half, kv_head = trace.config.head_dim // 2, head // trace.config.group
    for role, letter, at in (("query", "q", head), ("key", "k", kv_head)):
        for number in (0, half - 1):
            found = rotation.pair(trace, role, layer, head, position, number)
            assert (found.head, found.dims) == (at, (number, number + half))
            for arrow, end in ((found.before, ""), (found.after, "_rot")):
                row = trace.read(f"attn.{letter}{end}", layer)[position, at]
                assert arrow.numbers == (row[number], row[number + half])
                z = complex(*arrow.numbers)
                assert arrow.length == pytest.approx(abs(z))
                assert math.cos(arrow.angle) == pytest.approx(z.real / abs(z))
            turned = found.after.angle - found.before.angle
            angle = position * rotation.clocks(trace, layer).frequencies[number]
            assert math.cos(turned - angle) == pytest.approx(1, abs=1e-6)
            assert found.after.length == pytest.approx(found.before.length, rel=1e-5)
            mixed = as_complex(
                trace.read(f"attn.{letter}", layer), trace.config.ropes[0].theta, True
            )
            assert found.mixed == pytest.approx(mixed[position, at, list(found.dims)], abs=1e-5)
            row = trace.read(f"attn.{letter}", layer)[position, at]
            for dim, partner in zip(found.dims, found.partners, strict=True):
                beside = dim + 1 if dim % 2 == 0 else dim - 1
                assert (partner.dim, partner.number) == (beside, row[beside])
                assert partner.pair == min(dim, beside) / 2


def test_position_0_is_not_turned(trace):
    found = rotation.pair(trace, "query", 0, 0, 0, 0)
    assert found.before == found.after and found.mixed == found.before.numbers


def test_scores_without_rotation_and_with_neighbours(trace):
    layer, head, position = 1, 2, 6
    config = trace.config
    found = rotation.scores(trace, layer, head, position)
    q = trace.read("attn.q", layer)
    k = trace.read("attn.k", layer)
    scale = config.head_dim**-0.5
    kv_head = head // config.group

    def score(a, b, key):
        return float(a[position, head].astype(float) @ b[key, kv_head].astype(float)) * scale

    mixed = [as_complex(x, config.ropes[0].theta, neighbours=True) for x in (q, k)]
    for key in range(position + 1):
        assert found.plain[key] == pytest.approx(score(q, k, key), abs=1e-5)
        assert found.mixed[key] == pytest.approx(score(*mixed, key), abs=1e-4)
        recorded = trace.read("attn.scores", layer)[head, position, key]
        assert found.recorded[key] == recorded
    assert found.first == 0 and len(found.plain) == position + 1
    # a token and itself are turned alike: neither change touches that score
    for other in (found.plain, found.mixed):
        assert other[-1] == pytest.approx(found.recorded[-1], abs=1e-4)
        assert np.abs(other - found.recorded).max() > 0.1


def test_the_order_of_changes_and_the_best():
    found = rotation.Scores(0, np.array([1.0, 5, 2]), np.array([2.0, 4, 9]), np.array([1.0, 5, 2]))
    assert found.best(found.recorded) == 1 and found.best(found.plain) == 2
    assert found.changed(found.plain) == [2, 0, 1]


def test_clocks_of_smollm2(smol):
    found = rotation.clocks(smol, 3)
    assert len(found.frequencies) == 32 and found.frequencies[0] == 1
    assert found.frequencies[16] == pytest.approx(100_000**-0.5)
    assert found.wavelengths[0] == pytest.approx(2 * math.pi) == found.fastest
    assert found.slowest == pytest.approx(2 * math.pi * 100_000 ** (31 / 32))
    assert found.degrees[0] == pytest.approx(180 / math.pi)
    # at the last of 8,192 positions
    assert found.turns[0] == pytest.approx(8191 / (2 * math.pi))
    assert found.gone_round(0) == 0
    assert [found.gone_round(n) for n in (6, 7)] == [0, 1]  # 2π lies between
    within = sum(2 * math.pi * 100_000 ** (i / 32) <= 8191 for i in range(32))
    assert found.gone_round(8191) == within == 20


def test_turns():
    assert rotation.turns(3 * math.pi) == pytest.approx(1.5)


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """Runs of tiny models of some families, by name."""
    folder, found = tmp_path_factory.mktemp("families"), {}

    def get(family):
        if family not in found:
            path = build_gguf(folder / f"{family}.gguf", family)
            open_model(path)
            found[family] = run(RunSpec(path, ids=tuple(range(3, 15))))
        return found[family]

    return get


@pytest.mark.parametrize("family", ["qwen3", "olmo2", "gemma3"])
def test_where_queries_are_normed_the_normed_ones_are_turned(small, family):
    trace = small(family)
    found = rotation.pair(trace, "query", 0, 1, 4, 1)
    row = trace.read("attn.q_norm", 0)[4, 1]
    assert found.before.numbers == (row[1], row[1 + trace.config.head_dim // 2])
    assert found.after.length == pytest.approx(found.before.length, rel=1e-5)


def test_pairs_of_a_part_of_a_head(small):
    trace = small("gpt_neox")  # half of 8 numbers turn
    assert rotation.pairs(trace, 0) == 2
    assert rotation.pair(trace, "key", 0, 3, 2, 1).dims == (1, 3)
    with pytest.raises(IndexError):
        rotation.pair(trace, "key", 0, 3, 2, 2)


def test_a_window_hides_earlier_keys(small):
    trace = small("gemma2")
    found = rotation.scores(trace, 0, 0, 11)
    assert trace.config.windows[0] == 8 and found.first == 4 and len(found.mixed) == 8
    recorded = trace.read("attn.scores", 0)[0, 11, 4:]
    assert found.recorded.tolist() == recorded.tolist()


@pytest.mark.parametrize("family, layer, turning", [("gpt2", 0, 0), ("smollm3", 3, 3)])
def test_layers_that_turn_nothing(small, family, layer, turning):
    trace = small(family)
    assert rotation.pairs(trace, layer) == 0
    assert rotation.turning_layers(trace.config) == turning
    with pytest.raises(KeyError):
        rotation.pair(trace, "query", layer, 0, 0, 0)
    with pytest.raises(ValueError, match="turns nothing"):
        rotation.clocks(trace, layer)


def test_the_code_of_the_speeds_is_that_of_the_scaling(smol, tmp_path):
    path = build_folder(tmp_path / "scaled", "llama", **SCALINGS["llama3"])
    scaled = run(RunSpec(path, ids=(3, 4, 5)))
    own = "def _llama3("
    assert (
        "def plain(" in rotation.code(smol, 0).source and own not in rotation.code(smol, 0).source
    )
    assert own in rotation.code(scaled, 0).source
    assert rotation.code(scaled, 0).file == "core/model/rope.py"


def test_some_scalings_make_vectors_longer(tmp_path):
    path = build_folder(tmp_path / "yarn", "llama", **SCALINGS["yarn"])
    found = rotation.pair(run(RunSpec(path, ids=(3, 4, 5))), "query", 0, 1, 2, 1)
    longer = 0.1 * math.log(2) + 1
    assert found.after.length == pytest.approx(longer * found.before.length, rel=1e-5)


def test_hands_are_all_pairs_of_a_query_before_the_turn(trace):
    half = trace.config.head_dim // 2
    row = trace.read("attn.q", 1)[4, 3].astype(np.float64)
    found = rotation.hands(trace, 1, 3, 4)
    z = row[:half] + 1j * row[half:]
    assert [arrow.length for arrow in found] == pytest.approx(np.abs(z).tolist())
    assert [arrow.angle for arrow in found] == pytest.approx(np.angle(z).tolist())
