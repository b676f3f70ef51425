"""A model as small as Nano is shown whole: each term of each number, each cell of each matrix.

The sums are made here a second time, from the operands alone.
"""

import math

import numpy as np
import pytest

from core import RunSpec, run
from core.analyse.explain import explain
from core.analyse.panel import LARGEST_PICTURE, LARGEST_WHOLE, fits, picture
from core.analyse.turning import turn
from core.analyse.view import place_of_output, score_parts, step_view
from core.files import registry
from core.model.axes import OP_AXES, VOCAB_OPS
from tests.core.conftest import CASES, places
from tests.nano_shape import SHAPE

IDS = tuple((37 * i + 5) % 90 for i in range(12))
MATRICES = "attn.q attn.k attn.v attn.out mlp.gate mlp.up mlp.out".split()
TURNED = {"mlp.out"}  # wider than high: a row per dimension, a column per neuron


@pytest.fixture(scope="module", params=["of its shape", "nano"])
def trace(request, name_of):
    """A run of a random model of Nano's shape, and one of Nano."""
    if request.param == "nano":
        if not registry.on_disk("nano"):
            pytest.skip("models/nano is not there")
        return run(RunSpec("nano", ids=IDS))
    return run(RunSpec(name_of("llama", **SHAPE), ids=IDS))


def cells(trace, op, layer, n=5):
    """Some indices of an op; in maps only keys that are seen."""
    rng = np.random.default_rng([layer or 0, list(OP_AXES).index(op)])
    shape = (len(IDS), trace.config.vocab) if op in VOCAB_OPS else trace.read(op, layer).shape
    found = [tuple(int(rng.integers(size)) for size in shape) for _ in range(n)]
    if "key" in OP_AXES[op]:
        found = [(head, max(query, key), min(query, key)) for head, query, key in found]
    return found


def n_terms(trace, op):
    """How many numbers of each kind of op go into one of its own, by hand."""
    c = trace.config
    many = {"attn.scores": c.head_dim, "attn.out": c.n_heads * c.head_dim, "mlp.out": c.neurons}
    many |= dict.fromkeys(("attn.weights", "attn.mix"), len(IDS)) | {"probs": c.vocab}
    many |= dict.fromkeys(("attn.q_rot", "attn.k_rot", "resid_mid", "resid_post"), 2)
    many |= dict.fromkeys(("embed", "resid_pre", "attn.masked", "mlp.act", "mlp.hidden"), 1)
    return many.get(op, c.width)


def recombined(trace, op, layer, index, listed):
    """(the number again, the sum of the magnitudes it is made of), from its terms' operands."""
    used = [[o.value for o in t.operands] for t in listed]
    products = [math.prod(values) for values in used]
    if op in ("attn.weights", "probs"):
        exps = [math.exp(x - most) for x, most in used]
        own = next(e for e, t in zip(exps, listed, strict=True) if t.operands[0].index == index)
        return own / sum(exps), own / sum(exps)
    if op.endswith("norm"):
        own = next(t.operands[0].value for t in listed if t.operands[0].index[-1] == index[-1])
        weight = trace.model.weights.get(op, layer)[index[-1]]
        value = own * weight / math.sqrt(sum(products) / len(products) + trace.config.norm_eps)
        return value, abs(value)
    if op == "mlp.act":
        return products[0] / (1 + math.exp(-products[0])), abs(products[0])
    scale = trace.config.score_scale if op == "attn.scores" else 1
    return scale * sum(products), scale * sum(map(abs, products))


def test_every_number_is_the_sum_of_all_its_listed_terms(trace):
    for op, layer in places(trace):
        for index in cells(trace, op, layer):
            e = explain(trace, op, layer, index)
            listed = e.all(by_size=True)
            assert len(listed) == n_terms(trace, op), (op, layer)
            again, size = recombined(trace, op, layer, index, listed)
            assert abs(again - e.recorded) <= 1e-5 * size, (op, layer, index)
            sizes = [abs(t.value) for t in listed]
            assert sizes == sorted(sizes, reverse=True)
            in_order = e.all(by_size=False)
            assert [t.number for t in in_order] == list(range(len(listed)))
            assert {t.number for t in listed} == set(range(len(listed)))


def upright(panel):
    """The cells of a matrix with its outputs downwards."""
    return panel.values if panel.terms == "columns" else panel.values.T


@pytest.mark.parametrize("op", MATRICES)
def test_a_matrix_is_shown_cell_by_cell_with_its_row_and_its_head_marked(trace, op):
    for layer in range(trace.config.n_layers):
        entry = trace.catalogue.op(op, layer)
        matrix = trace.model.weights.get(entry.weights[0], layer)
        for position, column in ((0, 0), (5, 7), (11, 11)):
            view = step_view(trace, op, layer, 3, position, column)
            (panel,) = (panel for panel in view.weights if panel.marks)
            assert panel.block == (1, 1) and np.array_equal(upright(panel), matrix)
            assert (panel.terms == "rows") == (op in TURNED)
            used, *of_head = panel.marks
            e = explain(trace, op, layer, view.index)
            source = trace.read(e.term(0).operands[0].source, layer)
            products = upright(panel)[used.first].astype(float) * source[position].reshape(-1)
            assert np.allclose(products, e.values, rtol=1e-6, atol=0)
            assert (used.first, used.stop) == (used.number, used.number + 1)
            assert used.across == (panel.terms == "rows")
            at = panel.selected if panel.terms == "columns" else panel.selected[::-1]
            assert at == (used.first, e.top(1)[0].number)
            check_head(op, view.index, at, of_head, trace.config.head_dim)


