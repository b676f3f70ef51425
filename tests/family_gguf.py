"""What a GGUF file of each family stores for given Hugging Face weights, as llama.cpp's conversion
writes it.

Knows GGUF names, layouts and metadata by hand: a second spelling of what core's table says.
"""

import numpy as np
from gguf import GGUFWriter

from tests.family_arrays import hf_arrays, sizes
from tests.tiny import SPECIAL, TEMPLATE, alphabet

ARCHITECTURES = {"mistral": "llama", "gpt_neox": "gptneox"}  # the others are called the same
TOP = {
    "embed_tokens": "token_embd",
    "embed_in": "token_embd",
    "wte": "token_embd",
    "wpe": "position_embd",
    "norm": "output_norm",
    "ln_f": "output_norm",
    "final_layer_norm": "output_norm",
    "lm_head": "output",
    "embed_out": "output",
}
IN_BLOCK = {
    "input_layernorm": "attn_norm",
    "ln_1": "attn_norm",
    "ln_2": "ffn_norm",
    "pre_feedforward_layernorm": "ffn_norm",
    "post_feedforward_layernorm": "post_ffw_norm",
    "post_attention_layernorm": "ffn_norm",  # but see block_name
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm",
    "self_attn.qkv_proj": "attn_qkv",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.gate_up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
    "attn.c_attn": "attn_qkv",
    "attn.c_proj": "attn_output",
    "mlp.c_fc": "ffn_up",
    "mlp.c_proj": "ffn_down",
    "attention.query_key_value": "attn_qkv",
    "attention.dense": "attn_output",
    "mlp.dense_h_to_4h": "ffn_up",
    "mlp.dense_4h_to_h": "ffn_down",
}


def gguf_name(family: str, name: str) -> str:
    """token_embd.weight for model.embed_tokens.weight, blk.0.attn_q.bias for ..."""
    *parts, kind = name.split(".")
    if not any(part.isdigit() for part in parts):
        return f"{TOP[parts[-1]]}.{kind}"
    layer = next(i for i, part in enumerate(parts) if part.isdigit())
    inside = ".".join(parts[layer + 1 :])
    found = IN_BLOCK[inside]
    if inside == "post_attention_layernorm" and family in ("gemma2", "gemma3", "olmo2"):
        found = "post_attention_norm"
    return f"blk.{parts[layer]}.{found}.{kind}"


def gguf_arrays(family: str, c: dict, seed: int = 0) -> dict[str, np.ndarray]:
    """All tensors of the GGUF file of the same weights."""
    s = sizes(c)
    out = {
        gguf_name(family, name): gguf_layout(family, name, array, s)
        for name, array in hf_arrays(family, c, seed).items()
    }
    return out | rope_tensors(c, s)


def gguf_layout(family, name, array, s):
    """Interleaved Q and K of llama types, gemma's 1 + w, GPT-2 turned round, NeoX's Q, K, V."""
    if family in ("llama", "mistral", "smollm3") and (".q_proj." in name or ".k_proj." in name):
        return interleaved(array, s["head_dim"])
    if family.startswith("gemma") and name.endswith("norm.weight"):
        return array + np.float32(1)
    if family == "gpt2" and ".c_" in name and array.ndim == 2:
        return array.T.copy()
    if family == "gpt_neox" and "query_key_value" in name:
        rows = array.reshape(s["heads"], 3, s["head_dim"], *array.shape[1:])
        return np.concatenate([rows[:, i] for i in range(3)]).reshape(array.shape)
    return array


def interleaved(array, head_dim):
    """Inside each head the rows 0, half, 1, half + 1, ..."""
    half = head_dim // 2
    order = [row for i in range(half) for row in (i, i + half)]
    starts = range(0, len(array), head_dim)
    return np.concatenate([array[start : start + head_dim][order] for start in starts])


def rope_tensors(c, s):
    """llama3's divisors, and longrope's two lists: GGUF keeps them as tensors."""
    scaling = c.get("rope_scaling") or {}
    kind = scaling.get("rope_type", scaling.get("type"))
    if kind == "llama3":
        return {"rope_freqs.weight": llama3_divisors(c["rope_theta"], s["head_dim"], scaling)}
    if kind == "longrope":
        lists = {"short": scaling["short_factor"], "long": scaling["long_factor"]}
        return {f"rope_factors_{name}.weight": np.float32(x) for name, x in lists.items()}
    return {}


