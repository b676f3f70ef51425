"""The forward pass of a llama-type decoder: token ids and weights become logits, in straight lines.

Every intermediate value passes through `tap(op, layer, value) -> value`, the one seam for recording
and editing. Knows arrays and sizes; no file, text or trace.
"""

from . import ops, rope


def forward(ids, weights, config, cache, tap):  # [seq] -> [seq, embedding]
    """Run new tokens through all blocks, after those already in the cache.

    ids: int [seq]; weights: a `Weights`; cache: a `KVCache`, extended by seq rows.
    Returns the residual stream after the last block.
    """
    x = tap("embed", None, ops.embed(ids, weights.embed))
    turn = rope.cos_sin(cache.length, cache.length + len(ids), config.head_dim, config.rope_theta)
    for layer in range(config.n_layers):
        x = block(x, weights.layers[layer], config, layer, turn, cache, tap)
    cache.advance(len(ids))
    return x


def block(x, w, config, layer, turn, cache, tap):  # [seq, embedding] -> [seq, embedding]
    """One transformer block: attention, then the MLP, each added to the residual stream."""
    c = config
    resid_pre = tap("resid_pre", layer, ops.same(x))

    h = tap("attn_norm", layer, ops.rms_norm(resid_pre, w.attn_norm, c.norm_eps))
    q = tap("attn.q", layer, ops.project_heads(h, w.attn_q, c.n_heads))
    k = tap("attn.k", layer, ops.project_heads(h, w.attn_k, c.n_kv_heads))
    v = tap("attn.v", layer, ops.project_heads(h, w.attn_v, c.n_kv_heads))
    q_rot = tap("attn.q_rot", layer, ops.rotate(q, *turn))
    k_rot = tap("attn.k_rot", layer, ops.rotate(k, *turn))
    keys, values = cache.append(layer, k_rot, v)
    scores = tap("attn.scores", layer, ops.scores(q_rot, keys, c.score_scale))
    masked = tap("attn.masked", layer, ops.mask(scores))
    attention = tap("attn.weights", layer, ops.softmax(masked))
    mix = tap("attn.mix", layer, ops.mix(attention, values))
    out = tap("attn.out", layer, ops.merge_heads(mix, w.attn_out))
    resid_mid = tap("resid_mid", layer, ops.add(resid_pre, out))

    h = tap("mlp_norm", layer, ops.rms_norm(resid_mid, w.mlp_norm, c.norm_eps))
    gate = tap("mlp.gate", layer, ops.linear(h, w.mlp_gate))
    up = tap("mlp.up", layer, ops.linear(h, w.mlp_up))
    act = tap("mlp.act", layer, ops.silu(gate))
    hidden = tap("mlp.hidden", layer, ops.multiply(act, up))
    out = tap("mlp.out", layer, ops.linear(hidden, w.mlp_out))
    return tap("resid_post", layer, ops.add(resid_mid, out))


def unembed(x, weights, config, tap):  # [seq, embedding] -> [seq, vocab]
    """The last norm, then the dot product of each row with every row of the output matrix."""
    h = tap("final_norm", None, ops.rms_norm(x, weights.final_norm, config.norm_eps))
    return tap("logits", None, ops.linear(h, weights.head))


def no_tap(op, layer, value):
    """The tap that neither records nor edits."""
    return value


def chunks(n_tokens: int, whole: int = 1024, part: int = 512):
    """Where a prompt is cut for prefill: one pass up to `whole` tokens, else passes of `part`.

    A pure function of the number of tokens, so that a layer recomputed later is cut in the same
    places and comes out bit for bit the same. Long prompts are cut because their scores would not
    fit in memory.
    """
    size = n_tokens if n_tokens <= whole else part
    edges = [*range(0, n_tokens, size), n_tokens]
    return list(zip(edges, edges[1:], strict=False))
