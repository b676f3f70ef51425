"""The last vector against the rows of the output matrix: products, candidates and the two winners,
by hand and by identities.
"""

import numpy as np
import pytest

from core import RunSpec, run
from core.analyse import explain, tied
from tests.core.conftest import EACH_CASE

PROMPT = "the cat and the user and the cat"


@pytest.fixture(scope="module")
def trace(tiny_name):
    return run(RunSpec(tiny_name, prompt=PROMPT))


@EACH_CASE
@pytest.mark.parametrize("position", [0, 69])
def test_what_is_multiplied_makes_the_logit(case, position, trace_of):
    trace = trace_of(case)
    id = trace.ids[3]
    vector, row, *other = tied.operands(trace, position, id, None)
    explained = explain(trace, "logits", None, (position, id))
    products = vector.values[0].astype(float) * row.values[0]
    assert np.allclose(products, explained.values, rtol=1e-6, atol=0)
    assert explained.equal
    term = vector.selected[1]
    assert row.selected == (0, term) and abs(products[term]) == np.abs(products).max()
    if trace.model.weights.tied:
        assert not other and row.name == "embed"
    else:
        (own,) = other
        assert (row.name, own.name) == ("head", "embed")
        assert np.array_equal(own.values[0], trace.model.weights.embed[id])


def test_a_term_of_a_link_is_pointed_at_if_there_is_one(trace):
    assert tied.operands(trace, 1, 5, 7)[0].selected == (0, 7)
    largest = tied.operands(trace, 1, 5, None)[0].selected
    assert tied.operands(trace, 1, 5, 32)[0].selected == largest


@EACH_CASE
def test_candidates_are_the_best_and_the_token_itself(case, trace_of):
    trace = trace_of(case)
    found = tied.candidates(trace, 9)
    order = np.argsort(-trace.logits(9), kind="stable")
    assert [c.id for c in found[: tied.FEW]] == order[: tied.FEW].tolist()
    assert trace.ids[9] in [c.id for c in found] and len(found) <= tied.FEW + 1
    assert all(c.logit == trace.output("logits", 9)[c.id] for c in found)


def test_a_token_that_is_among_the_best_stands_there_once(trace):
    for position in range(len(trace.ids)):
        ids = [c.id for c in tied.candidates(trace, position)]
        assert len(set(ids)) == len(ids)


def test_the_chosen_token_is_a_candidate_too(trace):
    usual = tied.candidates(trace, 2)
    other = next(id for id in range(295) if id not in [c.id for c in usual])
    assert tied.candidates(trace, 2, other)[:-1] == usual
    assert tied.candidates(trace, 2, other)[-1].id == other
    assert tied.candidates(trace, 2, usual[1].id) == usual


@EACH_CASE
def test_the_winners_are_those_of_the_definitions(case, trace_of):
    trace = trace_of(case)
    x, head = trace.read("final_norm")[9].astype(float), trace.model.weights.head.astype(float)
    cosines = head @ x / (np.linalg.norm(head, axis=1) * np.linalg.norm(x))
    found = tied.nearest(trace, 9)
    assert found.by_dot == int(np.argmax(head @ x)) and found.by_cosine == int(np.argmax(cosines))
    assert found.cosine == pytest.approx(cosines.max(), abs=1e-5)
    assert found.logit == pytest.approx((head @ x).max(), rel=1e-4)


class TwoRows:
    """A stand-in for a trace: a vector (1, 0), a long row aside of it, a short one along it and one
    without any length.
    """

    def __init__(self, monkeypatch):
        self.head = np.array([[3, 4], [1, 0], [0, 0]], np.float32)
        self.model = None
        monkeypatch.setattr(tied, "norms", lambda model, name: np.array([5, 1, 0], np.float32))

    def read(self, op):
        return np.array([[1, 0]], np.float32)

    def output(self, op, position):
        return self.head @ self.read("final_norm")[position]


def test_a_long_row_wins_by_its_length_and_one_without_any_has_no_direction(monkeypatch):
    found = tied.nearest(TwoRows(monkeypatch), 0)
    assert (found.by_dot, found.logit) == (0, 3.0) and (found.by_cosine, found.cosine) == (1, 1.0)


def test_what_tying_saves(tiny, trace_of):
    seen = tied.shared(tiny)
    table = tiny.config.vocab * tiny.config.width
    assert seen.table == table and seen.otherwise == tiny.weights.n_parameters + table
    assert seen.share == pytest.approx(table / tiny.weights.n_parameters)
    untied = trace_of("llama").model
    seen = tied.shared(untied)
    assert seen.total - seen.otherwise == seen.table == untied.weights.head.size


def test_a_fifth_of_smollm_is_its_table(smollm):
    seen = tied.shared(smollm)
    assert (seen.table, seen.total, seen.otherwise) == (28_311_552, 134_515_008, 162_826_560)
