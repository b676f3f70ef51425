"""Which neurons wrote a logit: against vectors made one by one, against the MLP as a whole, for
every family; and which tokens a neuron promotes.
"""

from dataclasses import replace

import numpy as np

from core import RunSpec, run
from core.analyse import promoted
from core.analyse.attribution import AVERAGE, attribution
from core.analyse.promoted import Neurons, Promoted, neurons
from core.analyse.shares import hidden_op
from tests.conftest import SMOLLM
from tests.core.conftest import EACH_CASE
from tests.core.test_attribution import GIVING, PLACES, centred, root_mean_square

ADDED = np.array([[1.0, -5.0, 0.0], [2.0, 0.5, -0.5]])
BY_HAND = Neurons(
    added=ADDED,
    per_unit=ADDED,
    active=np.ones((2, 3), np.float32),
    biases=np.array([0.25, 0.0]),
    written=np.array([-3.75, 2.0]),
    stream=np.zeros(2),
)


def test_by_hand():
    assert BY_HAND.largest(3) == [(0, 1), (1, 0), (0, 0)]
    assert BY_HAND.largest(2, layer=1) == [(1, 0), (1, 1)] and len(BY_HAND.largest(99)) == 6
    assert BY_HAND.holding(0.5) == 1 and BY_HAND.holding(0.75) == 2  # 5 and 7 of 9
    assert BY_HAND.share_holding(0.5) == 1 / 6
    assert BY_HAND.total() == -2 and BY_HAND.total(0) == -4
    assert BY_HAND.parted([(0, 1), (1, 0)]) == (-3, 1)
    assert BY_HAND.parted([(1, 0)], layer=1) == (2, 0) and BY_HAND.parted([]) == (0, -2)
    assert BY_HAND.agreement(0).equal and BY_HAND.agreement(1).equal
    off = replace(BY_HAND, written=np.array([-3.751, 2.0]))
    assert not off.agreement(0).equal and off.agreement(1).equal


def test_a_negative_strength_turns_what_is_promoted_round():
    said = Promoted([(2, 3.0), (0, 1.0)], [(1, -4.0), (3, -0.5)], np.float32([1, -4, 3, -0.5]))
    less = said.times(-2.0)
    assert less.up == [(1, 8.0), (3, 1.0)] and less.down == [(2, -6.0), (0, -2.0)]
    assert less.scores.tolist() == [-2, 8, -6, 1] and (said.largest, less.largest) == (4, 8)
    assert [less.rank(id) for id in range(4)] == [said.rank(id) for id in range(4)] == [2, 1, 1, 2]
    assert said.times(0.5).up == [(2, 1.5), (0, 0.5)]


@EACH_CASE
def test_neurons_sum_to_what_the_mlp_changed(case, trace_of):
    trace = trace_of(case)
    for position in PLACES:
        for against in (None, AVERAGE, 7):
            found = neurons(trace, 3, against, position)
            whole = attribution(trace, 3, against, position)
            np.testing.assert_array_equal(found.written, whole.mlps)
            off = np.abs(found.added.sum(axis=1) + found.biases - whole.mlps)
            assert off.max() < 5e-6 and all(
                map(lambda n: found.agreement(n).equal, range(len(off)))
            )


@EACH_CASE
def test_each_neuron_is_its_own_vector_through_the_norms(case, trace_of):
    trace, position, token = trace_of(case), 40, 11
    w, c, found = trace.model.weights, trace.config, neurons(trace, 11, None, 40)
    last = centred(trace.stream[-1, position].astype(float), c)
    for layer, own in enumerate(w.layers):
        active = trace.read(hidden_op(trace, layer), layer)[position].astype(float)
        vectors = (own.mlp_out.astype(float) * active).T  # [neuron, embedding]
        if c.norm_place != "before":
            out = trace.read("mlp.out", layer)[position].astype(float)
            vectors = vectors * own.mlp_post_norm / root_mean_square(out, c)
        vectors = centred(vectors, c) / root_mean_square(last, c) * w.final_norm
        np.testing.assert_allclose(found.added[layer], vectors @ w.head[token], atol=2e-6)
        assert promoted.as_recorded(found, trace, layer, 7, position).equal


@EACH_CASE
def test_what_is_promoted_is_what_a_unit_adds_but_for_the_scale(case, trace_of):
    trace, layer, neuron, position = trace_of(case), 1, 5, 40
    said = promoted.promoted(trace.model, layer, neuron, 4)
    scale = attribution(trace, 0, None, position).divisor
    if trace.config.norm_place != "before":
        out = trace.read("mlp.out", layer)[position].astype(float)
        scale *= root_mean_square(out, trace.config)
    units = [
        neurons(trace, token, None, position).per_unit[layer, neuron]
        for token in range(trace.config.vocab)
    ]
    np.testing.assert_allclose(said.scores, np.array(units) * scale, atol=1e-5)
    order = np.argsort(units)
    assert {id for id, _ in said.up} == {*order[-4:].tolist()}
    assert {id for id, _ in said.down} == {*order[:4].tolist()}
    assert [score for _, score in said.up] == sorted(said.scores, reverse=True)[:4]
    assert said.rank(said.up[2][0]) == 3 and said.rank(said.down[1][0]) == 2
    found = neurons(trace, 9, None, position)
    added = said.scores[9] * promoted.strength(found, trace, layer, neuron, position)
    np.testing.assert_allclose(added, found.added[layer, neuron], rtol=1e-3, atol=1e-8)


def test_an_activation_that_is_off_is_said_to_be(trace_of):
    trace = trace_of("llama")
    found = neurons(trace, 3, None, 40)
    wrong = replace(found, active=found.active + np.float32(1e-3))
    assert not promoted.as_recorded(wrong, trace, 1, 7, 40).equal


def test_of_the_model_that_is_shipped(smollm):
    """A neuron that reads like a list of words, and writes against Mary: it is negative here."""
    trace = run(RunSpec(SMOLLM, prompt=GIVING))
    found = neurons(trace, smollm.tokenizer.encode(" Mary")[0], AVERAGE)
    assert found.largest(1) == [(29, 573)] and found.active[29, 573] < 0 > found.added[29, 573]
    up = promoted.promoted(smollm, 29, 573).up
    assert [smollm.tokenizer.display(id) for id, _ in up][:2] == ["␣woman", "␣women"]
    for position in range(len(trace.ids)):  # where few numbers of the stream are huge, too
        found = neurons(trace, 0, None, position)
        assert all(found.agreement(layer).equal for layer in range(30))
