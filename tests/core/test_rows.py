"""Rows of the embedding table: lengths by hand and against NumPy, the row in its table, in its file
and in the run.
"""

import numpy as np
import pytest

from core import ModelFileError, RunSpec, open_model, run
from core.analyse import rows
from tests import tiny as tiny_file
from tests.core.conftest import EACH_CASE

PROMPT = "the cat and the user and the cat"


@pytest.fixture(scope="module")
def trace(tiny_name):
    return run(RunSpec(tiny_name, prompt=PROMPT))


def opened(path, table):
    """The tiny model with another embedding table."""
    tensors = tiny_file.arrays() | {"token_embd.weight": np.asarray(table, np.float32)}
    return open_model(tiny_file.build(path / "m.gguf", tensors=tensors))


@pytest.fixture
def by_hand(tmp_path):
    """Row v holds a 3 and a 4, times v + 1: lengths 5, 10, 15, ..."""
    table = np.zeros((len(tiny_file.vocabulary()), tiny_file.WIDTH))
    table[:, 2] = 3 * np.arange(1, len(table) + 1)
    table[:, 7] = 4 * np.arange(1, len(table) + 1)
    return opened(tmp_path, table)


def test_lengths_by_hand(by_hand):
    lengths = rows.norms(by_hand)
    assert lengths.tolist() == [5 * n for n in range(1, len(lengths) + 1)]
    seen = rows.among(by_hand, 9)
    assert (seen.length, seen.n_shorter) == (50.0, 9)
    assert (seen.shortest, seen.longest) == (0, len(lengths) - 1)
    assert seen.counts.sum() == len(lengths)
    assert (seen.edges[0], seen.edges[-1]) == (5, 5 * len(lengths))


def test_lengths_of_a_real_table(smollm):
    lengths, table = rows.norms(smollm), smollm.weights.embed
    assert lengths.dtype == np.float32 and lengths.shape == (smollm.config.vocab,)
    assert np.allclose(lengths, np.linalg.norm(table.astype(float), axis=1), rtol=1e-5)


def test_lengths_are_shared_and_read_only(tiny):
    lengths = rows.norms(tiny)
    assert rows.norms(tiny) is lengths
    with pytest.raises(ValueError):
        lengths[0] = 1


def test_the_output_matrix_has_lengths_of_its_own_where_it_is_not_tied(trace_of, tiny):
    assert rows.norms(tiny, "head") is rows.norms(tiny)  # tied
    model = trace_of("llama").model
    assert not model.weights.tied
    assert np.allclose(rows.norms(model, "head"), np.linalg.norm(model.weights.head, axis=1))
    assert not np.allclose(rows.norms(model, "head"), rows.norms(model))


def test_a_damaged_row_is_left_out_of_the_lengths(tmp_path):
    table = tiny_file.arrays()["token_embd.weight"]
    table[5, 0], table[6, 0] = np.nan, np.inf
    seen = rows.among(opened(tmp_path, table), 9)
    assert seen.counts.sum() == len(table) - 2
    assert np.isfinite(seen.edges).all() and not {5, 6} & {seen.shortest, seen.longest}


# --- in its table


@EACH_CASE
def test_a_small_table_is_shown_whole_with_the_row_outlined(case, trace_of):
    model = trace_of(case).model
    shown = rows.table(model, 41, 5)
    (mark,) = shown.marks
    assert shown.block == (1, 1) and (mark.first, mark.stop, shown.selected) == (41, 42, (41, 5))
    assert np.array_equal(shown.values[mark.first], model.weights.embed[41])


@pytest.mark.parametrize("id, column", [(0, 0), (7042, 333), (49151, 575)])
def test_a_large_table_is_put_together_into_blocks(id, column, smollm):
    shown, table = rows.table(smollm, id, column), smollm.weights.embed
    high, wide = shown.block
    (mark,) = shown.marks
    assert mark.number == id and mark.first * high <= id < mark.stop * high
    row, at = shown.selected
    block = table[row * high : (row + 1) * high, at * wide : (at + 1) * wide]
    assert row * high <= id < (row + 1) * high and at * wide <= column < (at + 1) * wide
    assert abs(shown.values[row, at]) == np.abs(block).max()
    assert not shown.values.flags.writeable


@pytest.mark.parametrize("id, first, n", [(0, 0, 4), (2, 0, 6), (9, 6, 7), (-1, -4, 4)])
def test_the_rows_around_it_are_those_of_the_ids_beside(id, first, n, tiny):
    table = tiny.weights.embed
    id, first = id % len(table), first % len(table)
    shown = rows.around(tiny, id, 3)
    assert (shown.first_row, len(shown.values), shown.n_rows) == (first, n, len(table))
    assert shown.first_row + shown.selected[0] == id
    assert np.array_equal(shown.values[shown.selected[0]], table[id])


# --- in its file, and in the run


@EACH_CASE
def test_the_bytes_say_what_the_run_used(case, trace_of):
    trace = trace_of(case)
    for position, column in ((0, 0), (9, 31), (69, 16)):
        found = rows.from_file(trace, position, column)
        assert found.equal and found.difference == 0
        assert found.stored.value == found.recorded == trace.read("embed")[position, column]


def test_the_bytes_of_a_quantized_table_say_it_too(smollm):
    trace = run(RunSpec("smollm2-135m-instruct", prompt="The capital of France is"))
    for column in range(0, 576, 25):
        assert rows.from_file(trace, 3, column).equal


def test_other_bytes_of_the_same_size_are_refused(tmp_path):
    """An edited file has another time of change, so nothing of it is shown as the model's."""
    path = tmp_path / "m.gguf"
    trace = run(RunSpec(tiny_file.build(path), prompt=PROMPT))
    assert rows.from_file(trace, 0, 0).equal
    content = bytearray(path.read_bytes())
    content[trace.model.source.embed.row_offset(trace.ids[0])] ^= 1
    path.write_bytes(content)
    with pytest.raises(ModelFileError) as refused:
        rows.from_file(trace, 0, 0)
    assert refused.value.code == "changed"


def test_a_number_that_was_changed_on_the_way_is_found(trace, monkeypatch):
    read = trace.read

    def other(op, layer=None):
        return np.nextafter(read(op, layer), np.float32(9))  # the next float32

    monkeypatch.setattr(trace, "read", other)
    found = rows.from_file(trace, 1, 2)
    assert not found.equal and 0 < abs(found.difference) < 1e-6


def test_a_token_that_stands_there_again_has_the_same_row(trace):
    ids = trace.ids
    for position, id in enumerate(ids):
        others = [n for n, other in enumerate(ids) if other == id and n != position]
        assert rows.again(trace, position) == others
    assert any(ids.count(id) > 1 for id in ids) and any(ids.count(id) == 1 for id in ids)


@EACH_CASE
def test_what_enters_the_first_block_is_the_row_unless_the_model_changes_it(case, trace_of):
    trace = trace_of(case)
    changed = len(trace.catalogue.before) > 1
    n = [rows.n_entering(trace, position) for position in (0, 35, 69)]
    assert n == [trace.config.width] * 3 or (changed and max(n) < trace.config.width)
    assert changed == (case.split()[0] in ("gemma", "gemma2", "gemma3", "gpt2"))
