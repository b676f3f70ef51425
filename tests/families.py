"""A tiny random model of every family, as a Hugging Face folder and as a GGUF file of one content.

Knows, by hand and a second time on purpose, what each family's config.json and tensors are called
and how a GGUF file stores the same: the readers in core are tested against it. `...` as a changed
key leaves the key out; None writes null.
"""

import json
from pathlib import Path

from safetensors.numpy import save_file

from tests.family_arrays import hf_arrays
from tests.family_gguf import (
    ARCHITECTURES,
    gguf_arrays,
    gguf_metadata,
    tokenizer_metadata,
    write,
)

WIDTH, HEADS, KV_HEADS, NEURONS, VOCAB, CONTEXT, ORIGINAL, WINDOW = 32, 4, 2, 48, 96, 128, 64, 8

LLAMA = {
    "hidden_size": WIDTH,
    "intermediate_size": NEURONS,
    "num_hidden_layers": 2,
    "num_attention_heads": HEADS,
    "num_key_value_heads": KV_HEADS,
    "vocab_size": VOCAB,
    "max_position_embeddings": CONTEXT,
    "hidden_act": "silu",
    "rms_norm_eps": 1e-5,
    "rope_theta": 10_000.0,
    "tie_word_embeddings": False,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "torch_dtype": "float32",
}
QWEN3 = LLAMA | {"head_dim": 16, "rope_theta": 1e6, "rms_norm_eps": 1e-6}
GEMMA = LLAMA | {"head_dim": 16, "rms_norm_eps": 1e-6, "tie_word_embeddings": True}
GEMMA |= {"hidden_act": "gelu_pytorch_tanh", "hidden_activation": "gelu_pytorch_tanh"}
GEMMA2 = GEMMA | {"query_pre_attn_scalar": 24, "sliding_window": WINDOW}
GPT2 = {"n_embd": WIDTH, "n_head": HEADS, "n_layer": 2, "n_positions": CONTEXT, "n_ctx": CONTEXT}
GPT2 |= {"vocab_size": VOCAB, "activation_function": "gelu_new", "layer_norm_epsilon": 1e-5}
NEOX = {k: LLAMA[k] for k in LLAMA if k not in ("rope_theta", "rms_norm_eps")}
NEOX |= {"hidden_act": "gelu", "layer_norm_eps": 1e-5, "num_key_value_heads": ...}
NEOX |= {"rotary_pct": 0.5, "rotary_emb_base": 10_000, "use_parallel_residual": True}
CONFIGS = {
    "llama": LLAMA,
    "mistral": LLAMA | {"sliding_window": WINDOW},
    "qwen2": LLAMA | {"rope_theta": 1e6, "rms_norm_eps": 1e-6, "tie_word_embeddings": True},
    "qwen3": QWEN3,
    "gemma": GEMMA,
    "gemma2": GEMMA2 | {"attn_logit_softcapping": 5.0, "final_logit_softcapping": 3.0},
    "gemma3": GEMMA2
    | {"num_hidden_layers": 6, "rope_theta": 1e6, "rope_local_base_freq": 10_000.0}
    | {"sliding_window_pattern": 6},
    "phi3": LLAMA | {"sliding_window": 12, "partial_rotary_factor": 0.75, "pad_token_id": 0},
    "olmo2": LLAMA | {"rope_theta": 5e5},
    "smollm3": LLAMA
    | {"num_hidden_layers": 4, "rope_theta": 2e6, "tie_word_embeddings": True}
    # the class would take ids outside this small vocabulary
    | {"no_rope_layers": [1, 1, 1, 0], "pad_token_id": 0},
    "gpt2": GPT2 | {"bos_token_id": 1, "eos_token_id": 2},
    "gpt_neox": NEOX,
}
CLASSES = {
    "llama": "LlamaForCausalLM",
    "mistral": "MistralForCausalLM",
    "qwen2": "Qwen2ForCausalLM",
    "qwen3": "Qwen3ForCausalLM",
    "gemma": "GemmaForCausalLM",
    "gemma2": "Gemma2ForCausalLM",
    "gemma3": "Gemma3ForCausalLM",
    "phi3": "Phi3ForCausalLM",
    "olmo2": "Olmo2ForCausalLM",
    "smollm3": "SmolLM3ForCausalLM",
    "gpt2": "GPT2LMHeadModel",
    "gpt_neox": "GPTNeoXForCausalLM",
}
LONGROPE = {"rope_type": "longrope", "short_factor": [1.0, 1.1, 1.3, 1.2]}
LONGROPE |= {"long_factor": [1.0, 1.6, 2.5, 4.0], "original_max_position_embeddings": ORIGINAL}
LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
YARN = {"rope_type": "yarn", "factor": 2.0, "original_max_position_embeddings": ORIGINAL}
# changes of the llama config, four pairs per head; texts grow past 64 tokens where that matters
SCALINGS = {
    "linear": {"rope_scaling": {"rope_type": "linear", "factor": 2.0}},
    "dynamic": {
        "rope_scaling": {"rope_type": "dynamic", "factor": 2.0},
        "max_position_embeddings": ORIGINAL,
    },
    "yarn": {"rope_scaling": YARN},
    "llama3": {"rope_scaling": LLAMA3 | {"original_max_position_embeddings": ORIGINAL}},
    "longrope": {"rope_scaling": LONGROPE},
}
# changes of the phi3 config: three pairs, as it turns three quarters of a head
PHI3_SCALINGS = {
    "longrope": {
        "rope_scaling": {"type": "longrope"}
        | {"short_factor": [1.0, 1.1, 1.3], "long_factor": [1.0, 2.5, 4.0]},
        "original_max_position_embeddings": ORIGINAL,
    }
}


def config(family: str, **changes) -> dict:
    """What config.json holds; a change of `...` leaves a key out."""
    kind = "gemma3_text" if family == "gemma3" else family
    whole = {"architectures": [CLASSES[family]], "model_type": kind} | CONFIGS[family] | changes
    return {key: value for key, value in whole.items() if value is not ...}


def build_folder(path, family: str, seed: int = 0, **changes) -> str:
    """Write config.json and model.safetensors (no tokenizer) into a new folder; return its path."""
    folder, c = Path(path), config(family, **changes)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(c, indent=1))
    save_file(hf_arrays(family, c, seed), folder / "model.safetensors", {"format": "pt"})
    return str(folder)


def build_gguf(path, family: str, seed: int = 0, metadata=None, tensors=None, **changes) -> str:
    """Write one .gguf file with the weights of `build_folder` of the same arguments.

    metadata: keys to replace, whole, or to leave out (`...`). tensors: others than the family's.
    """
    c, architecture = config(family, **changes), ARCHITECTURES.get(family, family)
    own = {f"{architecture}.{key}": value for key, value in gguf_metadata(family, c).items()}
    whole = {"general.name": "Tiny"} | own | tokenizer_metadata() | (metadata or {})
    arrays = gguf_arrays(family, c, seed) if tensors is None else tensors
    return write(path, architecture, whole, arrays)
