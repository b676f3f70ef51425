"""Where in transformers' modules each op stands, family by family, and how to bring it to our axes.

Knows transformers' module names (5.24) and shapes; runs nothing.
"""


def rows(x, config):  # [1, seq, ...] -> [seq, ...]
    """The values of the one text in the batch."""
    return x[0]


def heads(x, config):  # [1, seq, head*head_dim] -> [seq, head, head_dim]
    """Cut into heads, whether they lie side by side or have an axis."""
    return x[0].reshape(x.shape[1], -1, head_dim(config))


def heads_first(x, config):  # [1, head, seq, head_dim] -> [seq, head, head_dim]
    """Heads and positions the other way round."""
    return x[0].transpose(0, 1)


def half(n):
    """Gate (0) or up (1) of one fused matrix."""
    return lambda x, config: x[0].chunk(2, dim=-1)[n]


def third(n):
    """Query (0), key (1) or value (2) of a fused matrix: all queries, all keys, all values."""

    def cut(x, config):
        kv = getattr(config, "num_key_value_heads", config.num_attention_heads)
        sizes = [n_heads * head_dim(config) for n_heads in (config.num_attention_heads, kv, kv)]
        return heads(x.split(sizes, dim=-1)[n], config)

    return cut


def third_of_head(n):
    """Query (0), key (1) or value (2) of a fused matrix that holds the three head by head."""
    return lambda x, config: heads(x, config).unflatten(1, (-1, 3))[:, :, n]


def head_dim(config):
    """The numbers of one query; None in a configuration means width / heads."""
    explicit = getattr(config, "head_dim", None)
    return explicit or config.hidden_size // config.num_attention_heads


# op -> module of a layer ("" is the layer itself), its input or its output, what to cut from it
LLAMA = {
    "resid_pre": ("", "in", rows),
    "attn_norm": ("input_layernorm", "out", rows),
    "attn.q": ("self_attn.q_proj", "out", heads),
    "attn.k": ("self_attn.k_proj", "out", heads),
    "attn.v": ("self_attn.v_proj", "out", heads),
    "attn.out": ("self_attn.o_proj", "out", rows),
    "resid_mid": ("post_attention_layernorm", "in", rows),
    "mlp_norm": ("post_attention_layernorm", "out", rows),
    "mlp.gate": ("mlp.gate_proj", "out", rows),
    "mlp.up": ("mlp.up_proj", "out", rows),
    "mlp.act": ("mlp.act_fn", "out", rows),
    "mlp.hidden": ("mlp.down_proj", "in", rows),
    "mlp.out": ("mlp.down_proj", "out", rows),
    "resid_post": ("", "out", rows),
}
POST_NORMS = {
    "attn.post_norm": ("post_attention_layernorm", "out", rows),
    "mlp.post_norm": ("post_feedforward_layernorm", "out", rows),
}
GEMMA2 = LLAMA | POST_NORMS
GEMMA2 |= {
    "resid_mid": ("pre_feedforward_layernorm", "in", rows),
    "mlp_norm": ("pre_feedforward_layernorm", "out", rows),
}


def qk_norms(cut):
    """The two norms of queries and keys."""
    return {f"attn.{x}_norm": (f"self_attn.{x}_norm", "out", cut) for x in "qk"}


def fused(module, part):
    """Query, key and value from one module."""
    return {f"attn.{x}": (module, "out", part(n)) for n, x in enumerate("qkv")}


OLMO2 = LLAMA | POST_NORMS | qk_norms(heads) | {"resid_mid": ("mlp", "in", rows)}
del OLMO2["attn_norm"], OLMO2["mlp_norm"]
PHI3 = LLAMA | fused("self_attn.qkv_proj", third)
PHI3 |= {
    "mlp.gate": ("mlp.gate_up_proj", "out", half(0)),
    "mlp.up": ("mlp.gate_up_proj", "out", half(1)),
    "mlp.act": ("mlp.activation_fn", "out", rows),
}
GPT2 = fused("attn.c_attn", third) | {
    "resid_pre": ("", "in", rows),
    "attn_norm": ("ln_1", "out", rows),
    "attn.out": ("attn.c_proj", "out", rows),
    "resid_mid": ("ln_2", "in", rows),
    "mlp_norm": ("ln_2", "out", rows),
    "mlp.up": ("mlp.c_fc", "out", rows),
    "mlp.act": ("mlp.act", "out", rows),
    "mlp.out": ("mlp.c_proj", "out", rows),
    "resid_post": ("", "out", rows),
}
GPT_NEOX = fused("attention.query_key_value", third_of_head) | {
    "resid_pre": ("", "in", rows),
    "attn_norm": ("input_layernorm", "out", rows),
    "attn.out": ("attention.dense", "out", rows),
    "resid_mid": ("post_attention_layernorm", "in", rows),  # where the block is not parallel
    "mlp_norm": ("post_attention_layernorm", "out", rows),
    "mlp.up": ("mlp.dense_h_to_4h", "out", rows),
    "mlp.act": ("mlp.act", "out", rows),
    "mlp.out": ("mlp.dense_4h_to_h", "out", rows),
    "resid_post": ("", "out", rows),
}
PLACES = {
    **dict.fromkeys(("llama", "mistral", "qwen2", "gemma", "smollm3"), LLAMA),
    "qwen3": LLAMA | qk_norms(heads),
    "gemma2": GEMMA2,
    "gemma3_text": GEMMA2 | qk_norms(heads_first),
    "phi3": PHI3,
    "olmo2": OLMO2,
    "gpt2": GPT2,
    "gpt_neox": GPT_NEOX,
}
OUTSIDE = {
    **dict.fromkeys(PLACES, {"final_norm": ("norm", "out", rows)}),
    "gpt2": {"pos_embed": ("drop", "out", rows), "final_norm": ("ln_f", "out", rows)},
    "gpt_neox": {"final_norm": ("final_layer_norm", "out", rows)},
}
