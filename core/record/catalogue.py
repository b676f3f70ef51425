"""What each op of a model is, as data: its inputs, weights, constants, axes, formula and function.

A model has the ops of its family and no others. The forward pass calls the same functions; only the
wiring is stated twice, and a test replays every op from its recorded inputs. Knows ops and sizes;
no values.
"""

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass

from core.model import ops
from core.model.axes import OP_AXES, is_layer_op


@dataclass(frozen=True)
class Op:
    """One op. `function(*inputs, *weights, *constants, *biases)` is its value.

    Attributes:
        id: the tap's name, also the lesson's file name and the step in a link.
        inputs: ops whose values it reads. weights, biases: names in LayerWeights (or Weights,
            outside the layers).
        constants: names that `constants()` of a trace resolves: sizes, eps, the scale, cosines and
            sines.
        formula: one line, in the letters of the op's lesson.
        kind: how one number of it is explained (see core.analyse.explain).
        role: what colour it has on every page.
        function: the op itself, from core.model.ops.
        tags: what this model does in its own way here; a lesson has paragraphs for some.
        together: the function that the pass calls for this op and its neighbours at once, from
            core.model.ops too. Alone, `function` gives the same value up to its last bits.
    """

    id: str
    inputs: tuple[str, ...]
    weights: tuple[str, ...]
    constants: tuple[str, ...]
    biases: tuple[str, ...]
    formula: str
    kind: str
    role: str
    function: Callable
    tags: frozenset[str]
    together: Callable | None = None

    @property
    def source(self) -> str:
        """The text of the functions that compute it, as it stands in core.model.ops."""
        functions = (self.function, self.together)
        return "\n\n".join(inspect.getsource(f) for f in functions if f)

    file = "core/model/ops.py"  # where these functions stand

    @property
    def axes(self) -> tuple[str, ...]:
        """Axis names of its value."""
        return OP_AXES[self.id]


@dataclass(frozen=True)
class Catalogue:
    """The ops of one model, each part in the order of the pass.

    Attributes:
        before: ops before the first block, by id. blocks: those of each block, one dict per layer.
        after: those behind the last block.
    """

    before: dict[str, Op]
    blocks: tuple[dict[str, Op], ...]
    after: dict[str, Op]

    def op(self, id: str, layer: int | None = None) -> Op:
        """An op of a layer, or (None) of the parts outside. KeyError lists the valid ones."""
        if id not in self.ids:
            raise KeyError(f"this model has no op {id!r}; it has {', '.join(self.ids)}")
        if is_layer_op(id) != (layer is not None):
            raise KeyError(f"{id!r} is read {'with' if is_layer_op(id) else 'without'} a layer")
        if layer is None:
            return (self.before | self.after)[id]
        if not 0 <= layer < len(self.blocks):
            raise KeyError(f"layer {layer} is not one of 0 to {len(self.blocks) - 1}")
        if id not in self.blocks[layer]:
            raise KeyError(
                f"layer {layer} has no op {id!r}; it has {', '.join(self.blocks[layer])}"
            )
        return self.blocks[layer][id]

    @functools.cached_property
    def ids(self) -> tuple[str, ...]:
        """The ids of all ops, in the order of the pass."""
        here = {*self.before, *self.after}.union(*self.blocks)
        return tuple(id for id in OP_AXES if id in here)

    def layers_with(self, id: str) -> list[int | None]:
        """The layers that have the op; [None] for an op outside the blocks."""
        if not is_layer_op(id):
            return [None]
        return [n for n, block in enumerate(self.blocks) if id in block]

    @property
    def last(self) -> str:
        """The op whose value is the model's scores: what probs is the softmax of."""
        return self.after["probs"].inputs[0]


@functools.lru_cache(maxsize=32)
def catalogue_of(config) -> Catalogue:
    """The catalogue of a model with this ModelConfig."""
    blocks = tuple(_by_id(_block(config, layer)) for layer in range(config.n_layers))
    return Catalogue(_by_id(_before(config)), blocks, _by_id(_after(config)))


def _by_id(ops):
    return {op.id: op for op in ops}


def _op(id, function, kind, role, formula, inputs=(), weights=(), constants=(), biases=(), tags=()):
    names = (tuple(names) for names in (inputs, weights, constants, biases))
    together = TOGETHER.get(id) if id != "mlp.up" or "gated" in tags else None
    return Op(id, *names, formula, kind, role, function, frozenset(tags), together)


