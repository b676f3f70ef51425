"""Where a number was made: following operands back always ends at the table of the file."""

import numpy as np
import pytest

from core import RunSpec, run
from core.analyse import follow
from core.analyse.explain import explain
from core.model.axes import VOCAB_OPS
from tests.core.conftest import EACH_FAMILY, places
from tests.core.test_explain import IDS, cells


def value(trace, place):
    """The recorded number at a place."""
    if place.op in VOCAB_OPS:
        return trace.output(place.op, place.position)[place.column]
    return trace.read(place.op, place.layer)[place.index]


def doors(trace, e, at):
    """(operand, place) of every number of an explanation that an op made."""
    operands = [o for t in e.top(3) for o in t.operands]
    operands += [step.operand for step in e.steps if step.operand]
    for operand in operands:
        if place := follow.origin(operand, trace.config, at):
            yield operand, place


@EACH_FAMILY
def test_a_door_leads_to_the_very_number(case, trace_of):
    trace = trace_of(case)
    for op, layer in places(trace):
        index = cells(trace, op, layer, 1)[0]
        at = follow.place(trace.config, op, layer, index, head=1)
        assert (at.position, at.column) == position_and_column(op, index)
        found = list(doors(trace, explain(trace, op, layer, index), at))
        hidden = op == "attn.masked" and value(trace, at) == -np.inf
        assert found or hidden, op
        for operand, place in found:
            assert value(trace, place) == np.float32(operand.value), (op, place)


def position_and_column(op, index):
    at = 1 if op.split(".")[-1] in ("scores", "softcap", "masked", "weights") else 0
    return index[at], index[-1]


@EACH_FAMILY
def test_the_largest_operand_again_and_again_ends_at_the_table(case, trace_of):
    trace = trace_of(case)
    at, hops = follow.place(trace.config, "probs", None, (9, 5)), 0
    while at.page != "embedding":
        e = explain(trace, at.op, at.layer, at.index)
        ways = [(abs(o.value), place) for o, place in doors(trace, e, at)]
        at, hops = max(ways, key=lambda way: way[0])[1], hops + 1
        assert hops < 40
    assert at.op == "embed" and at.step is None and hops > 4


@pytest.mark.parametrize(
    "op, layer, index, head, expected",
    [
        ("attn.k_rot", 0, (5, 1, 3), 0, ("block", 2, 5, 3)),  # heads 2 and 3 read key head 1
        ("attn.k_rot", 0, (5, 1, 3), 3, ("block", 3, 5, 3)),
        ("attn.v", 1, (5, 0, 3), 2, ("block", 0, 5, 3)),
        ("attn.q", 1, (5, 3, 2), 0, ("block", 3, 5, 2)),
        ("attn.weights", 1, (2, 7, 4), 0, ("block", 2, 7, 4)),
        ("mlp.gate", 1, (6, 30), 1, ("block", 1, 6, 30)),
        ("embed", None, (6, 3), 1, ("block", 1, 6, 3)),
        ("final_norm", None, (6, 3), 1, ("output", 1, 6, 3)),
        ("probs", None, (6, 255), 1, ("output", 1, 6, 255)),
    ],
)
def test_where_a_number_stands(op, layer, index, head, expected, tiny_name):
    config = run(RunSpec(tiny_name, ids=IDS)).config
    at = follow.place(config, op, layer, index, head)
    assert (at.page, at.head, at.position, at.column) == expected
    assert at == follow.place(config, op, layer, index, 3 - head)  # whatever head is chosen there


def test_a_weight_and_a_constant_lead_nowhere_but_the_largest_of_a_row_does(tiny_name):
    trace = run(RunSpec(tiny_name, ids=IDS))
    at = follow.place(trace.config, "attn.weights", 1, (2, 7, 4))
    score, most = explain(trace, "attn.weights", 1, at.index).term(4).operands
    largest = follow.origin(most, trace.config, at)
    row = trace.read("attn.masked", 1)[2, 7]
    assert (largest.op, largest.index) == ("attn.masked", (2, 7, int(row.argmax())))
    assert follow.origin(score, trace.config, at).index == at.index
    turned = follow.place(trace.config, "attn.q_rot", 1, (7, 2, 3))
    number, cosine = explain(trace, "attn.q_rot", 1, turned.index).term(0).operands
    assert follow.origin(number, trace.config, turned).op == "attn.q"
    assert follow.origin(cosine, trace.config, turned) is None
    made = follow.place(trace.config, "mlp.up", 1, (7, 2))
    _, weight = explain(trace, "mlp.up", 1, made.index).term(0).operands
    assert follow.origin(weight, trace.config, made) is None
