"""What a run says to common beliefs: by hand, from the weights once more, and in every family."""

import copy
from types import SimpleNamespace

import numpy as np
import pytest

from core import RunSpec, open_model, run
from core.analyse import distance, misreadings
from core.errors import TokenwalkError
from tests.core.conftest import EACH_FAMILY
from tests.core.test_finite import run_with

PROMPT = "The capital of France is"


@pytest.fixture(scope="module")
def nano():
    return run(RunSpec("nano", prompt=PROMPT))


def test_every_row_guesses_its_own_next_token(nano):
    """Norm, product and softmax once more in float64, for all rows at once."""
    weights, eps = nano.model.weights, nano.config.norm_eps
    x = nano.stream[-1].astype(np.float64)
    normed = weights.final_norm * x / np.sqrt(np.square(x).mean(-1, keepdims=True) + eps)
    scores = normed @ weights.get("head").T
    shares = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
    rows = misreadings.guesses(nano)
    assert [row.position for row in rows] == [0, 1, 2, 3, 4, 5]
    for row, each, after in zip(rows, shares, (*nano.ids[1:], None), strict=True):
        assert row.best == each.argmax() and row.prob == pytest.approx(each.max(), abs=1e-5)
        assert row.next == after
        rank = None if after is None else sorted(each, reverse=True).index(each[after]) + 1
        assert row.rank == rank
    assert {row.rank for row in rows} >= {1, None} and max(row.rank or 0 for row in rows) > 1


def test_of_a_long_text_only_the_last_rows_are_listed():
    trace = run(RunSpec("nano", ids=tuple(range(3, 33))))
    rows = misreadings.guesses(trace)
    assert [row.position for row in rows] == list(range(30 - misreadings.ROWS, 30))
    assert [row.next for row in rows] == [*trace.ids[-misreadings.ROWS + 1 :], None]
    assert [row.next for row in misreadings.guesses(run(RunSpec("nano", ids=(3,))))] == [None]


def test_scores_that_are_not_finite_are_no_guess(tmp_path):
    trace = run_with(tmp_path, "output.weight", (5, 1), np.nan)
    with pytest.raises(TokenwalkError) as caught:
        misreadings.guesses(trace)
    assert caught.value.params["op"] == "logits"


@EACH_FAMILY
def test_attention_is_added_to_the_stream_and_to_no_copy(case, trace_of):
    """x′ − (n + a) = x − n; and a row that is normed has a spread of 1."""
    trace, layer, at = trace_of(case), 1, 40
    block = trace.catalogue.blocks[layer]
    x, made = (trace.read(op, layer)[at].astype(float) for op in ("resid_pre", "resid_mid"))
    found = misreadings.sums(trace, layer, at)
    ways = {way.name: way for way in found.ways}
    assert ways["stream"].difference == 0 and ways["stream"].rms == found.rms
    assert found.rms == pytest.approx(np.sqrt((made**2).mean()))
    assert ("copy" in ways) == ("attn_norm" in block) == (case != "olmo2")
    if "copy" in ways:
        apart = np.abs(x - trace.read("attn_norm", layer)[at]).max()
        assert ways["copy"].difference == pytest.approx(apart, rel=1e-5)
    centred = made - made.mean() * (trace.config.norm == "layer")
    normed = centred / np.sqrt((centred**2).mean() + trace.config.norm_eps)
    assert ways["normed"].difference == pytest.approx(np.abs(normed - made).max(), rel=1e-4)
    assert ways["normed"].rms == pytest.approx(1, abs=1e-3)


@EACH_FAMILY
def test_keys_as_they_are_compared_and_values_are_kept(case, trace_of):
    trace, layer = trace_of(case), len(trace_of(case).config.ropes) - 1
    c, n = trace.config, len(trace.ids)
    found = misreadings.cached(trace, layer)
    assert found.keys == {"gpt2": "attn.k", "smollm3": "attn.k"}.get(case, "attn.k_rot")
    assert found.shape == (c.n_layers, n, c.n_kv_heads, c.head_dim)
    assert found.n_same == found.n == 2 * n * c.n_kv_heads * c.head_dim
    assert found.nbytes == 8 * np.prod(found.shape)
    queries = [trace.read("attn.q", layer).nbytes for layer in range(c.n_layers)]
    assert found.query_bytes == sum(queries)


