"""One query among the keys: worked by hand on numbers of our own, and on runs of real models beside
explanations of single numbers, which are computed another way.
"""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from core import RunSpec, run
from core.analyse import attending, explain
from tests.core.conftest import EACH_FAMILY

INPUTS = {
    "attn.scores": ("q", "k"),
    "attn.softcap": ("attn.scores",),
    "attn.masked": ("attn.scores",),
    "attn.mix": ("attn.weights", "v"),
}


def by_hand(group=1, window=None, constant=None, **arrays):
    """A trace of one layer that holds these arrays and nothing else."""
    found = {name.replace("attn_", "attn."): np.float32(x) for name, x in arrays.items()}
    entries = {op: SimpleNamespace(id=op, inputs=names) for op, names in INPUTS.items()}
    return SimpleNamespace(
        catalogue=SimpleNamespace(op=lambda op, layer: entries[op]),
        config=SimpleNamespace(group=group, windows=(window,)),
        constants=lambda op, layer: (constant,),
        read=lambda op, layer: found[op],
    )


# --- by hand


def grouped(recorded):
    """Three tokens, four query heads, two KV heads: only head 3 and KV head 1 hold numbers."""
    q, k = np.zeros((3, 4, 2)), np.zeros((3, 2, 2))
    q[1, 3], k[:, 1] = (1, 2), [(3, 4), (0, -1), (2, 0)]
    scores = np.zeros((4, 3, 3))
    scores[3, 1] = recorded
    return by_hand(group=2, constant=0.5, q=q, k=k, attn_scores=scores)


def test_a_query_meets_every_key_of_the_head_it_reads():
    found = attending.compared(grouped((5.5, -1, 1)), 0, 3, 1)
    assert found.dots.tolist() == [11, -2, 2]
    assert found.scores.tolist() == [5.5, -1, 1] == found.recorded.tolist()
    assert found.agreement.equal and found.agreement.difference == 0
    one = attending.products(grouped((0, 0, 0)), 0, 3, 1, 0)
    assert one.products.tolist() == [[3, 8]] and one.total == 11
    assert attending.products(grouped((0, 0, 0)), 0, 3, 1, 1).products.tolist() == [[0, -2]]


def test_a_score_that_was_recorded_otherwise_is_found():
    # ½ · (|1·0| + |2·-1|) is what may be rounded: a hundred-thousandth of it is allowed
    for recorded, equal in ((-1 + 9e-6, True), (-1 + 1.2e-5, False)):
        found = attending.compared(grouped((5.5, recorded, 1)), 0, 3, 1)
        assert found.agreement.equal == equal
        assert found.agreement.difference == pytest.approx(recorded + 1, rel=0.02)
        assert found.agreement.tolerance == pytest.approx(1e-5)


@pytest.mark.parametrize(
    "row, difference",
    [((5, 7, -math.inf), 0), ((5, 7.5, -math.inf), 0.5), ((5, 7, 2), math.inf)]
    + [((-math.inf, 7, -math.inf), math.inf)],
)
def test_a_row_that_was_masked_otherwise_is_found(row, difference):
    before, after = np.zeros((1, 3, 3)), np.zeros((1, 3, 3))
    before[0, 1], after[0, 1] = (5, 7, 2), row
    found = attending.masked(by_hand(attn_scores=before, attn_masked=after), 0, 0, 1)
    assert found.agreement.difference == difference
    assert found.agreement.equal == (difference == 0)


def test_the_cap_by_hand():
    before = np.zeros((1, 2, 2))
    before[0, 1] = (0, 4)
    after = before * [[[1, math.tanh(2) / 2]]]
    found = attending.capped(by_hand(constant=2, attn_scores=before, attn_softcap=after), 0, 0, 1)
    assert found.cap == 2 and found.after == pytest.approx([0, 2 * math.tanh(2)])
    assert found.bent == pytest.approx([0, math.tanh(2)]) and found.agreement.equal


def softmaxed(*scores, recorded=None):
    masked, weights = np.zeros((1, 1, len(scores))), np.zeros((1, 1, len(scores)))
    masked[0, 0], weights[0, 0] = scores, recorded or np.exp(scores) / np.exp(scores).sum()
    return attending.softmax(by_hand(attn_masked=masked, attn_weights=weights), 0, 0, 0)


def test_the_softmax_by_hand():
    log, none = math.log, -math.inf
    found = softmaxed(log(2), log(6), none)
    assert (found.largest, found.at) == (pytest.approx(log(6)), 1)
    assert found.less_max == pytest.approx([-log(3), 0, none])
    assert found.powers == pytest.approx([1 / 3, 1, 0]) and found.total == pytest.approx(4 / 3)
    assert found.weights == pytest.approx([0.25, 0.75, 0]) and found.agreement.equal
    assert found.rest([0, 1]) == (pytest.approx(4 / 3), pytest.approx(1))
    assert (found.n_seen, found.n_masked) == (2, 1)
    assert softmaxed(0, -1e4, none).n_seen == 2  # seen, though its weight is no number above 0
    assert not found.parked
    wrong = softmaxed(log(2), log(6), none, recorded=(0.2501, 0.7499, 0)).agreement
    assert not wrong.equal and wrong.difference == pytest.approx(1e-4, rel=1e-2)
    assert not softmaxed(log(2), log(6), none, recorded=(0.25, 0.75, 1e-9)).agreement.equal


