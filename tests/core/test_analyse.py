"""Lens and heads: views of a trace that must agree with the trace."""

import numpy as np
import pytest

from core import RunSpec, run
from core.analyse.heads import attention, n_sinks, reduce_max, sharpest, sink_share
from core.analyse.lens import lens
from tests.conftest import SMOLLM
from tests.core.conftest import EACH_FAMILY

IDS = (258, 273, 34, 264, 51, 52, 297, 298, 277, 40)


@pytest.mark.parametrize("position", [-1, 0, 4])
@pytest.mark.parametrize("token", [0, 45, 298])
def test_the_last_layer_of_the_lens_is_the_models_own_answer(tiny_name, token, position):
    trace = run(RunSpec(tiny_name, ids=IDS))
    seen, row = lens(trace, token, position), trace.logits(position)
    assert len(seen.ranks) == len(seen.probs) == 2
    assert seen.ranks[-1] == 1 + sum(float(row[token]) < float(other) for other in row)
    assert seen.probs[-1] == pytest.approx(trace.probs(position)[token], rel=1e-4)


@EACH_FAMILY
def test_the_lens_ends_in_the_models_own_answer_in_every_family(case, trace_of):
    trace = trace_of(case)
    for token in (0, 45):
        seen = lens(trace, token, position=30)
        assert len(seen.ranks) == trace.config.n_layers
        assert seen.ranks[-1] == 1 + (trace.logits(30) > trace.logits(30)[token]).sum()
        assert seen.probs[-1] == pytest.approx(trace.probs(30)[token], rel=1e-4)


def test_an_answer_appears_in_the_lens(smollm):
    prompt = "The Eiffel Tower is located in the city of"
    seen = lens(run(RunSpec(SMOLLM, prompt=prompt)), 7042)
    assert seen.ranks[23:30].tolist() == [189, 39, 17, 3, 1, 1, 1]
    np.testing.assert_allclose(seen.probs[26:30], [0.104, 0.462, 0.482, 0.702], atol=6e-4)


def test_maps_of_all_heads(tiny_name):
    trace = run(RunSpec(tiny_name, ids=IDS))
    seen = attention(trace)
    for layer in (0, 1):
        np.testing.assert_array_equal(seen.maps[layer], trace.read("attn.weights", layer))
        np.testing.assert_array_equal(seen.last[layer], trace.read("attn.weights", layer)[:, -1])
    assert seen.block == 1 and not seen.maps.flags.writeable
    assert attention(trace) is seen


def test_long_maps_are_reduced_by_the_maximum(tiny_name):
    trace = run(RunSpec(tiny_name, ids=IDS))
    seen = attention(trace, largest=4)
    assert seen.block == 3 and seen.maps.shape == (2, 4, 4, 4) and seen.last.shape == (2, 4, 10)
    whole = trace.read("attn.weights", 1)[2]
    assert seen.maps[1, 2, 1, 0] == whole[3:6, 0:3].max()
    assert seen.maps[1, 2, 3, 3] == whole[9:, 9:].max()


@pytest.mark.parametrize("largest", [70, 35, 24, 10])
def test_a_window_counted_in_cells_of_a_map(trace_of, largest):
    trace = trace_of("gemma2")  # layer 0 sees 8 tokens, layer 1 all
    seen = attention(trace, largest)
    assert (seen.windows[0], seen.windows[1]) == ({70: 8, 35: 5, 24: 4, 10: 2}[largest], None)
    visible = np.isfinite(trace.read("attn.masked", 0)).astype(np.float32)
    ago = np.subtract.outer(*[np.arange(seen.maps.shape[-1])] * 2)
    expected = (ago >= 0) & (ago < seen.windows[0])
    np.testing.assert_array_equal(reduce_max(visible, largest)[0] > 0, expected)


def test_reduce_max_by_hand():
    maps = np.array([[[1, 0, 0], [0.3, 0.7, 0], [0.2, 0.5, 0.3]]], np.float32)
    np.testing.assert_array_equal(reduce_max(maps, 2), np.float32([[[1, 0], [0.5, 0.3]]]))
    assert reduce_max(maps, 3) is maps


def test_the_sharpest_head_leaves_out_the_first_token_and_itself():
    last = np.zeros((2, 2, 4), np.float32)
    last[0, 0, 0], last[1, 1, 3], last[1, 0, 2], last[0, 1, 1] = 0.9, 0.9, 0.6, 0.5
    assert sharpest(last) == (1, 0, 2)
    assert sharpest(last[:, :, :2]) == (0, 0, 0)
    assert n_sinks(last) == 1 and sink_share(last) == pytest.approx(0.9 / 4)


def test_the_head_that_looks_at_france(smollm):
    seen = attention(run(RunSpec(SMOLLM, prompt="The capital of France is")))
    assert seen.maps.shape == (30, 9, 5, 5)
    assert n_sinks(seen.last) == 198 and sink_share(seen.last) == pytest.approx(0.6726, abs=1e-4)
    assert seen.last[23, 4, 3] == pytest.approx(0.903, abs=6e-4)
