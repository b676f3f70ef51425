"""Values of SmolLM2-135M-Instruct that two other implementations agree on, compared as logits.

The top token alone proves little: without rotation, with another theta or with Q and K left
interleaved the model still says " Paris". The last test shows that these checks would notice.
"""

import dataclasses

import numpy as np
import pytest

from core import RunSpec, generate, run
from core.analyse.lens import lens
from core.model import forward, ops
from core.model.cache import KVCache
from core.model.config import Rope
from tests.conftest import SMOLLM

FRANCE = "The capital of France is"
IDS = [504, 3575, 282, 4649, 314]


@pytest.fixture(scope="module")
def trace(smollm):
    return run(RunSpec(SMOLLM, prompt=FRANCE))


def test_ids(trace):
    assert list(trace.ids) == IDS
    assert trace.tokens == ("The", "␣capital", "␣of", "␣France", "␣is")


@pytest.mark.parametrize(
    ("position", "id", "logit"),
    [(0, 29, 27.3534), (1, 282, 22.0560), (2, 260, 12.9426), (3, 314, 23.7721), (4, 7042, 17.3713)],
)
def test_best_token_of_every_position(trace, position, id, logit):
    row = trace.logits(position)
    assert row.argmax() == id and row[id] == pytest.approx(logit, abs=1e-3)


def test_rows_of(smollm, trace):
    row = trace.logits().astype(np.float64)
    p = np.exp(row - row.max())
    log_sum, p = np.log(p.sum()) + row.max(), p / p.sum()
    assert row[260] == pytest.approx(14.8886, abs=1e-3)
    assert row[smollm.tokenizer.encode(" London")[0]] == pytest.approx(13.2450, abs=1e-3)
    assert (row.mean(), row.std()) == pytest.approx((-1.8583, 3.5693), abs=1e-4)
    assert (row.min(), log_sum) == pytest.approx((-19.7931, 17.6293), abs=1e-3)
    assert -(p * np.log(p)).sum() == pytest.approx(1.4812, abs=1e-3)


def test_first_row_is_the_run_of_one_token(trace):
    alone = run(RunSpec(SMOLLM, ids=[504]))
    np.testing.assert_allclose(alone.logits(), trace.logits(0), rtol=0, atol=1e-3)


def test_start_marker_alone(smollm):
    row = run(RunSpec(SMOLLM, ids=[1])).logits()
    assert row.argmax() == 29 and row[29] == pytest.approx(23.3721, abs=1e-3)


@pytest.mark.parametrize(("extra", "paris"), [(1, 15.4140), (2, 15.7260)])
def test_start_markers_before_the_prompt_move_the_answer(smollm, extra, paris):
    row = run(RunSpec(SMOLLM, ids=[1] * extra + IDS)).logits()
    assert row[7042] == pytest.approx(paris, abs=1e-3)


def test_the_stream_after_twenty_blocks_has_a_spike_at_the_first_token(trace):
    norms = np.linalg.norm(trace.read("resid_post", 19), axis=-1)
    np.testing.assert_allclose(norms, [22621, 208, 206, 241, 191], atol=0.6)


def test_attention_sink(trace):
    first = np.stack([w[:, -1, 0] for w in trace.each_layer("attn.weights")])
    assert (first > 0.5).sum() == 198
    assert first.mean() == pytest.approx(0.6726, abs=1e-4)
    row = trace.read("attn.weights", 15)[4, -1]
    np.testing.assert_allclose(row, [0.78509, 0.03566, 0.06531, 0.04581, 0.06813], atol=1e-5)
    assert trace.read("attn.weights", 23)[4, -1, 3] == pytest.approx(0.903, abs=6e-4)


def test_greedy_text(smollm):
    events = list(generate(RunSpec(SMOLLM, prompt=FRANCE, max_new_tokens=16)))
    right = [7042, 30, 198, 198, 504, 2988, 314, 42, 216, 34, 32, 33, 40, 29, 32, 33]
    assert [event.id for event in events] == right


def test_chat_ends_at_its_end_token(smollm):
    question = [("user", "What is the capital of France?")]
    events = list(generate(RunSpec(SMOLLM, messages=question)))
    assert [event.id for event in events] == [504, 3575, 282, 4649, 314, 7042, 30, 2]
    assert "".join(event.text for event in events) == "The capital of France is Paris."
    assert (events[-1].stop, events[-1].stop_id) == ("end", 2)


def test_lens_uses_each_layers_own_norm(smollm, trace):
    stream, w = trace.stream[29, -1:], smollm.weights
    own = ops.linear(ops.rms_norm(stream, w.final_norm, 1e-5), w.head)[0]
    ids = [smollm.tokenizer.encode(word)[0] for word in (" capital", " the", " Paris")]
    np.testing.assert_allclose(own[ids], [9.5788, 9.5601, 8.5365], atol=1e-3)
    seen = lens(trace, 7042)
    assert seen.probs[28] == pytest.approx(ops.softmax(own)[7042], rel=1e-4)
    assert seen.ranks[28] == 1 + (own > own[7042]).sum()


def rows_of(smollm, layers=None, **changed):
    """Logits of all positions with something about the model made wrong."""
    config = dataclasses.replace(smollm.config, **changed)
    weights = dataclasses.replace(smollm.weights, layers=layers or smollm.weights.layers)
    cache = KVCache(30, 5, 3, 64)
    x = forward.forward(np.array(IDS), weights, config, cache, forward.no_tap)
    return forward.unembed(x, weights, config, forward.no_tap)


def permuted(w):
    """Rows of Q and K as the file has them: inside a head 0, 32, 1, 33, ..."""
    order = np.arange(64).reshape(2, 32).T.reshape(-1)

    def rows(matrix):
        return matrix.reshape(-1, 64, 576)[:, order].reshape(matrix.shape)

    return dataclasses.replace(w, attn_q=rows(w.attn_q), attn_k=rows(w.attn_k))


def test_wrong_models_that_still_say_paris_are_noticed(smollm, trace):
    layers = tuple(map(permuted, smollm.weights.layers))
    for difference, wrong in [
        (6.0101, rows_of(smollm, layers=layers)),
        (0.7873, rows_of(smollm, ropes=(Rope(64, 10_000.0),) * 30)),
        (0.4857, rows_of(smollm, ropes=(Rope(64, 500_000.0),) * 30)),
        (0.0129, rows_of(smollm, norm_eps=1e-6)),
        (1.1911, rows_of(smollm, norm_eps=1e-3)),
    ]:
        assert wrong[-1].argmax() == 7042
        assert np.abs(wrong[-1] - trace.logits()).max() == pytest.approx(difference, abs=1e-3)
    assert rows_of(smollm, layers=layers)[-1, 7042] == pytest.approx(18.280, abs=1e-3)
