"""What other tools call the values of our ops: TransformerLens hooks, Hugging Face modules.

Knows names only. Our own: `layers.3.attn.weights` for an op of a layer, `logits` for one outside.
A name can mean one op in one family and another in the next: the first that the model has counts.
"""

import re

from core.model.axes import OP_AXES, is_layer_op

TRANSFORMER_LENS = {  # name -> our op, or ops; {} is the layer
    "hook_embed": "embed_scaled embed",
    "blocks.{}.hook_resid_pre": "resid_pre",
    "blocks.{}.attn.hook_q": "attn.q",
    "blocks.{}.attn.hook_k": "attn.k",
    "blocks.{}.attn.hook_v": "attn.v",
    "blocks.{}.attn.hook_rot_q": "attn.q_rot",
    "blocks.{}.attn.hook_rot_k": "attn.k_rot",
    "blocks.{}.attn.hook_attn_scores": "attn.masked",
    "blocks.{}.attn.hook_pattern": "attn.weights",
    "blocks.{}.attn.hook_z": "attn.mix",
    "blocks.{}.hook_attn_out": "attn.post_norm attn.out",
    "blocks.{}.hook_resid_mid": "resid_mid",
    "blocks.{}.mlp.hook_pre": "mlp.gate mlp.up",
    "blocks.{}.mlp.hook_pre_linear": "mlp.up",
    "blocks.{}.mlp.hook_post": "mlp.hidden mlp.act",
    "blocks.{}.hook_mlp_out": "mlp.post_norm mlp.out",
    "blocks.{}.hook_resid_post": "resid_post",
    # since version 3
    "embed.hook_out": "embed_scaled embed",
    "blocks.{}.hook_in": "resid_pre",
    "blocks.{}.attn.q.hook_out": "attn.q",
    "blocks.{}.attn.k.hook_out": "attn.k",
    "blocks.{}.attn.v.hook_out": "attn.v",
    "blocks.{}.attn.o.hook_in": "attn.mix",
    "blocks.{}.attn.hook_out": "attn.out",
    "blocks.{}.mlp.gate.hook_out": "mlp.gate",
    "blocks.{}.mlp.in.hook_out": "mlp.up",
    "blocks.{}.mlp.out.hook_in": "mlp.hidden mlp.act",
    "blocks.{}.mlp.hook_out": "mlp.out",
    "blocks.{}.hook_out": "resid_post",
    "ln_final.hook_out": "final_norm",
    "unembed.hook_out": "logits",
}
HUGGING_FACE = {  # a module stands for its output
    "model.embed_tokens": "embed_scaled embed",
    "hidden_states.{}": "resid_pre",
    "model.layers.{}.input_layernorm": "attn_norm",
    "model.layers.{}.self_attn.q_proj": "attn.q",
    "model.layers.{}.self_attn.k_proj": "attn.k",
    "model.layers.{}.self_attn.v_proj": "attn.v",
    "model.layers.{}.self_attn.q_norm": "attn.q_norm",
    "model.layers.{}.self_attn.k_norm": "attn.k_norm",
    "attentions.{}": "attn.weights",
    "model.layers.{}.self_attn.o_proj": "attn.out",
    "model.layers.{}.self_attn": "attn.out",
    "model.layers.{}.post_attention_layernorm": "attn.post_norm mlp_norm",
    "model.layers.{}.pre_feedforward_layernorm": "mlp_norm",
    "model.layers.{}.mlp.gate_proj": "mlp.gate",
    "model.layers.{}.mlp.up_proj": "mlp.up",
    "model.layers.{}.mlp.act_fn": "mlp.act",
    "model.layers.{}.mlp.down_proj": "mlp.out",
    "model.layers.{}.mlp": "mlp.out",
    "model.layers.{}.post_feedforward_layernorm": "mlp.post_norm",
    "model.layers.{}": "resid_post",
    "model.norm": "final_norm",
    "lm_head": "logits",
    # gpt2
    "transformer.wte": "embed",
    "transformer.drop": "pos_embed",
    "transformer.h.{}.ln_1": "attn_norm",
    "transformer.h.{}.attn.c_proj": "attn.out",
    "transformer.h.{}.attn": "attn.out",
    "transformer.h.{}.ln_2": "mlp_norm",
    "transformer.h.{}.mlp.c_fc": "mlp.up",
    "transformer.h.{}.mlp.act": "mlp.act",
    "transformer.h.{}.mlp.c_proj": "mlp.out",
    "transformer.h.{}.mlp": "mlp.out",
    "transformer.h.{}": "resid_post",
    "transformer.ln_f": "final_norm",
    # gpt_neox, where it differs from the above
    "gpt_neox.embed_in": "embed",
    "gpt_neox.layers.{}.attention.dense": "attn.out",
    "gpt_neox.layers.{}.attention": "attn.out",
    "gpt_neox.layers.{}.mlp.dense_h_to_4h": "mlp.up",
    "gpt_neox.layers.{}.mlp.dense_4h_to_h": "mlp.out",
    "gpt_neox.final_layer_norm": "final_norm",
    "embed_out": "logits",
}
UNLIKE = {  # names we know whose values are none of ours, and why
    "hook_pos_embed": "the position's row alone; our pos_embed is the stream after it was added",
    "transformer.wpe": "the position's row alone; our pos_embed is the stream after it was added",
    "blocks.{}.ln1.hook_normalized": "before the weight; our attn_norm is after it",
    "blocks.{}.ln2.hook_normalized": "before the weight; our mlp_norm is after it",
    "ln_final.hook_normalized": "before the weight; our final_norm is after it",
    "model.layers.{}.self_attn.qkv_proj": "three in one; cut it into attn.q, attn.k and attn.v",
    "transformer.h.{}.attn.c_attn": "three in one; cut it into attn.q, attn.k and attn.v",
    "gpt_neox.layers.{}.attention.query_key_value": "three in one, head by head; cut it into"
    " attn.q, attn.k and attn.v",
    "model.layers.{}.mlp.gate_up_proj": "two in one; cut it into mlp.gate and mlp.up",
}
PREFIXES = ("model.", "transformer.", "gpt_neox.")  # a bare model has none, a wrapped one two