def test_a_number_that_was_kept_wrong_is_counted(nano):
    other = copy.copy(nano)
    other.cache = nano.cache.copy(3)  # with room for three tokens, which nothing fills
    other.cache.values[1, 2, 0, 5] += 1
    first, second = (misreadings.cached(other, layer) for layer in (0, 1))
    assert (first.n - first.n_same, second.n - second.n_same) == (0, 1)
    assert second.shape == misreadings.cached(nano, 1).shape


@EACH_FAMILY
def test_only_learned_positions_are_in_the_stream_at_the_start(case, trace_of):
    trace = trace_of(case)
    found = misreadings.entering(trace, 50)
    assert (found.n_same < 4) if case == "gpt2" else (found.n_same == trace.config.width)
    assert found.n_turning == {"gpt2": 0, "smollm3": 3}.get(case, trace.config.n_layers)


def test_the_score_over_the_distance_is_that_of_the_pass(nano):
    """Every head is turned and multiplied once more at every distance, by the pass's functions."""
    layer, head, query, key = 1, 2, 5, 3
    curves = [
        [distance.meeting(nano, layer, h, query, key).score(20, 20 - d) for d in range(13)]
        for h in range(nano.config.n_heads)
    ]
    found = misreadings.nearer(nano, layer, head, query, key)
    falling = [all(np.diff(curve[1:]) < 0) for curve in curves]
    assert found.n_falling == sum(falling) and (found.rise is None) == falling[head]
    assert found.best == np.argmax(curves[head])
    assert found.best_score == pytest.approx(max(curves[head]), abs=1e-4)
    usual = distance.key_to_try(nano, layer, head, 4)
    assert found.key == 3 and misreadings.nearer(nano, layer, head, 4).key == usual
    assert misreadings.nearer(nano, layer, head, 4, key=5).key == usual  # one it never meets


def test_falling_heads_are_counted_in_the_layer_alone(smollm):
    trace = run(RunSpec(str(smollm.source.path), prompt=PROMPT))
    falling = distance.falling_heads(trace, 4, 3)
    for layer in (0, 23):
        wanted = sum(falling[layer, head] for head in range(9))
        assert misreadings.nearer(trace, layer, 4, 4, 3).n_falling == wanted


def test_what_arrives_is_weight_times_length_by_hand():
    """Two heads read each KV head. Values of the second one: lengths 5, 13, 1, 10."""
    weights = np.zeros((4, 4, 4), np.float32)
    weights[3, 2] = 0.25, 0.125, 0.625, 0
    values = np.zeros((4, 2, 2), np.float32)
    values[:, 1] = (3, 4), (-5, 12), (1, 0), (6, 8)
    read = {"attn.weights": weights, "attn.v": values}
    trace = SimpleNamespace(config=SimpleNamespace(group=2), read=lambda op, _: read[op])
    rows = misreadings.looked(trace, 1, 3, 2, 3)
    total = 1.25 + 1.625 + 0.625
    assert [(row.key, row.weight, row.length) for row in rows] == [
        (2, 0.625, 1), (0, 0.25, 5), (1, 0.125, 13), (3, 0, 10)
    ]  # fmt: skip
    shares = [0.625 / total, 1.25 / total, 1.625 / total, 0]
    assert [row.share for row in rows] == pytest.approx(shares)
    assert [row.key for row in misreadings.looked(trace, 1, 3, 0, 0)] == [0]  # it sees no other
    values[:] = 0
    assert {row.share for row in misreadings.looked(trace, 1, 3, 2, 3)} == {
        0
    }  # of nothing, nothing


def test_the_largest_weights_come_first_and_the_chosen_key_is_never_left_out():
    trace = run(RunSpec("nano", ids=tuple(range(3, 33))))
    weights = trace.read("attn.weights", 0)[1, 20]
    order = np.argsort(-weights, kind="stable")
    chosen = int(order[-1])
    rows = misreadings.looked(trace, 0, 1, 20, chosen)
    assert [row.key for row in rows] == [*order[: misreadings.KEYS], chosen]
    again = misreadings.looked(trace, 0, 1, 20, int(order[1]))
    assert [row.key for row in again] == list(order[: misreadings.KEYS])


def test_a_model_is_known_by_where_it_adds_and_norms(name_of):
    wanted = {"llama": set(), "gpt2": {"learned"}, "gemma": {"stretched"}, "olmo2": {"behind"}}
    wanted |= {"gemma2": {"stretched", "both"}, "gpt_neox": set()}
    for family, tags in wanted.items():
        assert misreadings.tags(open_model(name_of(family)).config) == tags, family
