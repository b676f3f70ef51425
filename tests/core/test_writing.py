"""What is added to the stream: worked by hand, beside the record, and layer by layer."""

import copy
from types import SimpleNamespace

import numpy as np
import pytest

from core import RunSpec, run
from core.analyse import writing
from core.analyse.writing import Written
from core.model.tap import Edit
from tests.conftest import SMOLLM
from tests.core.conftest import EACH_FAMILY, places


@pytest.fixture(scope="module")
def trace(smollm):
    return run(RunSpec(SMOLLM, prompt="The capital of France is"))


def rows(*values):
    return [np.array(x, np.float32) for x in values]


def test_lengths_and_directions_by_hand():
    made = Written(*rows([3, 4], [4, -3], [7, 1]))  # at a right angle
    assert [float(x) for x in made.lengths] == pytest.approx([5, 5, 50**0.5])
    assert made.ratio == 1 and made.along == 0
    assert made.kept == pytest.approx(0.5**0.5)
    assert Written(*rows([0, 2], [0, -1], [0, 1])).along == -1
    assert made.most_changed(1) == [0] and made.n_equal == 2 and made.agreement.equal


def test_beside_nothing_there_is_no_ratio_and_no_angle():
    made = Written(*rows([0, 0], [1, 0], [1, 0]))
    assert np.isnan([made.ratio, made.along, made.kept]).all()


def test_a_sum_that_does_not_hold_is_counted():
    made = Written(*rows([1, 2, 3], [1, 1, 1], [2, 3.5, 4]))
    assert made.n_equal == 2 and made.agreement.difference == 0.5


@EACH_FAMILY
def test_every_addition_of_a_family_is_exact(case, trace_of):
    trace, found = trace_of(case), []
    for op, layer in places(trace):
        if trace.catalogue.op(op, layer).kind in ("sum", "position"):
            every = writing.of_all(trace, op, layer)
            assert every.n_equal == every.after.size and every.agreement.equal, (op, layer)
            one = writing.of_row(trace, op, layer, 3)
            assert np.array_equal(one.change, every.change[3]) and one.change.any()
            assert one.ratio == pytest.approx(every.ratio[3])
            found.append(op)
    assert found.count("resid_mid") == found.count("resid_post") == trace.config.n_layers
    assert found.count("pos_embed") == trace.config.learned_positions


def test_parts_by_hand():
    stream = np.array([[[2, 0]], [[2, 1]], [[1, 1]]], np.float32)  # + (0, 1), then − (1, 0)
    start, first, second = writing.parts(SimpleNamespace(stream=stream), 2, 0)
    assert [part.layer for part in (start, first, second)] == [None, 0, 1]
    assert [part.length for part in (start, first, second)] == [2, 1, 1]
    assert [part.share for part in (start, first, second)] == pytest.approx([1, 0.5, -0.5])
    (alone,) = writing.parts(SimpleNamespace(stream=stream), 0, 0)
    assert (alone.layer, alone.length, alone.share) == (None, 2, 1)
    gone = writing.parts(SimpleNamespace(stream=stream - stream[-1]), 2, 0)
    assert [part.share for part in gone] == [0, 0, 0]


def test_parts_are_what_attention_and_mlp_added(trace):
    found = writing.parts(trace, 9, 4)
    added = [
        trace.read("attn.out", n)[4].astype(float) + trace.read("mlp.out", n)[4] for n in range(9)
    ]
    assert [part.length for part in found[1:]] == pytest.approx(
        [np.linalg.norm(x) for x in added], rel=1e-4
    )
    here = trace.read("resid_pre", 9)[4].astype(float)
    shares = [x @ here / (here @ here) for x in added]
    assert [part.share for part in found[1:]] == pytest.approx(shares, abs=1e-5)
    assert sum(part.share for part in found) == pytest.approx(1)


def test_a_layer_run_again_is_the_difference_of_two_streams(trace):
    for layer in (0, 11, 29):  # in layer 11 the first row becomes 170 times as long
        for position in (0, 4):
            found = writing.again(trace, layer, position)
            assert found.agreement.equal and found.layer == layer
            for length, op in ((found.attention, "attn.out"), (found.mlp, "mlp.out")):
                out = trace.read(op, layer)[position].astype(float)
                assert length == pytest.approx(np.linalg.norm(out))
    other = copy.copy(trace)
    other.stream = trace.stream.copy()
    other.stream[12, 4, 7] += 1e-5
    right, wrong = (writing.again(each, 11, 4).agreement for each in (trace, other))
    assert right.equal and not wrong.equal


def test_how_a_stream_has_grown(trace):
    found = writing.grown(trace, 20)
    start, here = (x.astype(float) for x in (trace.read("embed"), trace.read("resid_pre", 20)))
    assert found.start == pytest.approx(np.sqrt((start**2).sum(-1)))
    assert found.here == pytest.approx(np.sqrt((here**2).sum(-1)))
    assert found.kept == pytest.approx((start * here).sum(-1) / found.start / found.here)
    assert writing.grown(trace, 0).kept == pytest.approx(1)


def test_a_row_is_that_of_the_table(trace):
    found = writing.looked_up(trace, 3)
    row = trace.model.weights.embed[trace.ids[3]].astype(float)
    assert (found.id, found.n, found.n_equal) == (trace.ids[3], 576, 576)
    assert found.length == pytest.approx(np.linalg.norm(row)) and found.agreement.equal


def test_an_edited_row_is_not(trace):
    spec = RunSpec(SMOLLM, prompt="The capital of France is", edits=(Edit("embed", position=3),))
    found, row = writing.looked_up(run(spec), 3), trace.read("embed")[3]
    assert found.n_equal == (row == 0).sum() < 10
    assert found.agreement.difference == np.abs(row).max() and not found.agreement.equal


def test_a_scaled_row(trace_of):
    trace = trace_of("gemma2")
    before, after = writing.scaled(trace, "embed_scaled", 5)
    assert after / before == pytest.approx(trace.config.embed_scale, rel=1e-6)