def test_a_first_token_that_takes_more_than_half():
    found = softmaxed(math.log(6), math.log(3), 0, -math.inf)
    assert found.parked and found.without_first[0, :3] == pytest.approx([0, 0.75, 0.25])
    assert np.isnan(found.without_first[0, 3]) and found.weights[0] == pytest.approx(0.6)
    assert not softmaxed(0, 0).parked  # half is not more than half
    alone = softmaxed(3.0, -math.inf)
    assert not alone.parked and alone.without_first[0, 0] == 0


def test_the_mix_by_hand():
    weights, values = np.zeros((2, 3, 3)), np.zeros((3, 1, 2))
    weights[1, 1, :2], values[:, 0] = 0.5, [(3, 0), (1, 4), (9, 9)]
    mix = np.zeros((3, 2, 2))
    mix[1, 1] = (2, 2)
    trace = by_hand(group=2, attn_weights=weights, v=values, attn_mix=mix)
    found = attending.mixed(trace, 0, 1, 1)  # of position 1: the third key is not there yet
    assert found.parts.tolist() == [[1.5, 0], [0.5, 2]] and found.total.tolist() == [2, 2]
    first, second = found.of(0), found.of(1)
    assert (first.weight, first.length, first.size, first.along) == (0.5, 3, 1.5, 3 / 8)
    assert second.length == pytest.approx(17**0.5) and second.along == 5 / 8
    both = found.all_of([0, 1])
    assert (both.weight, both.length, both.along) == (1, None, 1)
    assert both.size == pytest.approx(8**0.5) and found.limit == 2
    assert found.rows([1], [0]).tolist() == [[0.5, 2], [1.5, 0]]
    assert found.rows([1, 0]).tolist() == [[0.5, 2], [1.5, 0]]
    assert found.values_of([1]).tolist() == [[1, 4]]
    assert found.agreement.equal
    mix[1, 1] = (2, 2.001)
    wrong = by_hand(group=2, attn_weights=weights, v=values, attn_mix=mix)
    assert not attending.mixed(wrong, 0, 1, 1).agreement.equal


def test_the_order_keeps_equal_ones_as_they_came():
    assert attending.largest_first(np.array([1.0, 3, -5, 3, -np.inf])) == [1, 3, 0, 2, 4]


# --- on runs


@EACH_FAMILY
def test_every_row_of_every_family_is_found_again(case, trace_of):
    trace = trace_of(case)
    layers, heads = trace.config.n_layers, trace.config.n_heads
    for layer, head, position in ((0, 0, 0), (layers - 1, heads - 1, 41), (0, heads - 1, 69)):
        place = (trace, layer, head, position)
        found = [attending.compared(*place), attending.softmax(*place), attending.mixed(*place)]
        if "attn.softcap" in trace.catalogue.blocks[layer]:
            found.append(attending.capped(*place))
        assert all(each.agreement.equal for each in found)
        key = position // 2
        one = attending.products(*place, key)
        again = explain(trace, "attn.scores", layer, (head, position, key))
        assert one.products[0] == pytest.approx(again.values, rel=1e-6)
        assert one.total == pytest.approx(again.total)
        mixed, dim = found[2], 3
        again = explain(trace, "attn.mix", layer, (position, head, dim))
        assert mixed.parts[:, dim] == pytest.approx(again.values[: position + 1])
        assert mixed.all_of(range(position + 1)).along == pytest.approx(1)


@pytest.mark.parametrize("case, layer", [("llama", 1), ("mistral", 0), ("gemma2", 1)])
def test_what_is_seen_is_what_was_not_masked(case, layer, trace_of):
    trace = trace_of(case)
    window = trace.config.windows[layer]
    for position in (0, 7, 8, 20, 69):
        found = attending.masked(trace, layer, 1, position)
        gone = np.isneginf(found.after)
        assert [bool(found.why(key)) for key in range(70)] == gone.tolist()
        assert found.n_seen == (~gone).sum() == min(position + 1, window or 70)
        assert found.n_later == 69 - position
        assert (found.after[~gone] == found.before[~gone]).all()
        assert found.agreement.equal and found.agreement.difference == 0
        whys = [found.why(key) for key in range(70)]
        assert whys.count("later") == found.n_later and whys.count("outside") == found.first


def test_looking_is_not_fetching(smollm):
    """A head of SmolLM2 parks on the first token, whose value is short."""
    trace = run(RunSpec("smollm2-135m-instruct", prompt="The capital of France is"))
    assert attending.softmax(trace, 18, 7, 4).parked
    found = attending.mixed(trace, 18, 7, 4)
    assert found.of(0).length < 0.2 * min(found.of(key).length for key in range(1, 5))
    listening = attending.softmax(trace, 23, 4, 4)
    assert not listening.parked and attending.largest_first(listening.weights)[0] == 3
