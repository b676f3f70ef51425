"""Which tensor of a file holds which of our weights: one table for GGUF and Hugging Face names.

Knows names and how the rows of a tensor are laid out; reads no numbers. Hugging Face names become
GGUF names by gguf's own map of them.
"""

import re
from functools import cache

from gguf import MODEL_ARCH, MODEL_ARCH_NAMES, get_tensor_name_map

TOP = {"token_embd": "embed", "position_embd": "pos_embed"}
TOP |= {"output_norm": "final_norm", "output": "head"}
IN_BLOCK = {
    "attn_norm": ("attn_norm",),
    "attn_q": ("attn_q",),
    "attn_k": ("attn_k",),
    "attn_v": ("attn_v",),
    "attn_q_norm": ("attn_q_norm",),
    "attn_k_norm": ("attn_k_norm",),
    "attn_output": ("attn_out",),
    "post_attention_norm": ("attn_post_norm",),
    "ffn_norm": ("mlp_norm",),
    "ffn_gate": ("mlp_gate",),
    "ffn_up": ("mlp_up",),
    "ffn_down": ("mlp_out",),
    "post_ffw_norm": ("mlp_post_norm",),
}
QKV = ("attn_q", "attn_k", "attn_v")
GGUF_NAME = re.compile(r"(?:blk\.(0|[1-9]\d{0,4})\.)?([a-z_]+)\.(weight|bias)")
LAYER = re.compile(r"(?<=\.)(0|[1-9]\d{0,4})(?=\.)|^(0|[1-9]\d{0,4})(?=\.)")
# what older checkpoints also keep: angles and masks, which are computed anew
BUFFER = re.compile(r"(.*\.)?(rotary_emb\.inv_freq|(attn|attention)\.(masked_)?bias)")
ROPE_TENSORS = {f"rope_{name}.weight" for name in ("freqs", "factors_short", "factors_long")}


def weights_in(gguf_name: str, family) -> tuple[tuple[str, int | None], ...]:
    """Our weights, each (name, layer), that a tensor holds from its first row to its last.

    Empty for a tensor that holds none of ours.
    """
    match = GGUF_NAME.fullmatch(gguf_name)
    if not match:
        return ()
    layer, stem, kind = match.groups()
    ours = _stems(family, stem) if layer else tuple(filter(None, [TOP.get(stem)]))
    end = "_bias" if kind == "bias" else ""
    return tuple((name + end, None if layer is None else int(layer)) for name in ours)


def _stems(family, stem):
    """Our weights in a tensor of a block; a fused tensor takes the place of its parts."""
    fused = {"attn_qkv": QKV} if family.fused_qkv else {}
    fused |= {"ffn_up": ("mlp_gate", "mlp_up")} if family.fused_mlp else {}
    parts = {part for names in fused.values() for part in names}
    ours = fused.get(stem) or IN_BLOCK.get(stem, ())
    return () if stem not in fused and parts & set(ours) else ours


def name_of(weight: str, layer: int | None, family) -> str:
    """What GGUF calls the tensor that holds one of our weights."""
    kind = "bias" if weight.endswith("_bias") else "weight"
    start = "" if layer is None else f"blk.{layer}."
    stems = [f"{start}{stem}.{kind}" for stem in [*TOP, *IN_BLOCK, "attn_qkv"]]
    return next(name for name in stems if (weight, layer) in weights_in(name, family))


def gguf_name(name: str, family) -> str | None:
    """The GGUF name of a Hugging Face tensor, or None where it has none."""
    for prefix in family.prefixes:
        name = name.removeprefix(prefix)
    layers = LAYER.findall(name)
    stem, _, kind = LAYER.sub("0", name).rpartition(".")
    # files of Meta and Mistral call them wq and wk, and lay their rows out otherwise
    if len(layers) > 1 or kind not in ("weight", "bias") or stem.endswith((".wq", ".wk")):
        return None
    known = _map(family.gguf)
    # some checkpoints were saved from the model without its head, and lack the first name
    found = next(filter(None, (known.get_name(f"{p}{stem}") for p in ("", "gpt_neox."))), None)
    if found is None or found.startswith("blk.") != bool(layers):
        return None
    layer = "".join(layers[0]) if layers else ""
    return f"{found.replace('blk.0.', f'blk.{layer}.')}.{kind}"


def is_beside(name: str, family) -> bool:
    """Whether a Hugging Face tensor is known to hold nothing that the text pass needs."""
    name = name.removeprefix("model.")
    return bool(BUFFER.fullmatch(name)) or name.startswith(family.ignored or "\0")


@cache
def _map(architecture):
    """gguf's map for one block: its names for block 0 stand for every block."""
    kind = next(a for a in MODEL_ARCH if MODEL_ARCH_NAMES[a] == architecture)
    return get_tensor_name_map(kind, 1)