def _bare(name):
    """A module's name without what the models around it add."""
    while prefix := next((p for p in PREFIXES if name.startswith(p)), None):
        name = name.removeprefix(prefix)
    return name


_OURS = {f"layers.{{}}.{op}" if is_layer_op(op) else op: op for op in OP_AXES}
_KNOWN = {_bare(name): ops for name, ops in (TRANSFORMER_LENS | HUGGING_FACE | _OURS).items()}
_UNLIKE = {_bare(name): why for name, why in UNLIKE.items()}


def parse(name: str, catalogue) -> tuple[str, int | None] | str:
    """The op and layer that a name stands for in a model, or half a sentence: why none."""
    parts = _bare(name.removesuffix(".output")).split(".")
    at = next((i for i, part in enumerate(parts) if re.fullmatch("[0-9]{1,4}", part)), None)
    layer = None if at is None else int(parts[at])
    template = ".".join("{}" if i == at else part for i, part in enumerate(parts))
    if template in _UNLIKE:
        return _UNLIKE[template]
    if template not in _KNOWN:
        return "no name of ours, of TransformerLens or of a Hugging Face module"
    op = _first(_KNOWN[template], catalogue)
    if op is None or layer not in catalogue.layers_with(op):
        return "this model or layer has no such op"
    return op, layer


def _first(ops, catalogue):
    return next((op for op in ops.split() if op in catalogue.ids), None)


def aliases(catalogue) -> dict[str, list[str]]:
    """For each op of a model the names that other tools have for it, TransformerLens first."""
    found = {}
    for name, ops in (TRANSFORMER_LENS | HUGGING_FACE).items():
        if op := _first(ops, catalogue):
            found.setdefault(op, []).append(name)
    return found
