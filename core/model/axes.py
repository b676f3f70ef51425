"""The axis vocabulary, and the axes of every op: one table for ops, edits, traces, figures and
lessons.

Knows names only, no numbers. There is no batch axis anywhere.

  seq        positions of the tokens in the text, 0 first
  query      positions that look; key: positions looked at (both are copies of seq)
  embedding  the numbers of one residual-stream row
  head       query heads; kv_head: key and value heads, each shared by a group of query heads
  head_dim   the numbers of one query, key or value
  neurons    hidden units of the MLP
  vocab      tokens the model can name
"""

STREAM = ("seq", "embedding")
QUERIES = ("seq", "head", "head_dim")
KEYS = ("seq", "kv_head", "head_dim")
MAP = ("head", "query", "key")
TOKEN_AXES = ("seq", "query", "key")
HIDDEN = ("seq", "neurons")

# Every op there is, in the order of the pass; a model has those that its family has.
OP_AXES = {
    "embed": STREAM,
    "embed_scaled": STREAM,
    "pos_embed": STREAM,
    "resid_pre": STREAM,
    "attn_norm": STREAM,
    "attn.q": QUERIES,
    "attn.k": KEYS,
    "attn.v": KEYS,
    "attn.q_norm": QUERIES,
    "attn.k_norm": KEYS,
    "attn.q_rot": QUERIES,
    "attn.k_rot": KEYS,
    "attn.scores": MAP,
    "attn.softcap": MAP,
    "attn.masked": MAP,
    "attn.weights": MAP,
    "attn.mix": QUERIES,
    "attn.out": STREAM,
    "attn.post_norm": STREAM,
    "resid_mid": STREAM,
    "mlp_norm": STREAM,
    "mlp.gate": HIDDEN,
    "mlp.up": HIDDEN,
    "mlp.act": HIDDEN,
    "mlp.hidden": HIDDEN,
    "mlp.out": STREAM,
    "mlp.post_norm": STREAM,
    "resid_post": STREAM,
    "final_norm": STREAM,
    "logits": ("vocab",),
    "logits_capped": ("vocab",),
    "probs": ("vocab",),
}

BEFORE_BLOCKS = ("embed", "embed_scaled", "pos_embed")
AFTER_BLOCKS = ("final_norm", "logits", "logits_capped", "probs")
VOCAB_OPS = AFTER_BLOCKS[1:]  # of one position at a time
HIDING = "attn.masked"  # its infinities hide keys on purpose


def is_layer_op(op: str) -> bool:
    """Whether the op exists once per layer."""
    return op in OP_AXES and op not in BEFORE_BLOCKS + AFTER_BLOCKS