def check_head(op, index, at, of_head, head_dim):
    """Of q, k and v the rows of the head, of the projection the columns of the one pointed at."""
    if op.startswith("mlp"):
        assert of_head == []
        return
    (mark,) = of_head
    assert mark.stop - mark.first == head_dim and mark.first == head_dim * mark.number
    assert mark.kind == ("kv_head" if op in ("attn.k", "attn.v") else "head")
    assert mark.across == (op == "attn.out")
    if op != "attn.out":
        assert mark.number == index[1]
    assert mark.first <= at[mark.across] < mark.stop


@pytest.mark.parametrize("op", MATRICES)
def test_a_row_of_a_matrix_leads_to_the_number_that_it_makes(trace, op):
    config = trace.config
    entry = trace.catalogue.op(op, 0)
    for out in range(len(trace.model.weights.get(entry.weights[0], 0))):
        head, column = place_of_output(config, op, out, 3)
        view = step_view(trace, op, 0, head, 4, column)
        (panel,) = (panel for panel in view.weights if panel.marks)
        assert panel.marks[0].number == out
    row = config.head_dim + 1
    assert place_of_output(config, "attn.k", row, 3) == (3, 1)  # head 3 reads it too
    assert place_of_output(config, "attn.k", row, 0) == (2, 1)


@pytest.mark.parametrize("op", ["attn.q", "attn.scores", "attn.mix", "mlp.out"])
def test_all_parts_point_at_the_chosen_term(trace, op):
    for term in (0, 5):
        view = step_view(trace, op, 1, 2, 8, 3, term)
        parts = [panel for panel in view.inputs + view.weights if panel.terms]
        assert len(parts) == (3 if op in MATRICES else 2)
        for panel in parts:
            row, column = panel.selected
            assert term == (column if panel.terms == "columns" else panel.first_row + row)
    usual, beyond = (step_view(trace, op, 1, 2, 8, 3, term) for term in (None, 10_000))
    assert [p.selected for p in usual.inputs] == [p.selected for p in beyond.inputs]


def test_the_embedding_table_is_whole_where_it_is_looked_up_and_where_it_scores(trace):
    table = trace.model.weights.embed
    (panel,) = step_view(trace, "resid_pre", 0, 0, 3, 7).weights
    assert np.array_equal(panel.values, table) and panel.selected == (trace.ids[3], 7)
    assert panel.marks[0].number == trace.ids[3]
    assert step_view(trace, "resid_pre", 1, 0, 3, 7).weights == ()
    row, one, whole = score_parts(trace, "logits", 6, 42)
    assert np.array_equal(whole.values, table) and whole.selected[0] == 42 == one.first_row
    assert row.values[0] @ one.values[0] == pytest.approx(trace.logits(6)[42], rel=1e-5)
    assert score_parts(trace, "probs", 6, 42) == ()


def test_what_fits_goes_by_size_alone():
    rows, columns = LARGEST_WHOLE
    for shape in ((48, 48), (128, 48), (48, 128), (200, 48), (rows, columns), (columns, rows)):
        assert fits(shape)
        matrix = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
        panel = picture("w", "weight", "mlp", matrix, ("out", "embedding"), (2, 3))
        assert np.array_equal(upright(panel), matrix)
        assert panel.values[panel.selected] == matrix[2, 3]
        assert panel.values.shape[1] <= columns
    for shape in ((rows + 1, columns), (rows, columns + 1), (576, 576), (192, 576), (49_152, 8)):
        assert not fits(shape)
        panel = picture("w", "weight", "mlp", np.eye(*shape), ("out", "embedding"), (2, 3))
        assert panel.block != (1, 1) and not panel.terms and not panel.marks
        assert all(n <= most for n, most in zip(panel.values.shape, LARGEST_PICTURE, strict=True))


def test_a_large_table_is_not_shown_whole(name_of):
    large = run(RunSpec(name_of("llama", vocab_size=257), ids=IDS))
    assert score_parts(large, "logits", 3, 5) == ()
    assert step_view(large, "resid_pre", 0, 0, 3, 7).weights == ()


@pytest.mark.parametrize("case", [case for case in CASES if case != "gpt2"])
def test_the_angle_of_a_pair_gives_the_cosine_and_sine_that_were_used(case, trace_of):
    trace = trace_of(case)
    cos, sin = trace.constants("attn.q_rot", 0)
    head_dim, n_pairs = trace.config.head_dim, cos.shape[1]
    for position in (0, 1, 69):
        for dim in range(head_dim):
            made = turn(trace, 0, position, dim)
            if dim >= 2 * n_pairs:
                assert made is None
                continue
            assert made.angle == position * made.frequency and made.pair == dim % n_pairs
            found = made.amplitude * np.array([math.cos(made.angle), math.sin(made.angle)])
            assert np.allclose(found, [cos[position, made.pair], sin[position, made.pair]], 0, 1e-6)
