"""Known mistakes, made on purpose: `make parity` must find each one, at the op where it begins.

A comparison that passes everything proves nothing. Knows the fields of a Model; no transformers.
"""

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Control:
    """A mistake.

    Attributes:
        name: what is wrong. case: the tiny model. op: the first op that it changes.
        wrong: makes the mistake in a Model and returns another.
    """

    name: str
    case: str
    op: str
    wrong: Callable


def choice(**changes):
    """A field of the configuration is another; a function makes it from the right one."""

    def wrong(model):
        made = {k: f(getattr(model.config, k)) if callable(f) else f for k, f in changes.items()}
        return dataclasses.replace(model, config=dataclasses.replace(model.config, **made))

    return wrong


def arrays(**changes):
    """Weights of every layer are others, each made from the right one."""

    def wrong(model):
        layers = tuple(
            dataclasses.replace(w, **{name: f(getattr(w, name)) for name, f in changes.items()})
            for w in model.weights.layers
        )
        weights = dataclasses.replace(model.weights, layers=layers)
        return dataclasses.replace(model, weights=weights)

    return wrong


def ropes(**changes):
    """All layers rotate otherwise."""
    return choice(ropes=lambda all: tuple(r and dataclasses.replace(r, **changes) for r in all))


def scaling(**changes):
    """All layers stretch their rotations otherwise."""

    def other(rope):
        return dataclasses.replace(rope, scaling=dataclasses.replace(rope.scaling, **changes))

    return choice(ropes=lambda all: tuple(map(other, all)))


def windows(more):
    """Every window is larger by so many positions."""
    return choice(windows=lambda all: tuple(w and w + more for w in all))


def interleaved(matrix, head_dim=8):
    """Rows of Q and K as a GGUF file of a llama type has them: inside a head 0, 4, 1, 5, ..."""
    order = np.arange(head_dim).reshape(2, -1).T.reshape(-1)
    return matrix.reshape(-1, head_dim, matrix.shape[-1])[:, order].reshape(matrix.shape)


def by_head(model):
    """Queries and keys normed head by head, with gains for all heads at once."""

    def cut(gain, head_dim=8):
        return gain.reshape(-1, head_dim)  # [head, head_dim]

    cut_gains = arrays(attn_q_norm=cut, attn_k_norm=cut)
    return cut_gains(choice(qk_norm="head")(model))


def first_everywhere(all):
    """What the first layer has, in every layer."""
    return all[:1] * len(all)


def left_out(bias):
    """No bias."""
    return None


IN_BFLOAT16 = 5.65625  # the root of 32, 5.65685: the smallest mistake here, 1.1e-4
NAIVE_SCALE = 0.25  # one over the root of head_dim, where the file says 1/√24

CONTROLS = (
    Control("GELU with erf for tanh", "gemma", "mlp.act", choice(activation="gelu_erf")),
    Control("GELU with tanh for erf", "gpt_neox", "mlp.act", choice(activation="gelu_tanh")),
    Control("SiLU for GELU", "gemma", "mlp.act", choice(activation="silu")),
    Control("epsilon 1e-6 for 1e-5", "llama", "attn_norm", choice(norm_eps=1e-6)),
    Control("norm weight without 1 +", "gemma", "attn_norm", arrays(attn_norm=lambda w: w - 1)),
    Control("RMSNorm for LayerNorm", "gpt2", "attn_norm", choice(norm="rms")),
    Control("bias of a norm left out", "gpt2", "mlp_norm", arrays(mlp_norm_bias=np.zeros_like)),
    Control("embedding not scaled", "gemma", "embed_scaled", choice(embed_scale=None)),
    Control("scale in bfloat16", "gemma", "embed_scaled", choice(embed_scale=IN_BFLOAT16)),
    Control("no learned positions", "gpt2", "pos_embed", choice(learned_positions=False)),
    Control("bias of Q left out", "qwen2", "attn.q", arrays(attn_q_bias=left_out)),
    Control("Q left interleaved", "llama", "attn.q", arrays(attn_q=interleaved)),
    Control("query norm left out", "qwen3", "attn.q_norm", choice(qk_norm=None)),
    Control("query norm by head", "olmo2", "attn.q_norm", by_head),
    Control("all of a head rotates", "gpt_neox", "attn.q_rot", ropes(dim=8)),
    Control("RoPE base 500,000", "llama", "attn.q_rot", ropes(theta=5e5)),
    Control("every layer rotates", "smollm3", "attn.scores", choice(ropes=first_everywhere)),
    Control("local base on all layers", "gemma3", "attn.q_rot", choice(ropes=first_everywhere)),
    Control("scores over √head_dim", "gemma2", "attn.scores", choice(score_scale=NAIVE_SCALE)),
    Control("no soft cap of scores", "gemma2", "attn.softcap", choice(attn_softcap=None)),
    Control("no soft cap of logits", "gemma2", "logits_capped", choice(logit_softcap=None)),
    Control("window one too narrow", "mistral", "attn.masked", windows(-1)),
    Control("window one too wide", "phi3", "attn.masked", windows(+1)),
    Control("windows of other layers", "gemma2", "attn.masked", choice(windows=lambda w: w[::-1])),
    Control("MLP after attention", "gpt_neox", "mlp_norm", choice(parallel=False)),
    Control("not slowed", "llama-linear", "attn.q_rot", ropes(scaling=None)),
    Control("base does not grow", "llama-dynamic", "attn.q_rot", ropes(scaling=None)),
    Control("amplitude left out", "llama-yarn", "attn.q_rot", scaling(amplitude=1.0)),
    Control("ramp too long", "llama-yarn", "attn.q_rot", scaling(slow=0.1)),
    Control("frequencies not blended", "llama-llama3", "attn.q_rot", ropes(scaling=None)),
    Control("short factors, long text", "llama-longrope", "attn.q_rot", scaling(original=128)),
    Control("amplitude left out", "phi3-longrope", "attn.q_rot", scaling(amplitude=1.0)),
)
