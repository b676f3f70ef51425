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
HIDDEN = ("seq", "neurons")

OP_AXES = {
    "embed": STREAM,
    "resid_pre": STREAM,
    "attn_norm": STREAM,
    "attn.q": QUERIES,
    "attn.k": KEYS,
    "attn.v": KEYS,
    "attn.q_rot": QUERIES,
    "attn.k_rot": KEYS,
    "attn.scores": MAP,
    "attn.masked": MAP,
    "attn.weights": MAP,
    "attn.mix": QUERIES,
    "attn.out": STREAM,
    "resid_mid": STREAM,
    "mlp_norm": STREAM,
    "mlp.gate": HIDDEN,
    "mlp.up": HIDDEN,
    "mlp.act": HIDDEN,
    "mlp.hidden": HIDDEN,
    "mlp.out": STREAM,
    "resid_post": STREAM,
    "final_norm": STREAM,
    "logits": ("vocab",),
    "probs": ("vocab",),
}
