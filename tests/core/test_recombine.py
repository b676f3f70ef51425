"""The promise of "explain this number": whoever takes the operands that are shown, and the formula
of the op, comes to the number that the run recorded. Every op, three layers, twenty cells.

Recombines by itself, with sums that do not round; takes nothing from explain but its operands.
"""

import math

import numpy as np
import pytest

from core import RunSpec, run
from core.analyse.explain import explain
from core.model.axes import VOCAB_OPS, is_layer_op
from core.record.catalogue import catalogue_of
from tests.conftest import SMOLLM
from tests.core.conftest import EACH_CASE, places
from tests.core.test_explain import PROMPT, cells

CLOSE = 1e-5


def products(e):
    """(the sum of the products of every term's operands, the sum of their magnitudes)."""
    made = [math.prod(o.value for o in e.term(j).operands) for j in range(len(e.values))]
    return math.fsum(made), math.fsum(map(abs, made))


def of_step(e, name):
    """The operand of a step behind the sum."""
    return next(step.operand.value for step in e.steps if step.name == name)


def firsts(e):
    return [e.term(j).operands[0].value for j in range(len(e.values))]


# Each takes an explanation, the config, and the own number's place in the row; gives the number and
# what 1e-5 is of, where that is not the number itself.


def handed_on(e, c):
    (value,) = firsts(e)
    return value, 0


def summed(e, c):
    values = firsts(e)
    return math.fsum(values), math.fsum(map(abs, values))


def dot(e, c):
    total, size = products(e)
    bias = of_step(e, "bias") if e.steps else 0
    return total + bias, size + abs(bias)


def score(e, c):
    total, size = products(e)
    return total * c.score_scale, size * c.score_scale


def rms_norm(e, c):
    row = firsts(e)
    scale = 1 / math.sqrt(math.fsum(x * x for x in row) / len(row) + c.norm_eps)
    return of_step(e, "own") * scale * of_step(e, "weight"), 0


def layer_norm(e, c):
    row = firsts(e)
    mean = math.fsum(row) / len(row)
    scale = 1 / math.sqrt(math.fsum((x - mean) ** 2 for x in row) / len(row) + c.norm_eps)
    made = (of_step(e, "own_start") - mean) * scale * of_step(e, "weight")
    size = math.fsum(map(abs, row)) / len(row) * scale * abs(of_step(e, "weight"))
    return made + of_step(e, "bias"), size + abs(made) + abs(of_step(e, "bias"))


def shared(row, own):
    """The softmax of one number among those of its row."""
    largest = max(row)
    return math.exp(own - largest) / math.fsum(math.exp(x - largest) for x in row)


def softmax(e, c):
    return shared(firsts(e), of_step(e, "own_start")), 0


def softcap(e, c):
    cap = c.logit_softcap if e.op in VOCAB_OPS else c.attn_softcap
    return cap * math.tanh(*(x / cap for x in firsts(e))), 0


def mask(e, c):
    _, query, key = e.index
    window = c.windows[e.layer]
    visible = key <= query and (window is None or key > query - window)
    return (handed_on(e, c)[0], 0) if visible else (-math.inf, 0)


def of_one(function):
    return lambda e, c: (function(*firsts(e)), 0)


def normal_cdf(x):
    return math.erfc(-x / math.sqrt(2)) / 2


RECOMBINE = {
    "row": handed_on,
    "copy": handed_on,
    "times": lambda e, c: (firsts(e)[0] * c.embed_scale, 0),
    "position": summed,
    "sum": summed,
    "dot": dot,
    "mix": dot,
    "product": dot,
    "rotate": lambda e, c: products(e) if len(e.values) > 1 else handed_on(e, c),
    "score": score,
    "norm": rms_norm,
    "norm_all_heads": rms_norm,
    "layer_norm": layer_norm,
    "softmax": softmax,
    "softcap": softcap,
    "mask": mask,
    "silu": of_one(lambda x: x / (1 + math.exp(-x))),
    "gelu_erf": of_one(lambda x: x * normal_cdf(x)),
    "gelu_tanh": of_one(
        lambda x: x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2
    ),
}


def recorded(trace, op, layer, index):
    if op in VOCAB_OPS:
        return float(trace.output(op, index[0])[index[1]])
    return float(trace.read(op, layer)[index])


def assert_recombines(trace, op, layer, index):
    e = explain(trace, op, layer, index)
    value, size = RECOMBINE[e.kind](e, trace.config)
    expected = recorded(trace, op, layer, index)
    allowed = CLOSE * (size or abs(expected)) + 1e-36
    assert value == expected or abs(value - expected) <= allowed, (op, layer, index, e.kind)


@pytest.mark.parametrize("name", [SMOLLM, "nano"])
def test_the_operands_make_the_recorded_number(name, smollm):
    trace = run(RunSpec(name, prompt=PROMPT if name == SMOLLM else "the red fox sleeps in"))
    last = trace.config.n_layers - 1
    for op in catalogue_of(trace.config).ids:
        for layer in (0, last // 2, last) if is_layer_op(op) else (None,):
            if op == "probs":
                continue  # below
            for index in cells(trace, op, layer, 20):
                assert_recombines(trace, op, layer, index)


@pytest.mark.parametrize("name", [SMOLLM, "nano"])
def test_the_scores_of_all_tokens_make_a_probability(name, smollm):
    """Every token's explanation lists the same row: listed whole for the first, then by samples."""
    trace, row = run(RunSpec(name, prompt=PROMPT if name == SMOLLM else "the red fox")), None
    pick = np.random.default_rng(5)
    for token in pick.integers(0, trace.config.vocab, 20):
        e = explain(trace, "probs", None, (2, token))
        row = row or firsts(e)
        for j in pick.integers(0, trace.config.vocab, 50):
            assert e.term(j).operands[0].value == row[j]
        expected = recorded(trace, "probs", None, (2, token))
        assert shared(row, of_step(e, "own_start")) == pytest.approx(expected, rel=CLOSE)


@EACH_CASE
def test_the_operands_of_every_family_do(case, trace_of):
    trace = trace_of(case)
    for op, layer in places(trace):
        for index in cells(trace, op, layer, 2):
            assert_recombines(trace, op, layer, index)
