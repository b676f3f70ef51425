"""Where a run stops being finite numbers: weights with a NaN or with numbers that overflow."""

import numpy as np
import pytest

from core import RunSpec, run
from core.analyse.finite import check_stream
from core.analyse.output import guess
from core.analyse.overview import overview
from core.errors import TokenwalkError
from tests import tiny

IDS = (258, 273, 34, 264)


def run_with(tmp_path, tensor, at, value):
    """A run of the tiny model with one other number in one of its tensors."""
    arrays = tiny.arrays()
    arrays["output.weight"] = arrays["token_embd.weight"].copy()
    arrays[tensor][at] = value
    return run(RunSpec(tiny.build(tmp_path / "odd.gguf", tensors=arrays), ids=IDS))


IN_STREAM = [  # tensor, where, value, the first op that is not finite
    ("token_embd.weight", (273, 3), np.nan, "embed", None),
    ("blk.0.attn_q.weight", (0, 0), np.nan, "attn.q", 0),
    ("blk.1.attn_q.weight", (9, 5), -np.inf, "attn.q", 1),
    ("blk.1.attn_norm.weight", 2, np.nan, "attn_norm", 1),
    ("blk.1.ffn_up.weight", (47, 31), np.nan, "mlp.up", 1),
    ("blk.0.ffn_down.weight", (0, 0), np.inf, "mlp.out", 0),
    ("blk.1.ffn_down.weight", slice(None), 3e38, "mlp.out", 1),
]
BEHIND = [
    ("output_norm.weight", 7, np.nan, "final_norm", None),
    ("output.weight", (5, 1), np.nan, "logits", None),
]


def said(call):
    with np.errstate(all="ignore"), pytest.raises(TokenwalkError) as caught:
        call()
    return caught.value


@pytest.mark.parametrize("tensor, at, value, op, layer", IN_STREAM)
@np.errstate(all="ignore")
def test_the_first_op_is_named(tmp_path, tensor, at, value, op, layer):
    trace = run_with(tmp_path, tensor, at, value)
    for call in (check_stream, guess, overview):
        error = said(lambda: call(trace))  # noqa: B023
        assert error.code == ("nonfinite" if layer is not None else "nonfinite_outside")
        assert (error.params["op"], error.params.get("layer")) == (op, layer)


@pytest.mark.parametrize("tensor, at, value, op, layer", BEHIND)
@np.errstate(all="ignore")
def test_what_goes_wrong_behind_the_blocks_leaves_them_to_be_shown(
    tmp_path, tensor, at, value, op, layer
):
    trace = run_with(tmp_path, tensor, at, value)
    check_stream(trace)
    for position in (0, -1):
        error = said(lambda: guess(trace, position))  # noqa: B023
        assert (error.code, error.params) == ("nonfinite_outside", {"op": op})
    assert str(error) == f"The scores stopped being finite numbers, first in {op}."


def test_a_run_of_finite_numbers_passes(tiny_name):
    check_stream(run(RunSpec(tiny_name, ids=IDS)))


def test_capped_scores_are_named_by_the_logits_before_the_cap(trace_of, monkeypatch):
    trace = trace_of("gemma2")
    wrong = np.full(trace.config.vocab, np.nan, np.float32)
    real = trace.output
    monkeypatch.setattr(type(trace), "output", lambda self, op, n=-1: wrong)
    assert said(lambda: guess(trace)).params == {"op": "logits"}
    only_last = lambda self, op, n=-1: wrong if op == "logits_capped" else real(op, n)  # noqa: E731
    monkeypatch.setattr(type(trace), "output", only_last)
    assert said(lambda: guess(trace)).params == {"op": "logits_capped"}