def llama3_divisors(theta, dim, scaling):
    """1 for short waves, the factor for long ones, a smooth passage between."""
    low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
    turns = [
        scaling["original_max_position_embeddings"] * theta ** (-i / dim) / (2 * np.pi)
        for i in range(0, dim, 2)
    ]
    smooth = [min(max((t - low) / (high - low), 0), 1) for t in turns]
    return np.float32([1 / ((1 - x) / scaling["factor"] + x) for x in smooth])


def gguf_metadata(family: str, c: dict) -> dict:
    """Keys without the architecture's name in front; what the conversion of that family writes."""
    s, layer_norm = sizes(c), family.startswith("gpt")
    eps = c.get("rms_norm_eps") or c.get("layer_norm_eps") or c.get("layer_norm_epsilon")
    out = {
        "block_count": s["layers"],
        "context_length": c.get("max_position_embeddings", c.get("n_positions")),
        "embedding_length": s["width"],
        "feed_forward_length": s["neurons"],
        "attention.head_count": s["heads"],
        f"attention.layer_norm_{'' if layer_norm else 'rms_'}epsilon": eps,
    }
    if not layer_norm:
        out["attention.head_count_kv"] = s["kv_heads"]
    if family not in ("gemma", "gemma2", "gpt2", "gpt_neox"):
        out["rope.freq_base"] = float(c["rope_theta"])
    if "head_dim" in c:
        out |= dict.fromkeys(["attention.key_length", "attention.value_length"], c["head_dim"])
    return out | particular(family, c, s) | scaling_keys(family, c)


def particular(family, c, s):
    """What only some families write."""
    turned = c.get("rotary_pct", c.get("partial_rotary_factor", 1)) * s["head_dim"]
    out = {}
    if family in ("llama", "mistral", "smollm3", "phi3", "gpt_neox"):
        out["rope.dimension_count"] = int(turned)
    if family in ("gemma2", "gemma3", "phi3"):
        out["attention.sliding_window"] = c.get("sliding_window") or 0
    if family == "gemma2":
        out["attn_logit_softcapping"] = c["attn_logit_softcapping"]
        out["final_logit_softcapping"] = c["final_logit_softcapping"]
    if family == "gpt_neox":
        out["use_parallel_residual"] = c["use_parallel_residual"]
    return out


def scaling_keys(family, c):
    scaling = c.get("rope_scaling") or {}
    kind = scaling.get("rope_type", scaling.get("type"))
    original = c.get("original_max_position_embeddings") or scaling.get(
        "original_max_position_embeddings"
    )
    if kind == "longrope":
        times = c["max_position_embeddings"] / original
        amplitude = float(np.sqrt(1 + np.log(times) / np.log(original)))
        return {"rope.scaling.original_context_length": original} | {
            "rope.scaling.attn_factor": amplitude
        }
    if kind in ("linear", "yarn"):
        out = {"rope.scaling.type": kind, "rope.scaling.factor": scaling["factor"]}
        return out | ({"rope.scaling.original_context_length": original} if kind == "yarn" else {})
    return {}


def tokenizer_metadata() -> dict:
    """Byte-level BPE of 96 tokens: three special ones, a line feed, a space to z, and one merge."""
    tokens = [*SPECIAL, *(alphabet()[b] for b in [10, *range(32, 123)]), "th"]
    return {
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "smollm",
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.token_type": [3] * len(SPECIAL) + [1] * (len(tokens) - len(SPECIAL)),
        "tokenizer.ggml.merges": ["t h"],
        "tokenizer.ggml.bos_token_id": 1,
        "tokenizer.ggml.eos_token_id": 2,
        "tokenizer.ggml.add_bos_token": False,
        "tokenizer.chat_template": TEMPLATE,
    }


def write(path, architecture: str, metadata: dict, tensors: dict) -> str:
    """Write one .gguf file and return its path."""
    writer = GGUFWriter(str(path), architecture)
    for key, value in metadata.items():
        add_metadata(writer, key, value)
    for name, array in tensors.items():
        writer.add_tensor(name, array)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return str(path)


def add_metadata(writer, key, value):
    """Add one key; a Python int becomes a u32, a float an f32; `...` adds nothing."""
    adders = {bool: writer.add_bool, int: writer.add_uint32, float: writer.add_float32}
    adders |= {str: writer.add_string, list: writer.add_array}
    if value is not ...:
        adders[type(value)](key, value)
