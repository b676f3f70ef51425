"""Mistakes that engines really have, each as a change of one op: what the op would be with it made.

Knows ops and the sizes of a model; no values of anybody. `core.record.compare` makes each one and
looks whether the result is what somebody else got.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from core.model import ops, rope
from core.model.config import Rope

THETAS = (10_000.0, 100_000.0, 500_000.0, 1_000_000.0)
EPSILONS = (0.0, 1e-12, 1e-8, 1e-6, 1e-5, 1e-3)
NORMS = ("norm", "norm_all_heads", "layer_norm")
SKIPPED = (*NORMS, "softcap", "times", "position")  # kinds of ops that can be forgotten whole


@dataclass(frozen=True)
class Mistake:
    """text: what was done, as half a sentence. touches(op): whether it can be made in this op.
    make(call): the call with the mistake made.
    """

    text: str
    touches: Callable
    make: Callable

    def change(self, call):
        """The call with the mistake made, or as it is where it cannot be made."""
        return self.make(call) if self.touches(call.op) else call


def mistakes(trace) -> list[Mistake]:
    """All that could be made in this model."""
    config, n = trace.config, len(trace.ids)
    return [
        *_projections(),
        *_norms(config),
        *_rotations(config, n),
        *_attention(config),
        *_mlp(trace.model.weights),
    ]


def _of(*ids):
    return lambda op: op.id in ids


def _kind(*kinds):
    return lambda op: op.kind in kinds


def _weights(function):
    """The same call with other weights."""
    return lambda call: replace(call, weights=tuple(map(function, call.weights)))


def _constants(*values):
    return lambda call: replace(call, constants=values)


def _then(function):
    """The same call, and something done to its value."""
    return lambda call: replace(call, function=lambda *parts: function(call.function(*parts)))


def _first_input(call):
    """No call at all: the op's first input goes on unchanged."""
    return replace(call, function=lambda x, *_: x)


# fmt: off
def _projections():
    qk = _of("attn.q", "attn.k")
    yield Mistake("the rows of Q and K are still in the order of a GGUF file (0, n/2, 1, ... in"
        " each head) and must be un-permuted", qk, _then(interleaved))
    yield Mistake("the matrix was read the other way (transposed)",
        lambda op: op.kind == "dot", _weights(lambda w: w.T if len(set(w.shape)) == 1 else w))
    yield Mistake("the bias was forgotten", lambda op: op.biases,
        lambda call: replace(call, biases=tuple(map(np.zeros_like, call.biases))))
    yield Mistake("nothing was added: the stream goes on as it was", _kind("sum"), _first_input)
    yield Mistake("the stream was replaced, not added to", _kind("sum"),
        lambda call: replace(call, function=lambda x, delta: delta))
    yield Mistake("the op was left out: its input goes on unchanged", _kind(*SKIPPED), _first_input)


def _norms(c):
    norm = _kind(*NORMS)
    yield Mistake("the weight of the norm was forgotten", norm, _weights(np.ones_like))
    yield Mistake("the norm multiplies by w, not by 1 + w", norm, _weights(lambda w: w - 1))
    yield Mistake("the norm multiplies by 1 + w, not by w", norm, _weights(lambda w: w + 1))
    for eps in EPSILONS:
        if eps != c.norm_eps:
            text = f"epsilon of the norm is {eps:g}, not {c.norm_eps:g}"
            yield Mistake(text, norm, _constants(eps))
    yield Mistake("RMSNorm in the place of LayerNorm: the mean was not taken off",
        _kind("layer_norm"), lambda call: replace(call, function=_without_mean))
    yield Mistake("LayerNorm in the place of RMSNorm: the mean was taken off",
        _kind("norm"), lambda call: replace(call, function=_with_mean))
    yield Mistake("each head was normalized by itself, not all heads of a position at once",
        _kind("norm_all_heads"), lambda call: replace(call, function=_head_by_head))


def _rotations(c, n):
    turn = _kind("rotate")
    yield Mistake("there is no rotation (RoPE)", turn, _first_input)
    yield Mistake("numbers 0 and 1, 2 and 3, ... were rotated together, not i and i + n/2: this"
        " model is half-split", turn, lambda call: replace(call, function=rotate_neighbours))
    yield Mistake("the rotation goes the other way: the sine has the wrong sign", turn,
        lambda call: replace(call, constants=(call.constants[0], -call.constants[1])))
    for own in {r for r in c.ropes if r}:
        yield Mistake("queries and keys were rotated, which this layer does not do",
            lambda op: op.id == "attn.scores" and "unrotated" in op.tags, _rotated(own, n))
        for other in _other_ropes(own):
            text = (f"theta is {other.theta:g}, not {own.theta:g}" if other.theta != own.theta
                else "the scaling of the rotation was left out")
            yield Mistake(text, turn, _turned_by(other, n, [x == own for x in c.ropes]))


