"""Explanations: the same number again from its operands, and a falsified record is noticed."""

import numpy as np
import pytest

from core import RunSpec, run
from core.analyse.explain import explain
from core.model.axes import OP_AXES, VOCAB_OPS
from tests.conftest import SMOLLM
from tests.llama_ops import BLOCK_IDS, OP_IDS

IDS = (258, 273, 34, 264, 51, 52, 297, 298, 277, 40)
PROMPT = "When Mary and John went to the store, John gave a drink to"


class Falsified:
    """A trace whose record of one op is replaced by `change(value)`."""

    def __init__(self, trace, op, change):
        self._trace, self._op, self._change = trace, op, change

    def __getattr__(self, name):
        return getattr(self._trace, name)

    def read(self, op, layer=None):
        value = self._trace.read(op, layer)
        return self._change(value) if op == self._op else value

    def output(self, op, position=-1):
        value = self._trace.output(op, position)
        return self._change(value) if op == self._op else value


def cells(trace, op, layer, n):
    """Random indices of an op; those of the vocabulary are addressed by position and token."""
    rng = np.random.default_rng([layer or 0, list(OP_AXES).index(op)])
    if op in VOCAB_OPS:
        shape = (len(trace.ids), trace.config.vocab)
    else:
        shape = trace.read(op, layer).shape
    return [tuple(int(rng.integers(size)) for size in shape) for _ in range(n)]


def layers_of(op, layers):
    return layers if op in BLOCK_IDS else (None,)


@pytest.mark.parametrize("op", OP_IDS)
def test_every_op_explains_on_the_real_model(smollm, op):
    trace = run(RunSpec(SMOLLM, prompt=PROMPT))
    for layer in layers_of(op, (0, 11, 29)):
        for index in cells(trace, op, layer, 20):
            e = explain(trace, op, layer, index)
            assert e.equal, (op, layer, index, e.value, e.recorded)
            assert e.difference == 0 or abs(e.difference) <= e.tolerance


@pytest.mark.parametrize("op", OP_IDS)
def test_every_op_explains_on_the_tiny_model(tiny_name, op):
    trace = run(RunSpec(tiny_name, ids=IDS))
    for layer in layers_of(op, (0, 1)):
        for index in cells(trace, op, layer, 20):
            e = explain(trace, op, layer, index)
            assert e.equal, (op, layer, index, e.value, e.recorded)


@pytest.mark.parametrize("falsified", [5.0, 0.0, np.nan])
def test_a_masked_cell_holds_minus_infinity_and_nothing_else(tiny_name, falsified):
    trace = run(RunSpec(tiny_name, ids=IDS))
    e = explain(trace, "attn.masked", 0, (0, 2, 3))
    assert e.equal and e.value == e.recorded == -np.inf and e.difference == 0
    wrong = Falsified(trace, "attn.masked", lambda value: np.full_like(value, falsified))
    assert not explain(wrong, "attn.masked", 0, (0, 2, 3)).equal


def test_a_visible_cell_does_not_hold_minus_infinity(tiny_name):
    trace = run(RunSpec(tiny_name, ids=IDS))
    wrong = Falsified(trace, "mlp.out", lambda value: np.full_like(value, -np.inf))
    assert not explain(wrong, "mlp.out", 0, (1, 1)).equal


@pytest.mark.parametrize("op", OP_IDS)
def test_terms_make_the_total_and_steps_the_value(tiny_name, op):
    trace = run(RunSpec(tiny_name, ids=IDS))
    for index in [(3, 2), (4, 7), (9, 20)] if len(OP_AXES[op]) < 3 else [(3, 1, 2), (2, 1, 1)]:
        e = explain(trace, op, 1 if op in BLOCK_IDS else None, index)
        if not len(e.values):
            continue
        assert e.total == pytest.approx(e.values.sum())
        assert e.value == (e.steps[-1].result if e.steps else e.total)
        top = e.top(3)
        assert [abs(t.value) for t in top] == sorted((abs(t.value) for t in top), reverse=True)
        assert abs(top[0].value) == np.abs(e.values).max()
        assert sum(t.value for t in top) + e.rest(3) == pytest.approx(e.total)
        assert e.so_far()[:3] == pytest.approx(np.cumsum([t.value for t in top]))
        assert e.so_far()[-1] == pytest.approx(e.total) and len(e.so_far()) == len(e.values)


def test_keys_outside_a_window_leave_a_rest_of_exactly_nothing(trace_of):
    trace = trace_of("gemma2")  # its layer 0 sees 8 tokens
    e = explain(trace, "attn.weights", 0, (3, 60, 60))
    assert len(e.values) == 70 and e.rest(8) == 0 and e.total > 0


@pytest.mark.parametrize(
    "op", ["attn.q", "attn.scores", "attn.mix", "mlp.out", "attn.out", "logits"]
)
def test_operands_are_the_numbers_of_the_model(tiny_name, tiny, op):
    trace = run(RunSpec(tiny_name, ids=IDS))
    index = (3, 2) if op in ("mlp.out", "attn.out", "logits") else (3, 1, 2)
    e = explain(trace, op, 1 if op in BLOCK_IDS else None, index)
    for number in range(min(4, len(e.values))):
        term = e.term(number)
        assert term.value == pytest.approx(np.prod([o.value for o in term.operands]), rel=1e-6)
        for o in term.operands:
            source = trace.read(o.source, o.layer) if o.kind == "op" else None
            source = tiny.weights.get(o.source, o.layer) if o.kind == "weight" else source
            assert o.value == source[o.index]


def test_a_score_by_hand(tiny_name):
    trace = run(RunSpec(tiny_name, ids=IDS))
    # query head 3 reads key head 1; the sum is multiplied by 1 / sqrt(8)
    e = explain(trace, "attn.scores", 0, (3, 5, 2))
    q, k = trace.read("attn.q_rot", 0)[5, 3], trace.read("attn.k_rot", 0)[2, 1]
    assert e.total == pytest.approx(sum(float(a) * float(b) for a, b in zip(q, k, strict=True)))
    assert [(s.sign, s.value) for s in e.steps] == [("×", pytest.approx(8**-0.5))]
    assert e.value == pytest.approx(e.total * 8**-0.5)


def test_what_cannot_be_explained(tiny_name):
    trace = run(RunSpec(tiny_name, ids=IDS))
    for op, layer in [
        ("nothing", 0),
        ("mlp.out", None),
        ("mlp.out", 2),
        ("embed", 0),
        ("logits", 0),
    ]:
        with pytest.raises(KeyError):
            explain(trace, op, layer, (0, 0))
    for op, layer, index in [
        ("mlp.out", 0, (0, 32)),
        ("mlp.out", 0, (10, 0)),
        ("mlp.out", 0, (0, -1)),
        ("mlp.out", 0, (0,)),
        ("attn.weights", 0, (0, 0)),
        ("logits", None, (0, 299)),
        ("logits", None, (10, 0)),
        ("logits", None, (0,)),
    ]:
        with pytest.raises(IndexError):
            explain(trace, op, layer, index)