TOGETHER = dict.fromkeys(("attn.q", "attn.k", "attn.v"), ops.project_qkv)
TOGETHER |= dict.fromkeys(("mlp.gate", "mlp.up"), ops.linear_twice)

ACTIVATION = {
    "silu": "silu({0}) = {0} · σ({0})",
    "gelu_tanh": "gelu({0}) ≈ {0} · (1 + tanh(√(2/π) · ({0} + 0.044715 {0}³))) / 2",
    "gelu_erf": "gelu({0}) = {0} · Φ({0})",
}


# fmt: off
def _before(c):
    yield _op("embed", ops.embed, "row", "residual", "x = E[id]", ["ids"], ["embed"])
    if c.embed_scale:
        yield _op("embed_scaled", ops.scale, "times", "residual", "x = s · E[id]",
            ["embed"], [], ["embed_scale"])
    if c.learned_positions:
        yield _op("pos_embed", ops.add_positions, "position", "residual", "x = E[id] + P[t]",
            ["embed_scaled" if c.embed_scale else "embed"], ["pos_embed"], ["positions"])


def _block(c, layer):
    yield _op("resid_pre", ops.same, "copy", "residual", "x", ["stream"])
    yield from _attention(c, layer)
    plain = c.norm_place == "before"  # what is added has had no norm of its own
    delta, a = ("attn.out", "a") if plain else ("attn.post_norm", "ā")
    yield _op("resid_mid", ops.add, "sum", "residual", f"x′ = x + {a}", ["resid_pre", delta],
        tags=["parallel"] * c.parallel)
    yield from _mlp(c)
    delta, f = ("mlp.out", "f") if plain else ("mlp.post_norm", "f̄")
    yield _op("resid_post", ops.add, "sum", "residual", f"x = x′ + {f}", ["resid_mid", delta])


def _attention(c, layer):
    normed = c.norm_place != "after"
    if normed:
        yield _norm(c, "attn_norm", "residual", "n", "w", "x", "resid_pre", "attn_norm")
    h, n = ("attn_norm", "n") if normed else ("resid_pre", "x")
    for letter, role, heads in (("q", "query", "n_heads"), ("k", "key", "n_kv_heads"),
                                ("v", "value", "n_kv_heads")):
        tags = ["unnormed"] * (not normed) + ["shared"] * (letter == "k" and c.group > 1)
        yield _dot(c, f"attn.{letter}", ops.project_heads, role, f"{letter} = W{letter} · {n}",
            h, f"attn_{letter}", [heads], tags)
    q, k, turned = "attn.q", "attn.k", ""
    if c.qk_norm:
        function, kind = ((ops.rms_norm, "norm") if c.qk_norm == "head"
            else (ops.rms_norm_all_heads, "norm_all_heads"))
        for letter, role in (("q", "query"), ("k", "key")):
            formula = f"{letter}̂ = w · {letter} / √(mean({letter}²) + ε)"
            yield _op(f"attn.{letter}_norm", function, kind, role, formula,
                [f"attn.{letter}"], [f"attn_{letter}_norm"], ["norm_eps"], tags=[c.qk_norm])
        q, k = "attn.q_norm", "attn.k_norm"
    if rope := c.ropes[layer]:
        tags = ["partial"] * (rope.dim < c.head_dim) + ["scaled"] * bool(rope.scaling)
        for letter, role, source in (("q", "query", q), ("k", "key", k)):
            formula = f"{letter}′ᵢ = {letter}ᵢ cos φ ∓ {letter}ⱼ sin φ"
            yield _op(f"attn.{letter}_rot", ops.rotate, "rotate", role, formula,
                [source], [], ["cos", "sin"], tags=tags)
        q, k, turned = "attn.q_rot", "attn.k_rot", "′"
    usual = c.score_scale == c.head_dim**-0.5
    yield _op("attn.scores", ops.scores, "score", "attention",
        f"S = q{turned} · k{turned}" + (" / √d" if usual else " · α"), [q, k], [],
        ["score_scale"], tags=["own_scale"] * (not usual) + ["unrotated"] * (not turned))
    scores = "attn.scores"
    if c.attn_softcap:
        yield _op("attn.softcap", ops.softcap, "softcap", "attention", "S′ = c · tanh(S / c)",
            [scores], [], ["attn_softcap"])
        scores = "attn.softcap"
    s, window = "S" if scores == "attn.scores" else "S′", c.windows[layer]
    visible = f"M = {s} (s ≤ t), −∞ (s > t)"
    yield _op("attn.masked", ops.mask, "mask", "attention",
        f"M = {s} (t − w < s ≤ t), −∞" if window else visible,
        [scores], [], ["window"] if window else [], tags=["window"] * bool(window))
    yield _op("attn.weights", ops.softmax, "softmax", "attention", "A = exp(M) / Σ exp(M)",
        ["attn.masked"])
    yield _op("attn.mix", ops.mix, "mix", "value", "c = Σ A · v", ["attn.weights", "attn.v"])
    yield _dot(c, "attn.out", ops.merge_heads, "attention", "a = Wo · c", "attn.mix", "attn_out",
        tags=["post_norm"] * (c.norm_place != "before"))
    if c.norm_place != "before":
        yield _norm(c, "attn.post_norm", "attention", "ā", "w", "a", "attn.out", "attn_post_norm")


