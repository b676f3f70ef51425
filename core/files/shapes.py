"""Which weights a model of a config has, and the shape of each. Knows no file and no numbers."""

from core.model.config import ModelConfig

TOP = {"embed", "pos_embed", "final_norm", "final_norm_bias", "head"}  # those outside the blocks


def shapes(config: ModelConfig) -> dict[str, tuple[int, ...]]:
    """The shape of each weight that a model of this config has."""
    c = config
    top = {"embed": (c.vocab, c.width), "head": (c.vocab, c.width)}
    if c.learned_positions:
        top["pos_embed"] = (c.context, c.width)
    large, norms = matrices(c), {"final_norm": (c.width,)} | _norms(c)
    biases = {f"{name}_bias": (large[name][0],) for name in c.biases}
    if c.norm == "layer":
        biases |= {f"{name}_bias": shape for name, shape in norms.items()}
    return top | large | norms | biases


def matrices(c: ModelConfig) -> dict[str, tuple[int, int]]:
    """The matrices of a block: [out, in]."""
    queries, keys = c.n_heads * c.head_dim, c.n_kv_heads * c.head_dim
    gate = {"mlp_gate": (c.neurons, c.width)} if c.gated else {}
    return gate | {
        "attn_q": (queries, c.width),
        "attn_k": (keys, c.width),
        "attn_v": (keys, c.width),
        "attn_out": (c.width, queries),
        "mlp_up": (c.neurons, c.width),
        "mlp_out": (c.width, c.neurons),
    }


def _norms(c):
    """The norms of a block, by the places its family gives them."""
    places = {"before": ["norm"], "after": ["post_norm"], "both": ["norm", "post_norm"]}
    rows = {
        f"{part}_{place}": (c.width,) for place in places[c.norm_place] for part in ("attn", "mlp")
    }
    if c.qk_norm:
        heads = (c.n_heads, c.n_kv_heads) if c.qk_norm == "width" else (1, 1)
        sizes = (n * c.head_dim for n in heads)
        rows |= {f"attn_{x}_norm": (n,) for x, n in zip("qk", sizes, strict=True)}
    return rows
