"""One number of a matrix product: its products, and the part of the matrix that is shown."""

import numpy as np
import pytest

from core.analyse import panel, products
from core.analyse.explain import explain
from core.analyse.panel import follow, largest_of_blocks, strongest
from core.analyse.view import step_view

DOTS = "attn.q attn.k attn.v attn.out mlp.gate mlp.up mlp.out".split()
POSITION = 5


def made(trace, op, layer=1, term=None):
    view = step_view(trace, op, layer, 3, POSITION, None, term, together=False)
    return view, products.product(trace, view, explain(trace, op, layer, view.index))


def inputs_of(trace, op, layer=1):
    """The rows that the op multiplies, read on another way."""
    return trace.read(trace.catalogue.op(op, layer).inputs[0], layer).reshape(len(trace.ids), -1)


@pytest.mark.parametrize("op", DOTS)
@pytest.mark.parametrize("case", ["gpt2", "qwen3"])
def test_the_products_are_the_input_times_a_row_of_the_weights(case, op, trace_of):
    trace = trace_of(case)
    if op not in trace.catalogue.blocks[1]:
        return
    view, one = made(trace, op)
    entry = trace.catalogue.op(op, 1)
    weight = trace.model.weights.get(entry.weights[0], 1)
    whole = inputs_of(trace, op)[POSITION].astype(np.float64) @ weight.T.astype(np.float64)
    recorded = trace.read(op, 1)[POSITION].reshape(-1)
    number = int(np.flatnonzero(recorded == one.recorded)[0])
    assert one.out == number and one.shape == weight.shape
    assert one.total == pytest.approx(whole[number], rel=1e-12)
    assert one.positive + one.negative == pytest.approx(one.total, rel=1e-12)
    assert one.positive > 0 > one.negative
    expected = inputs_of(trace, op)[POSITION] * weight[number]
    assert np.allclose(one.products.values[0], expected, rtol=1e-6, atol=0)
    assert one.n_positive == (expected > 0).sum() and one.n_negative == (expected < 0).sum()
    assert (one.bias is None) == (not entry.biases)
    assert one.total + (one.bias or 0) == pytest.approx(one.recorded, rel=1e-4, abs=1e-6)
    assert one.products.selected == view.inputs[0].selected == (0, one.term)


def test_the_chosen_term_is_pointed_at(trace_of):
    assert made(trace_of("llama"), "mlp.gate", term=7)[1].term == 7


@pytest.fixture
def reduced(monkeypatch):
    """As if no matrix fitted: 8 x 12 blocks, and a part of 6 x 10 numbers."""
    monkeypatch.setattr(panel, "LARGEST_WHOLE", (1, 1))
    monkeypatch.setattr(panel, "LARGEST_PICTURE", (8, 12))
    monkeypatch.setattr(products, "ZOOM", (6, 10))


@pytest.mark.parametrize("op", ["attn.k", "mlp.gate", "mlp.out"])
def test_the_part_holds_the_weights_themselves_around_the_chosen_one(reduced, trace_of, op):
    trace = trace_of("llama")
    view, one = made(trace, op)
    part, blocks = products.enlarged(trace, view, one)
    weight = trace.model.weights.get(trace.catalogue.op(op, 1).weights[0], 1)
    corner = (part.first_row, part.first_column)
    rows, columns = (slice(at, at + n) for at, n in zip(corner, (6, 10), strict=True))
    assert part.values.shape == (6, 10) and np.array_equal(part.values, weight[rows, columns])
    assert part.values[part.selected] == weight[one.out, one.term]
    (top, left, bottom, right), (down, across) = blocks.boxes[0], blocks.block
    assert top * down <= rows.start < (top + 1) * down
    assert (bottom - 1) * down < rows.stop <= bottom * down
    assert left * across <= columns.start < (left + 1) * across
    assert (right - 1) * across < columns.stop <= right * across


def test_a_matrix_that_is_shown_whole_has_no_part(trace_of):
    trace = trace_of("llama")
    assert products.enlarged(trace, *made(trace, "attn.k")) is None


def test_a_click_on_a_block_goes_to_the_weight_that_it_shows(reduced, trace_of):
    trace = trace_of("llama")
    view, _ = made(trace, "mlp.gate")
    weight, shown = trace.model.weights.get("mlp_gate", 1), view.weights[1].values
    cells = [(row, column) for row in range(shown.shape[0]) for column in range(shown.shape[1])]
    found = [products.strongest(trace, view, cell) for cell in cells]
    assert [weight[at] for at in found] == [shown[cell] for cell in cells]


def test_blocks_at_the_edge_may_be_smaller():
    matrix = np.array([[1, -5, 2], [3, 4, -7], [0, 0, 6]], np.float32)
    assert strongest(matrix, (2, 2), (0, 1)) == (1, 2) and strongest(matrix, (2, 2), (1, 1)) == (
        2,
        2,
    )
    assert largest_of_blocks(matrix, (2, 2))[0, 0] == matrix[strongest(matrix, (2, 2), (0, 0))]


@pytest.mark.parametrize(
    ("first", "at", "expected"),
    [
        (None, 50, 45),  # in the middle
        (None, 1, 0),
        (None, 99, 90),
        (40, 45, 40),  # stays
        (40, 48, 41),  # two neighbours in sight
        (40, 41, 39),
        (40, 80, 75),  # far away: in the middle again
        (90, 99, 90),  # no further than the edge
    ],
)
def test_the_part_in_sight_moves_as_little_as_it_must(first, at, expected):
    assert follow(first, at, 10, 100) == expected


def test_few_numbers_are_all_in_sight():
    assert follow(None, 3, 10, 4) == 0 and follow(0, 0, 1, 5) == 0 and follow(0, 4, 1, 5) == 4


def test_all_positions_are_the_rows_of_the_input_as_many_as_fit(trace_of, monkeypatch):
    trace = trace_of("llama")
    view, one = made(trace, "attn.out")
    rows = products.input_rows(trace, view)
    assert np.array_equal(rows.values, inputs_of(trace, "attn.out"))
    assert rows.selected == (POSITION, one.term)
    monkeypatch.setattr(products, "MOST_INPUTS", 10 * rows.values.shape[1])
    few = products.input_rows(trace, view)
    assert few.values.shape[0] == 10 and few.n_rows == len(trace.ids)
    assert few.first_row + few.selected[0] == POSITION
