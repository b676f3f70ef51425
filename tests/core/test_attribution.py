"""Who wrote a logit: the parts against vectors made one by one, their sum against the record, for
every family; and one position run through all layers against the run of the whole text.
"""

from dataclasses import replace

import numpy as np
import pytest

from core import RunSpec, run
from core.analyse.attribution import AVERAGE, Attribution, Part, attribution
from core.analyse.shares import hidden_op
from core.analyse.through import through
from core.model.tap import Edit
from tests.conftest import SMOLLM
from tests.core.conftest import EACH_CASE, EACH_FAMILY, IDS

BY_HAND = Attribution(
    token=5,
    against=None,
    embedding=1.0,
    heads=np.array([[2.0, -4.0], [0.5, 0.25]]),
    biases=np.array([0.0, 0.125]),
    mlps=np.array([3.0, -1.0]),
    norm=0.5,
    recorded=2.375,
    divisor=2.0,
)
PLACES = (0, 1, 40, len(IDS) - 1)
GIVING = "When Mary and John went to the store, John gave a drink to"


def test_by_hand():
    assert BY_HAND.total == 2.375 and BY_HAND.remainder == 0
    assert BY_HAND.layers.tolist() == [[-2, 3], [0.875, -1]]
    assert BY_HAND.so_far.tolist() == [1.5, -0.5, 2.5, 3.375, 2.375]
    assert BY_HAND.steps.tolist() == [1.5, -2, 3, 0.875, -1]
    sums = {"embedding": 1.0, "heads": -1.25, "biases": 0.125, "mlps": 2.0, "norm": 0.5}
    assert BY_HAND.sums == sums and sum(sums.values()) == BY_HAND.total
    assert BY_HAND.largest_head() == Part("head", 0, 1, -4.0)
    assert BY_HAND.largest_head(1) == Part("head", 1, 0, 0.5)
    assert BY_HAND.picture.tolist() == [[2, 0.5], [-4, 0.25], [3, -1]]
    assert [(p.kind, p.layer, p.head) for p in BY_HAND.largest(3)] == [
        ("head", 0, 1),
        ("mlp", 0, None),
        ("head", 0, 0),
    ]
    assert len(BY_HAND.parts) == 9  # a bias of 0 is no part
    assert BY_HAND.part("bias", 1) == Part("bias", 1, None, 0.125)
    assert sum(part.value for part in BY_HAND.parts) == BY_HAND.total


def test_a_sum_that_is_off_is_said_to_be():
    assert BY_HAND.agreement.equal
    assert not replace(BY_HAND, recorded=2.375 + 2e-4).agreement.equal
    assert BY_HAND.agreement.tolerance == pytest.approx(1e-5 * 12.375)  # of the sizes


@EACH_CASE
def test_parts_sum_to_the_logit(case, trace_of):
    trace = trace_of(case)
    for position in PLACES:
        logits = trace.output("logits", position).astype(float)
        for against, less in ((None, 0), (AVERAGE, logits.mean()), (7, logits[7])):
            found = attribution(trace, 3, against, position)
            size = sum(abs(part.value) for part in found.parts)
            assert found.recorded == pytest.approx(logits[3] - less, abs=1e-12)
            assert abs(found.remainder) < 1e-6 * size and found.agreement.equal


def root_mean_square(x, config):
    return np.sqrt(np.mean(x * x) + config.norm_eps)


def centred(x, config):
    return x - x.mean(axis=-1, keepdims=True) if config.norm == "layer" else x


def written(trace, layer, position):
    """The vector of each head, and of the whole MLP, as they reach the stream: one by one."""
    w, c = trace.model.weights.layers[layer], trace.config
    mix = trace.read("attn.mix", layer)[position].astype(float)
    slices = np.split(w.attn_out.astype(float), c.n_heads, axis=1)
    heads = np.array([part @ fetched for part, fetched in zip(slices, mix, strict=True)])
    if c.norm_place == "before":
        return heads, trace.read("mlp.out", layer)[position].astype(float)
    out = trace.read("attn.out", layer)[position].astype(float)
    heads = heads * w.attn_post_norm / root_mean_square(out, c)
    return heads, trace.read("mlp.post_norm", layer)[position].astype(float)


