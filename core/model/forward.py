"""The forward pass of a decoder: token ids and weights become logits, in straight lines.

What a family of models does otherwise than the next is a field of its ModelConfig, never its name.
Every intermediate value passes through `tap(op, layer, value) -> value`, the one seam for recording
and editing. Knows arrays and sizes; no file, text or trace.
"""

import numpy as np

from . import ops, rope


def forward(ids, weights, config, cache, tap, length=None):  # [seq] -> [seq, embedding]
    """Run new tokens through all blocks, after those already in the cache.

    ids: int [seq]; weights: a `Weights`; cache: a `KVCache`, extended by seq rows. length: tokens
    of the whole text if these are only a part of it (some models rotate longer texts otherwise).
    Returns the residual stream after the last block.
    """
    first, stop = cache.length, cache.length + len(ids)
    x = embed(ids, first, weights, config, tap)
    turns = angles(config, first, stop, length or stop)
    for layer in range(config.n_layers):
        x = block(x, weights.layers[layer], config, layer, turns[layer], cache, tap)
    cache.advance(len(ids))
    return x


def embed(ids, first, weights, config, tap):  # [seq] -> [seq, embedding]
    """One row of numbers per token: what the first block reads. first: position of the first id."""
    x = tap("embed", None, ops.embed(ids, weights.embed))
    if config.embed_scale:
        x = tap("embed_scaled", None, ops.scale(x, config.embed_scale))
    if config.learned_positions:
        positions = np.arange(first, first + len(ids))
        x = tap("pos_embed", None, ops.add_positions(x, weights.pos_embed, positions))
    return x


def angles(config, first, stop, length):
    """Cosines and sines for positions first..stop-1, layer by layer; None where none rotate."""
    tables = {r: rope.cos_sin(r, first, stop, length) for r in set(config.ropes) if r}
    return [tables.get(r) for r in config.ropes]


def block(x, w, config, layer, turn, cache, tap):  # [seq, embedding] -> [seq, embedding]
    """One transformer block: attention, then the MLP, each added to the residual stream."""
    resid_pre = tap("resid_pre", layer, ops.same(x))
    out = attention(resid_pre, w, config, layer, turn, cache, tap)
    resid_mid = tap("resid_mid", layer, ops.add(resid_pre, out))
    out = mlp(resid_pre if config.parallel else resid_mid, w, config, layer, tap)
    return tap("resid_post", layer, ops.add(resid_mid, out))


def attention(h, w, config, layer, turn, cache, tap):  # [seq, embedding] -> [seq, embedding]
    """Every token reads from itself and the tokens before it."""
    c = config
    if c.norm_place != "after":
        h = tap("attn_norm", layer, norm(h, w.attn_norm, w.attn_norm_bias, c))
    q, k, v = ops.project_qkv(h, w.attn_qkv, c.n_heads, c.n_kv_heads, w.attn_qkv_bias)
    q, k, v = tap("attn.q", layer, q), tap("attn.k", layer, k), tap("attn.v", layer, v)
    if c.qk_norm:
        head_norm = ops.rms_norm if c.qk_norm == "head" else ops.rms_norm_all_heads
        q = tap("attn.q_norm", layer, head_norm(q, w.attn_q_norm, c.norm_eps))
        k = tap("attn.k_norm", layer, head_norm(k, w.attn_k_norm, c.norm_eps))
    if turn:
        q = tap("attn.q_rot", layer, ops.rotate(q, *turn))
        k = tap("attn.k_rot", layer, ops.rotate(k, *turn))
    keys, values = cache.append(layer, k, v)
    scores = tap("attn.scores", layer, ops.scores(q, keys, c.score_scale))
    if c.attn_softcap:
        scores = tap("attn.softcap", layer, ops.softcap(scores, c.attn_softcap))
    masked = tap("attn.masked", layer, ops.mask(scores, c.windows[layer]))
    weights = tap("attn.weights", layer, ops.softmax(masked))
    mix = tap("attn.mix", layer, ops.mix(weights, values))
    out = tap("attn.out", layer, ops.merge_heads(mix, w.attn_out, w.attn_out_bias))
    if c.norm_place != "before":
        out = tap("attn.post_norm", layer, norm(out, w.attn_post_norm, None, c))
    return out


def mlp(h, w, config, layer, tap):  # [seq, embedding] -> [seq, embedding]
    """Every token by itself: many neurons, each of which fires or not, and what they write."""
    c, activation = config, ops.ACTIVATIONS[config.activation]
    if c.norm_place != "after":
        h = tap("mlp_norm", layer, norm(h, w.mlp_norm, w.mlp_norm_bias, c))
    if c.gated:
        gate, up = ops.linear_twice(h, w.mlp_gate_up, w.mlp_gate_up_bias)
        gate, up = tap("mlp.gate", layer, gate), tap("mlp.up", layer, up)
        act = tap("mlp.act", layer, activation(gate))
        hidden = tap("mlp.hidden", layer, ops.multiply(act, up))
    else:
        up = tap("mlp.up", layer, ops.linear(h, w.mlp_up, w.mlp_up_bias))
        hidden = tap("mlp.act", layer, activation(up))
    out = tap("mlp.out", layer, ops.linear(hidden, w.mlp_out, w.mlp_out_bias))
    if c.norm_place != "before":
        out = tap("mlp.post_norm", layer, norm(out, w.mlp_post_norm, None, c))
    return out


def norm(x, weight, bias, config):  # [seq, embedding] -> [seq, embedding]
    """The family's norm of every row."""
    if config.norm == "rms":
        return ops.rms_norm(x, weight, config.norm_eps)
    return ops.layer_norm(x, weight, config.norm_eps, bias)


def unembed(x, weights, config, tap):  # [seq, embedding] -> [seq, vocab]
    """The last norm, then the dot product of each row with every row of the output matrix."""
    h = tap("final_norm", None, norm(x, weights.final_norm, weights.final_norm_bias, config))
    logits = tap("logits", None, ops.linear(h, weights.head))
    if config.logit_softcap:
        logits = tap("logits_capped", None, ops.softcap(logits, config.logit_softcap))
    return logits


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