def _mlp(c):
    source, n = ("resid_pre", "x") if c.parallel else ("resid_mid", "x′")
    tags = ["parallel"] * c.parallel
    if c.norm_place != "after":
        yield _norm(c, "mlp_norm", "residual", "n′", "w′", n, source, "mlp_norm", tags)
        source, n = "mlp_norm", "n′"
    form = "gated" if c.gated else "plain"
    unnormed = ["unnormed"] * (c.norm_place == "after")
    after = ["post_norm"] * (c.norm_place != "before")
    if c.gated:
        yield _dot(c, "mlp.gate", ops.linear, "mlp", f"g = Wgate · {n}", source, "mlp_gate",
            tags=unnormed)
    yield _dot(c, "mlp.up", ops.linear, "mlp", f"u = Wup · {n}", source, "mlp_up",
        tags=[form, *unnormed])
    name, letter = ("mlp.gate", "g") if c.gated else ("mlp.up", "u")
    formula = ACTIVATION[c.activation].format(letter)
    yield _op("mlp.act", ops.ACTIVATIONS[c.activation], c.activation, "mlp", formula, [name],
        tags=[c.activation, form])
    hidden, act = "mlp.act", "silu" if c.activation == "silu" else "gelu"
    y = f"{act}(u)"
    if c.gated:
        yield _op("mlp.hidden", ops.multiply, "product", "mlp", f"y = {act}(g) · u",
            ["mlp.act", "mlp.up"], tags=[c.activation])
        hidden, y = "mlp.hidden", "y"
    yield _dot(c, "mlp.out", ops.linear, "mlp", f"f = Wdown · {y}", hidden, "mlp_out",
        tags=[form, *after])
    if c.norm_place != "before":
        yield _norm(c, "mlp.post_norm", "mlp", "f̄", "w′", "f", "mlp.out", "mlp_post_norm")


def _after(c):
    yield _norm(c, "final_norm", "residual", "n̂", "ŵ", "x", "stream", "final_norm")
    yield _op("logits", ops.linear, "dot", "logits", "z = U · n̂", ["final_norm"], ["head"],
        tags=["capped"] * bool(c.logit_softcap))
    if c.logit_softcap:
        yield _op("logits_capped", ops.softcap, "softcap", "logits", "z′ = c · tanh(z / c)",
            ["logits"], [], ["logit_softcap"])
    last, z = ("logits_capped", "z′") if c.logit_softcap else ("logits", "z")
    yield _op("probs", ops.softmax, "softmax", "logits", f"p = exp({z}) / Σ exp({z})", [last])
# fmt: on


def _norm(c, id, role, result, weight, x, source, name, tags=()):
    """RMSNorm or LayerNorm, as the family has it; `result`, `weight` and `x` are letters."""
    if c.norm == "rms":
        formula = f"{result} = {weight} · {x} / √(mean({x}²) + ε)"
        tags = ["rms", *tags]
        return _op(
            id, ops.rms_norm, "norm", role, formula, [source], [name], ["norm_eps"], (), tags
        )
    formula = f"{result} = {weight} · ({x} − mean({x})) / √(var({x}) + ε) + b"
    bias, tags = [f"{name}_bias"], ["layer", *tags]
    return _op(
        id, ops.layer_norm, "layer_norm", role, formula, [source], [name], ["norm_eps"], bias, tags
    )


def _dot(c, id, function, role, formula, source, weight, constants=(), tags=()):
    """A matrix product, plus the bias where this model has one."""
    biased = weight in c.biases
    formula, bias = formula + " + b" * biased, [f"{weight}_bias"] * biased
    tags = [*tags, *["bias"] * biased]
    return _op(id, function, "dot", role, formula, [source], [weight], constants, bias, tags)
