"""The random tensors of a tiny model of any family, named and laid out as transformers saves them.

Knows the Hugging Face names and layouts of the twelve families; no file and no GGUF.
"""

import numpy as np

HEADS = 4


class Random:
    """Seeded draws: matrices, gains round 1 (or round 0 where the family adds the 1), biases."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def matrix(self, *shape, times=1.0):
        return np.float32(times * self.rng.standard_normal(shape) / np.sqrt(shape[-1]))

    def gain(self, n, about=1.0):
        return np.float32(about + 0.1 * self.rng.standard_normal(n))

    def bias(self, n):
        return np.float32(0.1 * self.rng.standard_normal(n))


def sizes(c: dict) -> dict[str, int]:
    """Rows of the matrices, from a config in any family's spelling."""
    width, heads = c.get("hidden_size", c.get("n_embd")), c.get("num_attention_heads", HEADS)
    head_dim = c.get("head_dim") or width // heads
    kv = c.get("num_key_value_heads") or heads
    neurons = c.get("intermediate_size") or c.get("n_inner") or 4 * width
    layers = c.get("num_hidden_layers", c.get("n_layer"))
    out = {"width": width, "heads": heads, "kv_heads": kv, "head_dim": head_dim, "layers": layers}
    return out | {"neurons": neurons, "q": heads * head_dim, "kv": kv * head_dim}


def hf_arrays(family: str, c: dict, seed: int = 0) -> dict[str, np.ndarray]:
    """All tensors of model.safetensors, named and laid out as transformers saves them."""
    makers = {"gpt2": gpt2_arrays, "gpt_neox": neox_arrays}
    return makers.get(family, llama_like_arrays)(family, c, Random(seed))


NORMS = {  # of one block, width numbers each
    "gemma2": ["input_layernorm", "post_attention_layernorm"]
    + ["pre_feedforward_layernorm", "post_feedforward_layernorm"],
    "olmo2": ["post_attention_layernorm", "post_feedforward_layernorm"],
}
NORMS["gemma3"] = NORMS["gemma2"]


def llama_like_arrays(family, c, random):
    s, about = sizes(c), 0.0 if family.startswith("gemma") else 1.0
    out = {"model.embed_tokens.weight": random.matrix(c["vocab_size"], s["width"])}
    for n in range(s["layers"]):
        at = f"model.layers.{n}."
        for norm in NORMS.get(family, ["input_layernorm", "post_attention_layernorm"]):
            out[f"{at}{norm}.weight"] = random.gain(s["width"], about)
        attention, mlp = attention_arrays(family, s, random), mlp_arrays(family, s, random)
        out |= {f"{at}self_attn.{name}.weight": array for name, array in attention.items()}
        out |= {f"{at}mlp.{name}.weight": array for name, array in mlp.items()}
        for name, rows in biases(family, c, s).items():
            out[f"{at}{name}.bias"] = random.bias(rows)
    out["model.norm.weight"] = random.gain(s["width"], about)
    if not c.get("tie_word_embeddings", family.startswith("gemma")):
        out["lm_head.weight"] = random.matrix(c["vocab_size"], s["width"])
    return out


def attention_arrays(family, s, random):
    q = random.matrix(s["q"], s["width"], times=3)  # three times: sharp attention maps
    k = random.matrix(s["kv"], s["width"], times=3)
    v, out = random.matrix(s["kv"], s["width"]), random.matrix(s["width"], s["q"])
    if family == "phi3":
        return {"qkv_proj": np.concatenate([q, k, v]), "o_proj": out}
    arrays = {"q_proj": q, "k_proj": k, "v_proj": v, "o_proj": out}
    if family in ("qwen3", "gemma3", "olmo2"):
        whole, about = family == "olmo2", 0.0 if family == "gemma3" else 1.0
        arrays["q_norm"] = random.gain(s["q"] if whole else s["head_dim"], about)
        arrays["k_norm"] = random.gain(s["kv"] if whole else s["head_dim"], about)
    return arrays


def mlp_arrays(family, s, random):
    gate, up = (random.matrix(s["neurons"], s["width"]) for _ in range(2))
    down = random.matrix(s["width"], s["neurons"])
    if family == "phi3":
        return {"gate_up_proj": np.concatenate([gate, up]), "down_proj": down}
    return {"gate_proj": gate, "up_proj": up, "down_proj": down}


