"""The logit lens on several positions: its last row is the run's own output, its other rows are
those that a second, plain computation gives.
"""

from dataclasses import replace

import numpy as np
import pytest

from core import RunSpec, run
from core.analyse import attribution, lens, promoted
from core.errors import TokenwalkError
from core.model.tap import Edit
from tests import tiny as tiny_file
from tests.conftest import SMOLLM
from tests.core.conftest import EACH_FAMILY

IDS = (258, 273, 34, 264, 51, 52, 297, 298, 277, 40)
EACH_KIND = pytest.mark.parametrize("kind", lens.KINDS)


def test_points_by_hand(tiny):
    assert tiny.config.n_layers == 2
    assert lens.points_of(tiny.config, "block") == (0, 2, 4)
    assert lens.points_of(tiny.config, "attention") == (1, 3, 4)
    assert lens.points_of(tiny.config, "both") == (0, 1, 2, 3, 4)


def test_a_point_that_is_not_read_is_shown_by_the_row_before():
    assert [lens.row_of((0, 2, 4), point) for point in (None, 0, 1, 2, 3, 4, 9)] == [
        2, 0, 0, 1, 1, 2, 2,
    ]  # fmt: skip
    assert lens.row_of((1, 3, 4), 0) == 0


def test_windows_follow_each_other_and_the_last_ends_with_the_text():
    assert lens.span(9, 10, 6) == lens.span(4, 10, 6) == (4, 10)
    assert lens.span(3, 10, 6) == lens.span(0, 10, 6) == (0, 4)
    assert lens.span(0, 1, 6) == (0, 1) and lens.span(2, 6, 6) == (0, 6)
    for n in range(1, 30):
        spans = [lens.span(position, n, 6) for position in range(n)]
        assert all(a <= position < b for position, (a, b) in enumerate(spans))
        assert sum(b - a for a, b in set(spans)) == n


@pytest.mark.parametrize(
    "ranks, since",
    [([1, 1], 0), ([3, 1, 1], 1), ([1, 2, 1], 2), ([1, 1, 2], None), ([1], 0), ([5], None)],
)
def test_since_when_a_token_is_first_by_hand(ranks, since):
    assert lens.first_since(ranks) == since


def test_entropy_and_divergence_by_hand():
    halves, quarters = np.log([[0.5, 0.5]]), np.log([[0.25, 0.75]])
    log_p, p, *_ = lens.distribution(halves + 7)
    log_q, q, *_ = lens.distribution(quarters - 300)
    np.testing.assert_allclose(p, [[0.5, 0.5]])
    assert lens.entropy(log_p, p) == pytest.approx([np.log(2)])
    by_hand = 0.5 * np.log(0.5 / 0.25) + 0.5 * np.log(0.5 / 0.75)
    assert lens.divergence(log_p, p, log_q) == pytest.approx([by_hand])
    assert lens.divergence(log_q, q, log_p) != pytest.approx([by_hand])
    assert lens.divergence(log_p, p, log_p) == [0]


@EACH_KIND
@EACH_FAMILY
def test_the_last_row_is_the_output_and_the_others_agree_with_a_plain_one(case, kind, trace_of):
    trace = trace_of(case)
    found, n = lens.window(trace, kind, 30), trace.config.n_layers
    column = 30 - found.first
    for each in range(found.top.shape[1]):
        logits, probs = trace.logits(found.first + each), trace.probs(found.first + each)
        assert found.logits[-1, each].tobytes() == logits.tobytes()
        assert found.probs[-1, each] == probs.max() and found.probs_of(7)[-1, each] == probs[7]
    assert found.answer_probs[-1].tobytes() == found.probs[-1].tobytes()
    for each, token in enumerate(found.top[-1]):
        of_it = found.probs_of(int(token))[:, each]
        np.testing.assert_array_equal(found.answer_probs[:, each], of_it)
        assert found.again[each] == pytest.approx(found.logits[-1, each, token], rel=1e-5)
    assert len(found.checks) == found.top.shape[1] and all(each.equal for each in found.checks)
    assert int(found.top[-1, column]) == int(trace.logits(30).argmax())
    assert (found.divergence[-1] == 0).all() and found.decided[-1].all()
    probs = trace.probs(30).astype(np.float64)
    assert found.entropy[-1, column] == pytest.approx(-(probs * np.log(probs)).sum(), rel=1e-4)
    if kind != "attention":
        plain = lens.lens(trace, 7, 30)
        rows = [found.points.index(2 * layer + 2) for layer in range(n)]
        np.testing.assert_array_equal(found.ranks_of(7)[rows, column], plain.ranks)
        np.testing.assert_allclose(found.probs_of(7)[rows, column], plain.probs, rtol=1e-4)


