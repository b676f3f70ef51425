"""The families of models that can be opened: all that one does otherwise than the next, as data.

Knows architectures, the keys of config.json and how files lay tensors out; opens nothing. One more
family made of existing operations is one more entry here (and its test).
Sources: the configuration and modelling code of transformers, llama.cpp's conversion scripts.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

QKV, MLP = ("attn_q", "attn_k", "attn_v"), ("mlp_gate", "mlp_up", "mlp_out")
QKVO = (*QKV, "attn_out")
LLAMA_BIASES = {"attention_bias": QKVO, "mlp_bias": MLP}
ATTENTION_BIAS = {"attention_bias": QKVO}


@dataclass(frozen=True)
class Family:
    """One entry of the table.

    Settings carry the names that Llama's config.json has, and `norm_eps`.

    Attributes:
        gguf: `general.architecture` of its GGUF files. model_types: `model_type` of config.json.
        model_class: what transformers calls it. spelling: settings under another key, {key: ours}.
        defaults: settings where config.json says nothing (others must be there).
        norm, norm_place, qk_norm, gated, learned_positions: as in ModelConfig.
        embed_scaled: whether embedding rows are multiplied by the root of the width.
        score_setting: the setting that replaces head_dim in the scale of scores.
        wide_at: number of blocks of the one size whose GGUF files scale by width / heads instead.
        score_cap, logit_cap: whether the settings of soft caps are read (gemma3 states one for its
            scores and does not use it).
        parallel: whether `use_parallel_residual` is read.
        rotates: whether there is RoPE. turned: the share of a head that turns where no setting says
            it; None where whole heads turn, always. local_theta: base in layers with a window.
        still: (settings, layer) -> whether that layer does not rotate; None where all do.
        windowed: (settings, layer) -> whether that layer has a window; None where none has.
        window_switch: whether `use_sliding_window` must be on. layer_types: whether they count.
        biases: weights that always have one. bias_switches: settings that add more.
        interleaved: whether GGUF stores the rows of Q and K interleaved. norm_offset: whether
            safetensors store norms less 1. conv1d: whether they store matrices [in, out].
        fused_qkv: "rows" where Q, K and V are one tensor, one below the other; "heads" where
            safetensors lay them head by head. fused_mlp: whether gate and up are one tensor.
        aliases: words of config.json that mean another one here.
        prefixes: what may stand before names in safetensors. ignored: tensors beside the text.
    """

    gguf: str
    model_types: tuple[str, ...]
    model_class: str
    spelling: dict[str, str] = field(default_factory=lambda: {"rms_norm_eps": "norm_eps"})
    defaults: dict = field(default_factory=dict)
    norm: str = "rms"
    norm_place: str = "before"
    qk_norm: str | None = None
    gated: bool = True
    learned_positions: bool = False
    embed_scaled: bool = False
    score_setting: str | None = None
    wide_at: int | None = None
    score_cap: bool = False
    logit_cap: bool = False
    parallel: bool = False
    rotates: bool = True
    turned: float | None = None
    local_theta: float | None = None
    still: Callable | None = None
    windowed: Callable | None = None
    window_switch: bool = False
    layer_types: bool = False
    biases: tuple[str, ...] = ()
    bias_switches: dict[str, tuple[str, ...]] = field(default_factory=dict)
    interleaved: bool = False
    norm_offset: bool = False
    conv1d: bool = False
    fused_qkv: str | None = None
    fused_mlp: bool = False
    aliases: dict[str, str] = field(default_factory=dict)
    prefixes: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()


def everywhere(settings, layer):
    """Every layer has a window."""
    return True


def late(settings, layer):
    """Layers from `max_window_layers` have a window."""
    return layer >= settings.size("max_window_layers", 28, least=0)


def between(settings, layer):
    """Every layer but each n-th has a window."""
    return (layer + 1) % settings.size("sliding_window_pattern") != 0


def unrotated(settings, layer):
    """Layers that `no_rope_layers` marks with 0, or else each n-th."""
    marks = settings.items("no_rope_layers", (int, bool), settings.size("num_hidden_layers"))
    if marks:
        return not marks[layer]
    return (layer + 1) % settings.size("no_rope_layer_interval", 4) == 0


COMMON = {"norm_eps": 1e-6, "rope_theta": 10_000.0, "hidden_act": "silu"}
GEMMA = {"hidden_act": "gelu_pytorch_tanh", "head_dim": 256, "tie_word_embeddings": True}
GEMMA2_KEYS = {"rms_norm_eps": "norm_eps", "hidden_activation": "hidden_act"}
GEMMA2 = {"query_pre_attn_scalar": 256, "sliding_window": 4096, "num_key_value_heads": 4}
GPT = {"norm_eps": 1e-5, "hidden_act": "gelu"}

FAMILIES = {
    "llama": Family(
        "llama", ("llama",), "LlamaForCausalLM", bias_switches=LLAMA_BIASES, interleaved=True
    ),
    "mistral": Family(
        "llama",
        ("mistral",),
        "MistralForCausalLM",
        defaults={"sliding_window": 4096, "num_key_value_heads": 8},
        windowed=everywhere,
        interleaved=True,
    ),
    "qwen2": Family(
        "qwen2",
        ("qwen2",),
        "Qwen2ForCausalLM",
        defaults={"sliding_window": 4096, "num_key_value_heads": 32},
        windowed=late,
        window_switch=True,
        layer_types=True,
        biases=QKV,
    ),
    "qwen3": Family(
        "qwen3",
        ("qwen3",),
        "Qwen3ForCausalLM",
        defaults={"sliding_window": 4096, "num_key_value_heads": 32, "head_dim": 128},
        qk_norm="head",
        windowed=late,
        window_switch=True,
        layer_types=True,
        bias_switches=ATTENTION_BIAS,
    ),
    "gemma": Family(
        "gemma",
        ("gemma",),
        "GemmaForCausalLM",
        defaults=GEMMA | {"num_key_value_heads": 16},
        embed_scaled=True,
        bias_switches=ATTENTION_BIAS,
        norm_offset=True,
        aliases={"gelu": "gelu_pytorch_tanh"},  # what the first files meant by it
    ),
    "gemma2": Family(
        "gemma2",
        ("gemma2",),
        "Gemma2ForCausalLM",
        spelling=GEMMA2_KEYS,
        defaults=GEMMA
        | GEMMA2
        | {"sliding_window_pattern": 2}
        | {"attn_logit_softcapping": 50.0, "final_logit_softcapping": 30.0},
        norm_place="both",
        embed_scaled=True,
        score_setting="query_pre_attn_scalar",
        wide_at=46,
        score_cap=True,
        logit_cap=True,
        windowed=between,
        layer_types=True,
        bias_switches=ATTENTION_BIAS,
        norm_offset=True,
    ),
    "gemma3": Family(
        "gemma3",
        ("gemma3_text", "gemma3"),
        "Gemma3ForCausalLM",
        spelling=GEMMA2_KEYS,
        defaults=GEMMA
        | GEMMA2
        | {"sliding_window_pattern": 6, "rope_theta": 1e6, "vocab_size": 262_208}
        | {"num_attention_heads": 8, "max_position_embeddings": 131_072},
        norm_place="both",
        qk_norm="head",
        embed_scaled=True,
        score_setting="query_pre_attn_scalar",
        wide_at=62,
        logit_cap=True,
        local_theta=10_000.0,
        windowed=between,
        layer_types=True,
        bias_switches=ATTENTION_BIAS,
        norm_offset=True,
        prefixes=("language_model.", "model.language_model."),
        ignored=("vision_tower.", "multi_modal_projector."),
    ),
    "phi3": Family(
        "phi3",
        ("phi3",),
        "Phi3ForCausalLM",
        defaults={"norm_eps": 1e-5, "original_max_position_embeddings": 4096},
        turned=1.0,
        windowed=everywhere,
        fused_qkv="rows",
        fused_mlp=True,
        aliases={"su": "longrope", "yarn": "longrope"},
    ),
    "olmo2": Family(
        "olmo2",
        ("olmo2",),
        "Olmo2ForCausalLM",
        defaults={"norm_eps": 1e-5},
        norm_place="after",
        qk_norm="width",
        bias_switches=ATTENTION_BIAS,
    ),
    "smollm3": Family(
        "smollm3",
        ("smollm3",),
        "SmolLM3ForCausalLM",
        defaults={"rope_theta": 2e6, "tie_word_embeddings": True, "num_key_value_heads": 4},
        still=unrotated,
        windowed=unrotated,
        window_switch=True,
        layer_types=True,
        bias_switches=LLAMA_BIASES,
        interleaved=True,
    ),
    "gpt2": Family(
        "gpt2",
        ("gpt2",),
        "GPT2LMHeadModel",
        spelling={
            "n_embd": "hidden_size",
            "n_head": "num_attention_heads",
            "n_layer": "num_hidden_layers",
            "n_positions": "max_position_embeddings",
            "n_inner": "intermediate_size",
            "activation_function": "hidden_act",
            "layer_norm_epsilon": "norm_eps",
        },
        defaults=GPT
        | {"hidden_act": "gelu_new", "tie_word_embeddings": True}
        | {"intermediate_size": None},  # four times the width
        norm="layer",
        gated=False,
        learned_positions=True,
        rotates=False,
        biases=(*QKVO, "mlp_up", "mlp_out"),
        conv1d=True,
        fused_qkv="rows",
    ),
    "gptneox": Family(
        "gptneox",
        ("gpt_neox",),
        "GPTNeoXForCausalLM",
        spelling={
            "layer_norm_eps": "norm_eps",
            "rotary_pct": "partial_rotary_factor",
            "rotary_emb_base": "rope_theta",
        },
        defaults=GPT | {"attention_bias": True, "use_parallel_residual": True},
        norm="layer",
        gated=False,
        parallel=True,
        turned=0.25,
        biases=("mlp_up", "mlp_out"),
        bias_switches=ATTENTION_BIAS,
        fused_qkv="heads",
    ),
}
SUPPORTED = ", ".join(FAMILIES)


def of_gguf(architecture: str, has_window: bool = False) -> Family | None:
    """The family that GGUF files call so; of two with one name, the one that has windows or not."""
    same = [f for f in FAMILIES.values() if f.gguf == architecture]
    fitting = [f for f in same if bool(f.windowed) == has_window]
    return next(iter(fitting or same), None)


def of_model_type(model_type: str) -> Family | None:
    """The family that config.json calls so."""
    return next((f for f in FAMILIES.values() if model_type in f.model_types), None)
