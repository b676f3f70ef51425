"""What each op is, once, as data: its inputs, weights, constants, axes, formula and function.

The forward pass calls the same functions; only the wiring is stated twice, and a test replays every
op from its recorded inputs. Knows ops and sizes; no values.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass

from core.model import ops
from core.model.axes import OP_AXES


@dataclass(frozen=True)
class Op:
    """One op. `function(*inputs, *weights, *constants)` is its value.

    Attributes:
        id: the tap's name, also the lesson's file name and the step in a link.
        inputs: ops whose values it reads. weights: names in LayerWeights (or Weights, outside the
        layers).
        constants: names that `constants()` of a trace resolves: sizes, eps, the scale, cosines and
        sines.
        formula: one line, in the letters of the op's lesson.
        kind: how one number of it is explained (see
        core.analyse.explain).
        role: what colour it has on every page.
        function: the op itself, from core.model.ops.
    """

    id: str
    inputs: tuple[str, ...]
    weights: tuple[str, ...]
    constants: tuple[str, ...]
    formula: str
    kind: str
    role: str
    function: Callable

    @property
    def source(self) -> str:
        """The text of the function that computes it, as it stands in core.model.ops."""
        return inspect.getsource(self.function)

    @property
    def axes(self) -> tuple[str, ...]:
        """Axis names of its value."""
        return OP_AXES[self.id]


def _op(id, function, kind, role, formula, inputs=(), weights=(), constants=()):
    return Op(id, tuple(inputs), tuple(weights), tuple(constants), formula, kind, role, function)


EMBED = _op("embed", ops.embed, "row", "residual", "x = E[id]", ["ids"], ["embed"])

# fmt: off
BLOCK = (
    _op("resid_pre", ops.same, "copy", "residual", "x", ["stream"]),
    _op("attn_norm", ops.rms_norm, "norm", "residual", "n = w · x / √(mean(x²) + ε)",
        ["resid_pre"], ["attn_norm"], ["norm_eps"]),
    _op("attn.q", ops.project_heads, "dot", "query", "q = Wq · n",
        ["attn_norm"], ["attn_q"], ["n_heads"]),
    _op("attn.k", ops.project_heads, "dot", "key", "k = Wk · n",
        ["attn_norm"], ["attn_k"], ["n_kv_heads"]),
    _op("attn.v", ops.project_heads, "dot", "value", "v = Wv · n",
        ["attn_norm"], ["attn_v"], ["n_kv_heads"]),
    _op("attn.q_rot", ops.rotate, "rotate", "query", "q′ᵢ = qᵢ cos φ ∓ qⱼ sin φ",
        ["attn.q"], [], ["cos", "sin"]),
    _op("attn.k_rot", ops.rotate, "rotate", "key", "k′ᵢ = kᵢ cos φ ∓ kⱼ sin φ",
        ["attn.k"], [], ["cos", "sin"]),
    _op("attn.scores", ops.scores, "score", "attention", "S = q′ · k′ / √d",
        ["attn.q_rot", "attn.k_rot"], [], ["score_scale"]),
    _op("attn.masked", ops.mask, "mask", "attention", "M = S (s ≤ t), −∞ (s > t)",
        ["attn.scores"]),
    _op("attn.weights", ops.softmax, "softmax", "attention", "A = exp(M) / Σ exp(M)",
        ["attn.masked"]),
    _op("attn.mix", ops.mix, "mix", "value", "c = Σ A · v", ["attn.weights", "attn.v"]),
    _op("attn.out", ops.merge_heads, "dot", "attention", "a = Wo · c", ["attn.mix"], ["attn_out"]),
    _op("resid_mid", ops.add, "sum", "residual", "x′ = x + a", ["resid_pre", "attn.out"]),
    _op("mlp_norm", ops.rms_norm, "norm", "residual", "n′ = w′ · x′ / √(mean(x′²) + ε)",
        ["resid_mid"], ["mlp_norm"], ["norm_eps"]),
    _op("mlp.gate", ops.linear, "dot", "mlp", "g = Wgate · n′", ["mlp_norm"], ["mlp_gate"]),
    _op("mlp.up", ops.linear, "dot", "mlp", "u = Wup · n′", ["mlp_norm"], ["mlp_up"]),
    _op("mlp.act", ops.silu, "silu", "mlp", "silu(g) = g · σ(g)", ["mlp.gate"]),
    _op("mlp.hidden", ops.multiply, "product", "mlp", "y = silu(g) · u", ["mlp.act", "mlp.up"]),
    _op("mlp.out", ops.linear, "dot", "mlp", "f = Wdown · y", ["mlp.hidden"], ["mlp_out"]),
    _op("resid_post", ops.add, "sum", "residual", "x = x′ + f", ["resid_mid", "mlp.out"]),
)
OUTPUT = (
    _op("final_norm", ops.rms_norm, "norm", "residual", "n̂ = ŵ · x / √(mean(x²) + ε)",
        ["stream"], ["final_norm"], ["norm_eps"]),
    _op("logits", ops.linear, "dot", "logits", "z = U · n̂", ["final_norm"], ["head"]),
    _op("probs", ops.softmax, "softmax", "logits", "p = exp(z) / Σ exp(z)", ["logits"]),
)
# fmt: on

CATALOGUE = {op.id: op for op in (EMBED, *BLOCK, *OUTPUT)}
BLOCK_IDS = tuple(op.id for op in BLOCK)


def is_layer_op(op: str) -> bool:
    """Whether the op exists once per layer."""
    return op in BLOCK_IDS