@EACH_FAMILY
def test_the_stream_after_attention_is_the_recorded_one(case, trace_of):
    trace = trace_of(case)
    again = lens.after_attention(trace, 20, 33)
    for layer in range(trace.config.n_layers):
        recorded = trace.read("resid_mid", layer)[20:33]
        np.testing.assert_allclose(again[layer], recorded, rtol=2e-5, atol=2e-5)


def test_it_is_that_of_an_edited_run_too(tiny_name):
    edits = (Edit("attn.mix", layer=1, head=0), Edit("resid_mid", layer=0, kind="scale", value=2))
    trace = run(RunSpec(tiny_name, ids=IDS, edits=edits))
    for layer in (0, 1):
        recorded = trace.read("resid_mid", layer)[3:7]
        again = lens.after_attention(trace, 3, 7)[layer]
        np.testing.assert_allclose(again, recorded, rtol=2e-5, atol=2e-5)


def test_the_norm_is_that_of_each_row(tiny_name):
    """By the formula alone: x / sqrt(mean(x^2) + eps), times the weight, times the matrix."""
    trace = run(RunSpec(tiny_name, ids=IDS))
    found, w, c = lens.window(trace, "both", 9), trace.model.weights, trace.config
    for point in found.points:
        rows = trace.read("resid_mid", point // 2) if point % 2 else trace.stream[point // 2]
        x = rows[found.first :].astype(np.float64)
        h = x / np.sqrt((x**2).mean(axis=1, keepdims=True) + c.norm_eps) * w.final_norm
        expected = h @ w.head.T.astype(np.float64)
        row = found.points.index(point)
        np.testing.assert_allclose(found.logits[row], expected, rtol=1e-4, atol=1e-4)


def test_a_last_row_that_differs_is_found(tiny_name):
    recorded = run(RunSpec(tiny_name, ids=IDS)).logits(5)
    wrong = recorded.copy()
    wrong[3] += 1e-3
    assert lens.agreement(recorded, recorded).equal
    assert not lens.agreement(wrong, recorded).equal


@np.errstate(all="ignore")
def test_scores_that_are_no_numbers_are_refused_with_the_op(tmp_path):
    arrays = tiny_file.arrays()
    arrays["output_norm.weight"][7] = np.nan
    trace = run(RunSpec(str(tiny_file.build(tmp_path / "odd.gguf", tensors=arrays)), ids=IDS))
    for call in (
        lambda: lens.window(trace, "block", 3),
        lambda: attribution.attribution(trace, 5, None, 3),
        lambda: promoted.neurons(trace, 5, None, 3),
    ):
        with pytest.raises(TokenwalkError) as caught:
            call()
        assert caught.value.params == {"op": "final_norm"}


def test_a_window_is_bounded_kept_and_read_only(tiny_name, smollm):
    trace = run(RunSpec(tiny_name, ids=IDS))
    found = lens.window(trace, "block", 2)
    assert lens.window(trace, "block", 9) is found and not found.logits.flags.writeable
    for kind in lens.KINDS:
        size = 4 * smollm.config.vocab * len(lens.points_of(smollm.config, kind))
        assert 0 < size * lens.n_columns(smollm.config, kind) <= lens.LARGEST
    huge = replace(smollm.config, vocab=2_000_000)
    assert lens.n_columns(huge, "both") == 1


def test_the_first_tokens_of_a_cell_are_in_order(tiny_name):
    trace = run(RunSpec(tiny_name, ids=IDS))
    found = lens.window(trace, "block", 9)
    ids, probs = zip(*found.first_tokens(2, 9 - found.first, 20), strict=True)
    expected = np.argsort(-trace.probs(9), kind="stable")[:20]
    assert list(ids) == expected.tolist() and list(probs) == trace.probs(9)[expected].tolist()


def test_paris_appears_late(smollm):
    trace = run(RunSpec(SMOLLM, prompt="The Eiffel Tower is located in the city of"))
    found = lens.window(trace, "block", 9)
    ranks = found.ranks_of(7042)[:, 9 - found.first]
    assert lens.first_since(ranks) == found.points.index(2 * 27 + 2)
    assert found.n_early() < found.top.shape[1]
    other = found.surest_other(9 - found.first)
    shown = found.probs[:, 9 - found.first]
    assert other is not None and not found.decided[other, 9 - found.first]
    assert shown[other] == max(p for p, rank in zip(shown, ranks, strict=True) if rank > 1)
