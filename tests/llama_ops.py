"""The ops of a model of the llama family, written down by hand: every llama model has these."""

BLOCK_IDS = (
    "resid_pre attn_norm attn.q attn.k attn.v attn.q_rot attn.k_rot attn.scores attn.masked "
    "attn.weights attn.mix attn.out resid_mid mlp_norm mlp.gate mlp.up mlp.act mlp.hidden "
    "mlp.out resid_post"
).split()
OUTPUT_IDS = ["final_norm", "logits", "probs"]
OP_IDS = ["embed", *BLOCK_IDS, *OUTPUT_IDS]