def biases(family, c, s):
    """Which matrices have a bias, and of how many numbers."""
    rows = {"q": s["q"], "k": s["kv"], "v": s["kv"], "o": s["width"]}
    attention = "qkv" if family == "qwen2" else "qkvo" if c.get("attention_bias") else ""
    out = {f"self_attn.{x}_proj": rows[x] for x in attention}
    if c.get("mlp_bias"):
        out |= {"mlp.gate_proj": s["neurons"], "mlp.up_proj": s["neurons"]}
        out |= {"mlp.down_proj": s["width"]}
    return out


def qkv_parts(s, random):
    """Query, key and value matrices, each [head*head_dim, embedding], and their biases."""
    matrices = [random.matrix(s["q"], s["width"], times=times) for times in (3, 3, 1)]
    return matrices, [random.bias(s["q"]) for _ in range(3)]


def gpt2_arrays(family, c, random):
    """GPT-2 keeps its matrices [in, out], and Q, K and V side by side."""
    s, out = sizes(c), {}
    out["transformer.wte.weight"] = random.matrix(c["vocab_size"], s["width"])
    out["transformer.wpe.weight"] = random.matrix(c["n_positions"], s["width"])
    for n in range(s["layers"]):
        at, (matrices, rows) = f"transformer.h.{n}.", qkv_parts(s, random)
        linears = {
            "attn.c_attn": (np.concatenate(matrices), np.concatenate(rows)),
            "attn.c_proj": (random.matrix(s["width"], s["q"]), random.bias(s["width"])),
            "mlp.c_fc": (random.matrix(s["neurons"], s["width"]), random.bias(s["neurons"])),
            "mlp.c_proj": (random.matrix(s["width"], s["neurons"]), random.bias(s["width"])),
        }
        for name, (matrix, bias) in linears.items():
            out[f"{at}{name}.weight"], out[f"{at}{name}.bias"] = matrix.T.copy(), bias
        out |= layer_norms(at, ["ln_1", "ln_2"], s, random)
    out |= layer_norms("transformer.", ["ln_f"], s, random)
    if not c.get("tie_word_embeddings", True):
        out["lm_head.weight"] = random.matrix(c["vocab_size"], s["width"])
    return out


def layer_norms(at, names, s, random):
    out = {f"{at}{name}.weight": random.gain(s["width"]) for name in names}
    return out | {f"{at}{name}.bias": random.bias(s["width"]) for name in names}


def neox_arrays(family, c, random):
    """GPT-NeoX keeps, head after head, the rows of its query, its key and its value."""
    s, out = sizes(c), {}
    out["gpt_neox.embed_in.weight"] = random.matrix(c["vocab_size"], s["width"])
    for n in range(s["layers"]):
        at, parts = f"gpt_neox.layers.{n}.", qkv_parts(s, random)
        matrix, bias = (by_head(p, s["heads"]) for p in parts)
        linears = {
            "attention.query_key_value": (matrix, bias),
            "attention.dense": (random.matrix(s["width"], s["q"]), random.bias(s["width"])),
            "mlp.dense_h_to_4h": (
                random.matrix(s["neurons"], s["width"]),
                random.bias(s["neurons"]),
            ),
            "mlp.dense_4h_to_h": (random.matrix(s["width"], s["neurons"]), random.bias(s["width"])),
        }
        for name, (matrix, bias) in linears.items():
            out[f"{at}{name}.weight"] = matrix
            if name.startswith("mlp") or c.get("attention_bias", True):
                out[f"{at}{name}.bias"] = bias
        out |= layer_norms(at, ["input_layernorm", "post_attention_layernorm"], s, random)
    out |= layer_norms("gpt_neox.", ["final_layer_norm"], s, random)
    if not c.get("tie_word_embeddings"):
        out["embed_out.weight"] = random.matrix(c["vocab_size"], s["width"])
    return out


def by_head(parts, heads):
    """Lay the rows of several arrays one head after the other."""
    cut = [np.split(part, heads) for part in parts]
    return np.concatenate([part[head] for head in range(heads) for part in cut])
