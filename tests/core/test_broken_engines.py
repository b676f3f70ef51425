"""Which mistake makes which nonsense, which prompt catches it, and what `compare` says about it.

An engine with one mistake runs five prompts. The top token and its probability are those that an
independent pass over the same file gave. " Paris" proves nothing: with half of the mistakes it is
still there. `compare` is then given the broken engine's values and must name the op and the cause.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest

from core import RunSpec, run
from core.model import ops
from tests.conftest import SMOLLM
from tests.other_engine import judged, same, values

PROMPTS = (
    "The capital of France is",
    "1 2 3 4 5 6 7 ",
    "Blick Fazo Trun Mip. Blick Fazo Trun",
    "When Mary and John went to the store, John gave a drink to",
    "The chemical symbol for gold is",
)
RIGHT = ((" Paris", 0.773), ("8", 0.961), (" M", 0.185), (" Mary", 0.923), (" Au", 0.958))
DOCUMENT = Path(__file__).parents[2] / "docs/compare.md"
TILED = np.arange(9) % 3  # the key/value head that each of 9 query heads would wrongly read


def interleaved(weight, n_heads):
    """Rows of Q or K as the GGUF file has them: the halves of each head in turns."""
    rows = weight.reshape(n_heads, 2, -1, weight.shape[-1])
    return rows.swapaxes(1, 2).reshape(weight.shape)


def in_layers(weights, **change):
    """Weights with some of each layer made anew: name -> function of the layer."""
    layers = [replace(w, **{k: make(w) for k, make in change.items()}) for w in weights.layers]
    return replace(weights, layers=tuple(layers))


def ones(weights):
    norms = {name: lambda w: np.ones_like(w.attn_norm) for name in ("attn_norm", "mlp_norm")}
    return replace(in_layers(weights, **norms), final_norm=np.ones_like(weights.final_norm))


def swapped(weights):
    return in_layers(weights, mlp_gate=lambda w: w.mlp_up, mlp_up=lambda w: w.mlp_gate)


def permuted(weights):
    return in_layers(
        weights,
        attn_q=lambda w: interleaved(w.attn_q, 9),
        attn_k=lambda w: interleaved(w.attn_k, 3),
    )


@dataclass(frozen=True)
class Bug:
    """A mistake and what comes of it.

    Attributes:
        tops: the top token and its probability, prompt by prompt; None: nonsense.
        op: the first that differs, in layer 0. cause: words of what compare says.
        errors: the largest error of the logits, prompt by prompt.
        weights, config, changed: how the mistake is made.
    """

    tops: tuple
    op: str
    cause: str
    errors: tuple = ()
    weights: Callable = same
    config: Callable = same
    changed: dict = field(default_factory=dict)


def theta(c, value):
    return replace(c, ropes=tuple(replace(rope, theta=value) for rope in c.ropes))


PARIS, EIGHT, M, MARY, AU = (text for text, _ in RIGHT)
BUGS = {
    "no RoPE": Bug(
        ((PARIS, 0.273), ("2", 0.215), ("n", 0.210), (" the", 0.230), (" a", 0.090)),
        "attn.q_rot",
        "no rotation",
        (9.70,),
        changed={"rotate": lambda x, cos, sin: x},
    ),
    "Q and K not un-permuted": Bug(
        ((PARIS, 0.721), ("2", 0.233), (".", 0.074), (" John", 0.133), (" ", 0.236)),
        "attn.q",
        "un-permuted",
        (6.01,),
        weights=permuted,
    ),
    "theta 10,000": Bug(  # no prompt catches it by its top token
        ((PARIS, 0.753), (EIGHT, 0.978), (M, 0.243), (MARY, 0.936), (AU, 0.935)),
        "attn.q_rot",
        "theta is 10000, not 100000",
        (0.79, 3.58, 1.32, 1.92, 1.48),
        config=lambda c: theta(c, 10_000.0),
    ),
    "eps 1e-3": Bug(
        ((PARIS, 0.823), (EIGHT, 0.961), (M, 0.178), (MARY, 0.936), (AU, 0.958)),
        "attn_norm",
        "epsilon of the norm is 0.001, not 1e-05",
        (1.19, 0.25),
        config=lambda c: replace(c, norm_eps=1e-3),
    ),
    "eps 1e-6": Bug(  # invisible in any text
        RIGHT,
        "attn_norm",
        "epsilon of the norm is 1e-06, not 1e-05",
        (0.01, 0.00),
        config=lambda c: replace(c, norm_eps=1e-6),
    ),
    "no mask": Bug(
        (("_", 0.026), (EIGHT, 0.583), (M, 0.630), (MARY, 0.750), (" wis", 0.010)),
        "attn.masked",
        "no mask",
        (16.56,),
        changed={"mask": lambda scores, window=None: scores},
    ),
    "no 1/sqrt(d)": Bug(
        ((" the", 0.201), ("2", 0.187), (M, 0.567), (" the", 0.349), (" not", 0.167)),
        "attn.scores",
        "not multiplied by 1/sqrt(head_dim)",
        config=lambda c: replace(c, score_scale=1.0),
    ),
    "KV head h % 3": Bug(
        (('."', 0.140), (" building", 0.006), (" more", 0.105), (" the", 0.540), (" top", 0.284)),
        "attn.scores",
        "h % 3, not h // 3",
        changed={
            "scores": lambda q, k, s, own=ops.scores: own(q, k[:, TILED], s),
            "mix": lambda a, v, own=ops.mix: own(a, v[:, TILED]),
        },
    ),
    "norm weight forgotten": Bug(
        (None,) * 5, "attn_norm", "weight of the norm was forgotten", weights=ones
    ),
    "gate and up swapped": Bug((None,) * 5, "mlp.gate", "gate and up are swapped", weights=swapped),
}


def engine(model, ids, bug, rounded=same):
    return values(model, ids, bug.weights, bug.config, bug.changed, rounded)


@pytest.fixture(scope="module")
def traces(smollm):
    return [run(RunSpec(SMOLLM, prompt=prompt)) for prompt in PROMPTS]


@pytest.mark.parametrize("name", BUGS)
def test_what_five_prompts_say_with_the_bug(smollm, traces, name):
    made = BUGS[name].weights(smollm.weights)
    bug = replace(BUGS[name], weights=lambda _: made)  # made once for five prompts
    for n, (trace, wanted, right) in enumerate(zip(traces, bug.tops, RIGHT, strict=True)):
        logits = engine(smollm, trace.ids, bug)["logits"]
        top = smollm.tokenizer.decode([int(logits.argmax())])
        if wanted is None:
            assert top != right[0]
        else:
            assert (top, ops.softmax(logits).max()) == (
                wanted[0],
                pytest.approx(wanted[1], abs=2e-3),
            )
        if n < len(bug.errors):
            far = np.abs(logits - trace.logits()).max()
            assert far == pytest.approx(bug.errors[n], abs=0.006)


def cell(top):
    """A top token as the table of docs/compare.md has it."""
    if top is None:
        return "nonsense"
    text, p = top
    return f"`{text.replace(' ', '␣')}` {p:.3f}".replace("0.", ".")


@pytest.mark.parametrize("name", BUGS)
def test_the_document_has_the_same_table(name):
    bug = BUGS[name]
    row = f"| {name} | `{bug.op}` | {' | '.join(map(cell, bug.tops))} |"
    assert row in DOCUMENT.read_text("utf-8").splitlines()


@pytest.mark.parametrize("name", BUGS)
def test_compare_names_the_op_and_the_mistake(smollm, traces, name):
    bug = BUGS[name]
    result = judged(traces[0], engine(smollm, traces[0].ids, bug))
    assert (result.first.op, result.first.layer) == (bug.op, 0)
    assert bug.cause in result.causes[0].text and len(result.causes) == 1
    assert result.between == [] and result.read


def test_the_right_engine_agrees(smollm, traces):
    result = judged(traces[1], values(smollm, traces[1].ids))
    assert result.first is None and {row.verdict for row in result.rows} == {"agrees"}
    assert len(result.rows) == 603


def test_the_outputs_of_the_blocks_are_enough(smollm, traces):
    theirs = engine(smollm, traces[0].ids, BUGS["theta 10,000"])
    result = judged(traces[0], {k: v for k, v in theirs.items() if k.endswith("resid_post")})
    assert (result.first.op, result.first.layer) == ("resid_post", 0)
    assert [cause.text for cause in result.causes] == [BUGS["theta 10,000"].cause]


def bfloat16(x):
    """The nearest bfloat16 numbers (ties away from zero), as float32."""
    bits = np.ascontiguousarray(x).view(np.uint32)
    return ((bits + 0x8000) & 0xFFFF0000).view(np.float32).reshape(x.shape)


@pytest.mark.parametrize(("name", "told"), [("theta 10,000", True), ("eps 1e-6", False)])
def test_in_bfloat16_a_mistake_is_told_from_rounding_or_not_at_all(smollm, traces, name, told):
    theirs = engine(smollm, traces[0].ids, BUGS[name], bfloat16)
    result = judged(traces[0], theirs, "bfloat16")
    if told:
        assert result.first.op == BUGS[name].op
        assert [BUGS[name].cause in cause.text for cause in result.causes] == [True]
    else:
        assert result.first is None
        assert {row.verdict for row in result.rows} <= {"agrees", "rounding"}