def _other_ropes(own):
    yield from (Rope(own.dim, theta, own.scaling) for theta in THETAS if theta != own.theta)
    if own.scaling:
        yield Rope(own.dim, own.theta)


def _attention(c):
    scores = _of("attn.scores")
    yield Mistake("the scores were not multiplied by 1/sqrt(head_dim), or the scale that stands for"
        " it", scores, _constants(1.0))
    yield Mistake("the scores were scaled twice", scores, _constants(c.score_scale**2))
    if c.score_scale != c.head_dim**-0.5:
        yield Mistake("the scale is 1/sqrt(head_dim), not the one of this model", scores,
            _constants(c.head_dim**-0.5))
    if c.group > 1:
        yield Mistake(f"query head h reads key/value head h % {c.n_kv_heads}, not h // {c.group}",
            _of("attn.scores", "attn.mix"), lambda call: _tiled(call, c.n_heads))
    mask = _kind("mask")
    yield Mistake("there is no mask: later positions are seen", mask, _first_input)
    yield Mistake("the mask is one too wide: the next position is seen", mask,
        lambda call: replace(call, function=_wide_mask))
    yield Mistake("the window was left out", lambda op: "window" in op.constants, _constants())
    for step in (1, -1):
        yield Mistake(f"the window is one too {'wide' if step > 0 else 'narrow'}",
            lambda op: "window" in op.constants,
            lambda call, step=step: replace(call, constants=(max(call.constants[0] + step, 1),)))


def _mlp(weights):
    yield Mistake("gate and up are swapped",
        lambda op: op.id == "mlp.gate" or op.id == "mlp.up" and "gated" in op.tags,
        lambda call: _swapped(call, weights))
    for name, function in ops.ACTIVATIONS.items():
        yield Mistake(f"the activation is {name}, not the one of this model",
            lambda op, name=name: op.kind in ops.ACTIVATIONS and op.kind != name,
            lambda call, function=function: replace(call, function=function))
    yield Mistake("there is no activation", _kind(*ops.ACTIVATIONS), _first_input)
# fmt: on


def _turned_by(other, n, has):
    """Rotated by another table, in the layers that have it."""
    table = rope.cos_sin(other, 0, n, n)
    return lambda call: replace(call, constants=table) if has[call.layer] else call


def _rotated(own, n):
    """Queries and keys rotated before the scores are made."""
    table = rope.cos_sin(own, 0, n, n)
    return lambda call: replace(call, inputs=tuple(ops.rotate(x, *table) for x in call.inputs))


def interleaved(x):  # [seq, head, head_dim] -> the same
    """Number i and number i + n/2 of a head side by side, as in GGUF files of the llama type."""
    half = x.shape[-1] // 2
    return x.reshape(*x.shape[:-1], 2, half).swapaxes(-1, -2).reshape(x.shape)


def rotate_neighbours(x, cos, sin):  # as ops.rotate
    """RoPE with numbers 2i and 2i + 1 as one point."""
    n = 2 * cos.shape[-1]
    apart = np.concatenate([x[..., 0:n:2], x[..., 1:n:2]], axis=-1)
    turned = interleaved(ops.rotate(apart, cos, sin))
    return np.concatenate([turned, x[..., n:]], axis=-1)


def _tiled(call, n_heads):
    """The keys or values laid out so that each query head reads its own, the wrong one."""
    first, shared = call.inputs
    copies = shared[:, np.arange(n_heads) % shared.shape[1]]
    return replace(call, inputs=(first, copies))


def _swapped(call, weights):
    """Gate with the weights of up, or up with those of gate."""
    other = {"mlp.gate": "mlp_up", "mlp.up": "mlp_gate"}[call.op.id]
    biases = tuple(weights.get(f"{other}_bias", call.layer) for _ in call.biases)
    return replace(call, weights=(weights.get(other, call.layer),), biases=biases)


def _wide_mask(scores, window=None):
    seen = np.tri(*scores.shape[-2:], 1, dtype=bool)
    return np.where(seen, scores, np.float32(-np.inf))


def _without_mean(x, weight, eps, bias):
    return ops.rms_norm(x, weight, eps) + bias


def _head_by_head(x, weight, eps):
    return ops.rms_norm(x, weight.reshape(x.shape[1:]), eps)


def _with_mean(x, weight, eps):
    return ops.rms_norm(x - x.mean(axis=-1, keepdims=True), weight, eps)
