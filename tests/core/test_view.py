"""Panels hold what the trace holds: each shown number is the recorded one, where it says it is."""

import numpy as np
import pytest

from core import RunSpec, run
from core.analyse.explain import explain
from core.analyse.panel import largest_of_blocks, magnitude, rows_around, window
from core.analyse.view import embedding_panel, final_view, step_view
from core.model.axes import OP_AXES
from core.record.catalogue import BLOCK_IDS, CATALOGUE

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
    width = CATALOGUE[op].axes[-1]
    size = trace.read(op, 0).shape[-1]
    assert step_view(trace, op, 0, 0, 2, size - 1).index[-1] == size - 1, width
    assert 0 <= step_view(trace, op, 0, 0, 2, size).index[-1] < size


@pytest.mark.parametrize("op", [o for o in BLOCK_IDS if CATALOGUE[o].kind in ("dot", "score")])
def test_the_strips_multiply_to_the_explained_terms(trace, op):
    view = step_view(trace, op, 1, 2, 4, None)
    first, second = (view.inputs + view.weights)[:2]
    terms = explain(trace, op, 1, view.index)
    assert np.allclose(first.values[0] * second.values[0], terms.values, rtol=1e-6, atol=0)
    assert first.selected == second.selected == (0, terms.top(1)[0].number)


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
    assert panel.values.shape == (100, n) and panel.n_rows == n
    assert panel.selected == (at - panel.first_row, 7)
    expected = trace.read("attn.weights", 1)[0, at, : at + 1]
    assert np.array_equal(panel.values[panel.selected[0], : at + 1], expected)
    assert embedding_panel(trace).values.shape[1] == trace.config.width


@pytest.mark.parametrize(
    ("row", "rows", "columns", "expected"),
    [(0, 10, 5, (0, 10)), (0, 1000, 1000, (0, 100)), (999, 1000, 1000, (900, 1000)),
     (500, 1000, 1000, (450, 550)), (3, 9, 10**6, (3, 4))],
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


def test_every_op_of_the_block_has_a_view():
    assert set(BLOCK_IDS) < set(OP_AXES)
