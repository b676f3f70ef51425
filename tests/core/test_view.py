"""Panels hold what the trace holds: each shown number is the recorded one, where it says it is."""

import numpy as np
import pytest

from core import RunSpec, run
from core.analyse.explain import explain
from core.analyse.panel import largest_of_blocks, magnitude, rows_around, window
from core.analyse.view import embedding_panel, final_view, step_view
from core.model.axes import VOCAB_OPS
from tests.core.conftest import EACH_CASE, places
from tests.llama_ops import BLOCK_IDS

PROMPT = "one two three four five six"


@pytest.fixture(scope="module")
def trace(tiny_name):
    return run(RunSpec(tiny_name, prompt=PROMPT))


@pytest.mark.parametrize("op", BLOCK_IDS)
@pytest.mark.parametrize("position", [0, 3, -1])
def test_the_chosen_cell_of_the_output_is_the_number_that_is_explained(trace, op, position):
    position %= len(trace.ids)
    view = step_view(trace, op, 1, 3, position, None)
    row, column = view.output.selected
    shown = view.output.values[row, column]
    recorded = explain(trace, op, 1, view.index).recorded
    assert shown == recorded or (np.isnan(shown) and recorded == 0)
    assert view.output.first_row + row == position


@pytest.mark.parametrize("op", BLOCK_IDS)
def test_a_chosen_column_is_kept_and_one_outside_is_replaced(trace, op):
    size = trace.read(op, 0).shape[-1]
    assert step_view(trace, op, 0, 0, 2, size - 1).index[-1] == size - 1
    assert 0 <= step_view(trace, op, 0, 0, 2, size).index[-1] < size


@pytest.mark.parametrize("op", "attn.q attn.scores attn.out mlp.gate mlp.up mlp.out".split())
def test_the_strips_multiply_to_the_explained_terms(trace, op):
    view = step_view(trace, op, 1, 2, 4, None)
    first, second = (view.inputs + view.weights)[:2]
    terms = explain(trace, op, 1, view.index)
    assert np.allclose(first.values[0] * second.values[0], terms.values, rtol=1e-6, atol=0)
    assert first.selected == second.selected == (0, terms.top(1)[0].number)


@EACH_CASE
def test_every_op_of_every_family_has_a_view(case, trace_of):
    """Its chosen cell is the number that is explained, and every panel has one place chosen."""
    trace = trace_of(case)
    for op, layer in places(trace):
        if op in VOCAB_OPS:
            continue
        for position in (0, 9, 69):
            view = step_view(trace, op, layer, 3, position)
            recorded = explain(trace, op, layer, view.index).recorded
            shown = view.output.values[view.output.selected]
            assert shown == recorded or (np.isnan(shown) and recorded == 0), (op, layer)
            for panel in (view.output, *view.inputs, *view.weights):
                row, column = panel.selected or (0, 0)
                assert row < panel.values.shape[0] and column < panel.values.shape[1]
                assert panel.selected or panel.part == "constant", (op, panel.name)


def parts(view):
    return [(panel.part, panel.name) for panel in view.inputs + view.weights]


@pytest.mark.parametrize(
    ("case", "op", "layer", "names"),
    [
        ("gpt2", "attn_norm", 1, ["resid_pre", "attn_norm", "attn_norm_bias"]),
        ("gpt2", "attn.k", 1, ["attn_norm", "attn_k", "attn_k", "attn_k_bias"]),
        ("gpt2", "mlp.out", 0, ["mlp.act", "mlp_out", "mlp_out", "mlp_out_bias"]),
        ("gpt2", "attn.scores", 0, ["attn.q", "attn.k"]),
        ("gpt2", "pos_embed", None, ["embed", "pos_embed"]),
        ("gpt2", "resid_pre", 0, ["pos_embed"]),
        ("gpt2", "final_norm", None, ["resid_post", "final_norm", "final_norm_bias"]),
        ("gemma3", "embed", None, ["embed"]),
        ("gemma3", "resid_pre", 0, ["embed_scaled"]),
        ("gemma3", "attn.k_norm", 0, ["attn.k", "attn_k_norm"]),
        ("gemma3", "attn.q_rot", 0, ["attn.q_norm", "cos", "sin"]),
        ("gemma3", "resid_post", 0, ["resid_mid", "mlp.post_norm"]),
        ("gemma2", "attn.masked", 0, ["attn.softcap"]),
        ("olmo2", "attn.v", 0, ["resid_pre", "attn_v", "attn_v"]),
        ("olmo2", "mlp.post_norm", 0, ["mlp.out", "mlp_post_norm"]),
        ("gpt_neox", "mlp_norm", 0, ["resid_pre", "mlp_norm", "mlp_norm_bias"]),
        ("smollm3", "attn.scores", 3, ["attn.q", "attn.k"]),
    ],
)
def test_a_view_shows_what_the_op_reads(case, op, layer, names, trace_of):
    assert [name for _, name in parts(step_view(trace_of(case), op, layer, 1, 5))] == names


def test_the_norm_of_all_heads_shows_them_side_by_side(trace_of):
    trace = trace_of("olmo2")
    view = step_view(trace, "attn.q_norm", 1, 2, 5, 3)
    (row,), (weight,) = view.inputs, view.weights
    assert row.selected == weight.selected == (0, 2 * 8 + 3)
    assert np.array_equal(row.values[0], trace.read("attn.q", 1)[5].reshape(-1))
    terms = explain(trace, "attn.q_norm", 1, view.index)
    assert np.allclose(row.values[0].astype(float) ** 2 / 32, terms.values, rtol=1e-6)


