"""The row of a product cut into heads, and which head reads which."""

from types import SimpleNamespace

import numpy as np
import pytest

from core.analyse.splitting import split


@pytest.mark.parametrize("op", ["attn.q", "attn.k", "attn.v"])
@pytest.mark.parametrize("case", ["llama", "gpt2", "gemma"])
def test_the_heads_are_consecutive_parts_of_the_row(case, op, trace_of):
    trace = trace_of(case)
    head, dim = trace.read(op, 1).shape[1] - 1, 2
    cut = split(trace, op, 1, (5, head, dim))
    entry = trace.catalogue.op(op, 1)
    x = trace.read(entry.inputs[0], 1)[5].astype(np.float64)
    row = trace.model.weights.get(entry.weights[0], 1) @ x
    row = row + (trace.model.weights.get(entry.biases[0], 1) if entry.biases else 0)
    assert cut.heads.selected == (head, dim) and cut.chosen == head
    for n, (first, last) in enumerate(cut.parts):
        assert np.allclose(cut.heads.values[n], row[first : last + 1], atol=1e-5)
    assert cut.parts[-1][1] == len(row) - 1


def run_with(n_heads):
    """A run of one token with so many heads of 64 numbers, three query heads to a key/value one."""
    return SimpleNamespace(
        config=SimpleNamespace(group=3),
        read=lambda op, layer: np.zeros((1, n_heads, 64), np.float32),
        catalogue=SimpleNamespace(op=lambda op, layer: SimpleNamespace(role="query")),
    )


def test_query_head_seven_of_nine_reads_the_last_of_three():
    queries = split(run_with(9), "attn.q", 3, (0, 7, 0))
    assert queries.readers[7] == (2, 2) and queries.parts[7] == (448, 511)
    keys = split(run_with(3), "attn.k", 3, (0, 2, 0))
    assert keys.readers == ((0, 2), (3, 5), (6, 8)) and keys.parts[2] == (128, 191)


def test_a_head_of_its_own_and_one_head_for_all(trace_of):
    own = split(trace_of("gpt2"), "attn.v", 0, (0, 0, 0))
    assert own.readers == ((0, 0), (1, 1), (2, 2), (3, 3))
    assert split(trace_of("gemma"), "attn.v", 0, (0, 0, 0)).readers[-1][1] == 3
