"""One row that is turned: its pairs, how far each stands round, and its length."""

import numpy as np
import pytest

from core.analyse.turned import FEW, turned
from core.analyse.view import step_view
from core.model import rope

POSITION, HEAD = 11, 3


def row(trace, op="attn.q_rot", layer=0, position=POSITION, dim=None):
    return turned(trace, step_view(trace, op, layer, HEAD, position, dim, together=False))


@pytest.mark.parametrize("op", ["attn.q_rot", "attn.k_rot"])
@pytest.mark.parametrize("case", ["llama", "gemma3", "gpt_neox", "phi3", "llama yarn"])
def test_the_row_after_is_the_row_before_turned_by_the_parts(case, op, trace_of):
    made = row(trace_of(case), op)
    before, after = (p.values[0].astype(np.float64) for p in (made.before, made.after))
    n, parts = made.n_turning // 2, made.parts.values[0]
    angles = 2 * np.pi * parts[:n].astype(np.float64)
    z = (before[:n] + 1j * before[n : 2 * n]) * np.exp(1j * angles) * made.amplitude
    assert np.allclose(after[:n], z.real, atol=2e-5) and np.allclose(
        after[n : 2 * n], z.imag, atol=2e-5
    )
    assert (parts[:n] == parts[n : 2 * n]).all() and (parts[: 2 * n] >= 0).all()
    assert np.isnan(parts[2 * n :]).all() and (after[2 * n :] == before[2 * n :]).all()
    assert made.before.limit == made.after.limit == np.abs([before, after]).max()
    assert made.agreement.equal and made.lengths[0] == pytest.approx(
        np.linalg.norm(before[: 2 * n])
    )
    assert (made.lengths[1] > 1.01 * made.lengths[0]) == (case == "llama yarn")


def test_the_partner_is_half_the_turned_numbers_away(trace_of):
    for case, dim, partner in (("llama", 1, 5), ("llama", 5, 1), ("gpt_neox", 3, 1)):
        made = row(trace_of(case), dim=dim)
        assert made.before.boxes == made.after.boxes == ((0, partner, 1, partner + 1),)
        assert made.dims == tuple(sorted((dim, partner)))
    behind = row(trace_of("gpt_neox"), dim=6)
    assert behind.dims is None and behind.before.boxes == ()


def test_the_listed_pairs_by_hand(trace_of):
    made = row(trace_of("llama"), dim=6)  # 8 numbers, theta 10,000: speeds 1, .1, .01, .001
    assert [hand.pair for hand in made.hands] == [0, 1, 2, 3]
    assert [hand.dims for hand in made.hands] == [(0, 4), (1, 5), (2, 6), (3, 7)]
    assert [hand.angle for hand in made.hands] == pytest.approx([11, 1.1, 0.11, 0.011])
    assert made.hands[0].part == pytest.approx(11 / (2 * np.pi) - 1)
    assert made.hands[1].wavelength == pytest.approx(62.8318530718)


def test_a_long_list_is_cut_and_keeps_both_ends_and_the_chosen_pair(trace_of):
    made = row(trace_of("qwen3"), dim=15)  # 8 pairs
    pairs = [hand.pair for hand in made.hands]
    assert pairs == sorted(pairs) and {0, 7} <= set(pairs) and len(pairs) <= FEW + 1
    for dim in range(8):
        assert dim in [hand.pair for hand in row(trace_of("qwen3"), dim=dim).hands]


def test_at_position_0_nothing_turns(trace_of):
    made = row(trace_of("llama"), position=0)
    assert (made.parts.values == 0).all()
    assert np.array_equal(made.before.values, made.after.values)
    assert made.lengths[0] == made.lengths[1]


def test_a_length_that_is_not_the_expected_one_is_found(trace_of, monkeypatch):
    monkeypatch.setattr(rope, "amplitude", lambda how: 1.001)
    assert not row(trace_of("llama")).agreement.equal