def test_the_row_of_a_token_and_of_a_position_come_from_their_tables(trace_of):
    trace = trace_of("gpt2")
    (row,) = step_view(trace, "embed", None, 0, 5).weights
    id = trace.ids[5]
    assert row.first_row == id and np.array_equal(row.values[0], trace.model.weights.embed[id])
    (row,) = step_view(trace, "pos_embed", None, 0, 5).weights
    assert row.first_row == 5 and np.array_equal(row.values[0], trace.model.weights.pos_embed[5])


def test_keys_outside_the_window_are_nothing_in_a_map_of_weights(trace_of):
    trace, n = trace_of("gemma2"), 70
    ago = np.arange(n)[:, None] - np.arange(n)
    for layer, reach in ((0, 8), (1, n)):
        seen = (ago >= 0) & (ago < reach)
        weights = step_view(trace, "attn.weights", layer, 0, 2, None).output.values
        masked = step_view(trace, "attn.masked", layer, 0, 2, None).output.values
        assert (np.isfinite(weights) == seen).all() and (np.isfinite(masked) == seen).all()


def test_the_cell_to_open_first_is_visible(trace_of):
    trace = trace_of("mistral")
    for op in ("attn.scores", "attn.masked", "attn.weights"):
        for position in (0, 1, 40):
            *_, key = step_view(trace, op, 0, 1, position).index
            assert position - 8 < key <= position and (key or not position)
    (*_, key) = step_view(trace, "attn.masked", 0, 1, 40).index
    row = trace.read("attn.masked", 0)[1, 40]
    assert row[key] == row.max() and 32 < key <= 40


def test_pairs_are_chosen_in_the_tables_and_nothing_behind_them(trace_of):
    trace = trace_of("gpt_neox")
    tables = [step_view(trace, "attn.q_rot", 0, 1, 5, dim).weights for dim in (1, 3, 4)]
    assert [cos.selected for cos, _ in tables] == [(0, 1), (0, 1), None]
    assert tables[0][0].values.shape == (1, 2)
    yarn = step_view(trace_of("llama yarn"), "attn.q_rot", 0, 1, 0, 2).weights
    assert yarn[0].limit == pytest.approx(1 + 0.1 * np.log(2)) == yarn[0].values[0, 0]


def test_query_head_three_shows_key_head_one(trace):
    assert trace.config.group == 2
    view = step_view(trace, "attn.k", 0, 3, 1, 0)
    assert np.array_equal(view.output.values, trace.read("attn.k", 0)[:, 1])


def test_later_keys_are_nothing_in_a_map_of_weights_and_minus_infinity_in_a_masked_one(trace):
    weights = step_view(trace, "attn.weights", 0, 0, 2, None).output
    masked = step_view(trace, "attn.masked", 0, 0, 2, None).output
    future = np.triu(np.ones(weights.values.shape, bool), 1)
    assert np.isnan(weights.values[future]).all() and np.isfinite(weights.values[~future]).all()
    assert (masked.values[future] == -np.inf).all()
    assert (weights.amount, weights.limit) == (True, 1.0)


def test_the_first_block_reads_the_embedding_and_the_last_norm_the_last_block(trace):
    assert step_view(trace, "resid_pre", 0, 0, 1, 0).inputs[0].name == "embed"
    assert step_view(trace, "resid_pre", 1, 0, 1, 0).inputs[0].name == "resid_post"
    last = final_view(trace, 2, 5)
    assert np.array_equal(last.inputs[0].values[0], trace.read("resid_post", 1)[2])
    assert last.output.values[2, 5] == explain(trace, "final_norm", None, (2, 5)).recorded


def test_a_long_prompt_shows_the_rows_around_the_chosen_one(tiny_name):
    n, at = 1000, 900
    trace = run(RunSpec(tiny_name, ids=[290 - i % 40 for i in range(n)]))
    panel = step_view(trace, "attn.weights", 1, 0, at, 7).output
    assert panel.values.shape == (66, n) and panel.n_rows == n
    assert panel.selected == (at - panel.first_row, 7)
    expected = trace.read("attn.weights", 1)[0, at, : at + 1]
    assert np.array_equal(panel.values[panel.selected[0], : at + 1], expected)
    assert embedding_panel(trace).values.shape[1] == trace.config.width


@pytest.mark.parametrize(
    ("row", "rows", "columns", "expected"),
    [(0, 10, 5, (0, 10)), (0, 1000, 1000, (0, 66)), (999, 1000, 1000, (934, 1000)),
     (500, 1000, 1000, (467, 533)), (3, 9, 10**6, (3, 4))],
)  # fmt: skip
def test_windows_by_hand(row, rows, columns, expected):
    assert window(row, rows, columns) == expected


def test_blocks_keep_the_largest_magnitude_with_its_sign():
    matrix = np.array([[1, -5, 2], [3, 4, -7], [0, 0, 6]], np.float32)
    assert largest_of_blocks(matrix, (2, 2)).tolist() == [[-5, -7], [0, 6]]


def test_one_outlier_row_does_not_set_the_scale_of_another():
    values = np.array([[1000, -3000], [2, -4]], np.float32)
    assert rows_around("x", "output", "mlp", values, ("seq", "neurons"), 1, 0).limit == 4
    assert magnitude(np.array([[-np.inf, np.nan, 0]], np.float32)) == 1


def test_a_turned_row_opens_at_the_number_that_changed_most(trace):
    before, after = (trace.read(op, 1)[4, 3] for op in ("attn.q", "attn.q_rot"))
    *_, dim = step_view(trace, "attn.q_rot", 1, 3, 4).index
    assert abs(after - before)[dim] == abs(after - before).max() > 0
    first = trace.read("attn.q_rot", 1)[0, 3]
    assert step_view(trace, "attn.q_rot", 1, 3, 0).index[-1] == abs(first).argmax()


def test_a_map_of_256_tokens_is_whole():
    assert window(7, 256, 256) == (0, 256)