@EACH_CASE
def test_each_part_is_its_own_vector_through_the_last_norm(case, trace_of):
    trace, position, token = trace_of(case), 40, 11
    w, c, found = trace.model.weights, trace.config, attribution(trace, 11, None, 40)
    last = centred(trace.stream[-1, position].astype(float), c)

    def logit(vector):
        return centred(vector, c) / root_mean_square(last, c) * w.final_norm @ w.head[token]

    for layer in range(c.n_layers):
        heads, mlp = written(trace, layer, position)
        np.testing.assert_allclose(found.heads[layer], logit(heads), atol=3e-6)
        np.testing.assert_allclose(found.mlps[layer], logit(mlp), atol=3e-6)
    first = trace.stream[0, position].astype(float)
    assert found.embedding == pytest.approx(logit(first), abs=1e-9)


@EACH_FAMILY
def test_above_the_average_is_a_part_less_its_mean_over_all_tokens(case, trace_of):
    trace = trace_of(case)
    every = [attribution(trace, token, None, 40) for token in range(trace.config.vocab)]
    above = attribution(trace, 11, AVERAGE, 40)
    for name in ("heads", "mlps", "biases", "embedding", "norm"):
        values = np.array([getattr(each, name) for each in every])
        wanted = values[11] - values.mean(axis=0)
        np.testing.assert_allclose(getattr(above, name), wanted, atol=1e-9)


@EACH_CASE
def test_one_position_goes_through_all_layers_as_the_whole_text_did(case, trace_of):
    trace = trace_of(case)
    for position in PLACES:
        way = through(trace, position)
        for layer in range(trace.config.n_layers):
            for op, row in (
                ("attn.mix", way.mix),
                ("resid_mid", way.mid),
                (hidden_op(trace, layer), way.hidden),
            ):
                whole = trace.read(op, layer)[position]
                off = np.abs(row[layer] - whole).max()
                assert off < 1e-5 * max(1, np.abs(whole).max()), (op, layer, position)
            maps = trace.read("attn.weights", layer)[:, position, : position + 1]
            np.testing.assert_allclose(way.weights[layer], maps, atol=1e-5)
            key, weight = way.looked_at(layer, 2)
            assert key == maps[2].argmax() and weight == way.weights[layer, 2, key]
        assert not any(array.flags.writeable for array in vars(way).values())


def test_what_was_edited_is_taken_apart_as_it_ran(trace_of):
    trace = trace_of("llama", edits=(Edit("attn.mix", layer=1, head=2),))
    plain, found = attribution(trace_of("llama"), 3), attribution(trace, 3)
    assert plain.heads[1, 2] != 0 and found.heads[1, 2] == 0
    assert found.agreement.equal and found.recorded != plain.recorded


def test_of_the_model_that_is_shipped(smollm):
    """Heads that a reader meets: one carries the answer, one looks at it and writes against it."""
    paris, mary, john = (
        smollm.tokenizer.encode(f" {word}")[0] for word in ("Paris", "Mary", "John")
    )
    fact = run(RunSpec(SMOLLM, prompt="The capital of France is"))
    assert attribution(fact, paris).heads[23, 4] == pytest.approx(2.824, abs=5e-4)
    key, weight = through(fact, 4).looked_at(23, 4)
    assert fact.tokens[key] == "␣France" and weight == pytest.approx(0.903, abs=5e-4)
    giving = run(RunSpec(SMOLLM, prompt=GIVING))
    assert attribution(giving, mary).heads[24, 4] == pytest.approx(-1.31, abs=5e-3)
    assert attribution(giving, john).heads[24, 4] == pytest.approx(-0.24, abs=5e-3)


@pytest.mark.parametrize("position", range(5))
def test_where_the_stream_is_huge_the_sum_still_holds(smollm, position):
    """The first token's row grows a hundredfold on the way, and is taken back."""
    trace = run(RunSpec(SMOLLM, prompt="The capital of France is"))
    for token in (0, 7042):
        assert attribution(trace, token, None, position).agreement.equal


def test_of_a_single_token(trace_of, name_of):
    trace = run(RunSpec(name_of("llama"), ids=IDS[:1]))
    assert attribution(trace, 3).agreement.equal
    assert through(trace, 0).weights.tolist() == [[[1.0]] * 4] * 2
