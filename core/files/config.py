"""The ModelConfig of a model file, from the metadata of a GGUF file or from config.json, checked.

Knows what settings mean, and builds the one description the engine runs by. Knows no family: what
one does otherwise stands in the table of `families`.
"""

from core.errors import ModelFileError
from core.files import families, names, ropes, spelling
from core.files.families import SUPPORTED
from core.files.settings import REQUIRED
from core.model.config import ModelConfig

MOST_LAYERS, LARGEST_HEAD = 1024, 4096
ACTIVATIONS = {"silu": "silu", "swish": "silu", "gelu": "gelu_erf", "gelu_python": "gelu_erf"}
ACTIVATIONS |= dict.fromkeys(["gelu_pytorch_tanh", "gelu_new", "gelu_fast"], "gelu_tanh")
# settings that ask for another computation, and the values that do not
USUAL = {
    "quantization_config": (None,),
    "quantization": (None,),
    "num_experts": (None, 0),
    "num_local_experts": (None, 0),
    "expert_count": (None, 0),
    "use_bidirectional_attention": (None, False),
    "add_cross_attention": (None, False),
    "scale_attn_weights": (None, True),
    "scale_attn_by_inverse_layer_idx": (None, False),
    "attention.causal": (None, True),
    "is_causal": (None, True),
    "clip_qkv": (None,),
    "attention.clamp_kqv": (None, 0.0),
    "attention.max_alibi_bias": (None, 0.0),
    "attention.scale": (None,),
    "logit_scale": (None, 0.0, 1.0),
    "residual_scale": (None, 0.0, 1.0),
    "embedding_scale": (None, 0.0, 1.0),
}


def from_gguf(gguf_file) -> ModelConfig:
    """The ModelConfig of a parsed GGUF file.

    Raises ModelFileError for an architecture we do not have, a missing key, a setting that asks for
    another computation, or sizes that contradict each other.
    """
    family = spelling.family_of_gguf(gguf_file)
    s = spelling.of_gguf(gguf_file, family)
    _check_usual(s)
    head_dim = _head_dim(s)
    if s.size("attention.value_length", head_dim) != head_dim:
        raise s.unsupported("its values have another size than its keys", "one size for both")
    _check_layers(s, gguf_file.tensors)
    factors = _rope_factors(gguf_file)
    pair = ropes.from_gguf(s, family, head_dim, factors) if family.rotates else (None, None)
    return _build(s, family, head_dim, pair, _stored_biases(gguf_file, family))


def from_folder(folder) -> ModelConfig:
    """The ModelConfig of an opened Hugging Face folder, in the old or the new spelling of settings.

    Where config.json says nothing, the defaults of transformers count. Raises as `from_gguf`.
    """
    family, s = spelling.family_of_folder(folder), spelling.of_folder(folder)
    _check_usual(s)
    _check_own_code(s, family)
    _check_layers(s, folder.tensors)
    head_dim, context = _head_dim(s), s.size("max_position_embeddings")
    pair = ropes.from_config(s, family, head_dim, context) if family.rotates else (None, None)
    biases = set(family.biases)
    for switch, more in family.bias_switches.items():
        biases |= set(more) if s.flag(switch, False) else set()
    return _build(s, family, head_dim, pair, biases)


def _check_usual(s):
    """Raise for a setting that asks for another computation than ours."""
    for key, usual in USUAL.items():
        value = s.values.get(key)
        if not any(value is x or value == x for x in usual):
            reason = f"its setting {key} asks for another computation"
            raise s.unsupported(reason, "models without this setting")


def _check_own_code(s, family):
    """Python code that comes with a model is never run; its own class would do something else."""
    table = s.get("auto_map", dict, {})
    own = table.get("AutoModelForCausalLM", family.model_class)
    if not isinstance(own, str) or own.rpartition(".")[2] != family.model_class:
        raise s.unsupported("it needs Python code of its own, which is never run", SUPPORTED)


def _check_layers(s, tensors):
    """Before anybody makes a list of so many."""
    n_layers = s.size("num_hidden_layers")
    if n_layers > MOST_LAYERS:
        raise s.fail("num_hidden_layers", f"{n_layers} blocks are more than {MOST_LAYERS}")
    if n_layers > len(tensors):
        reason = f"{n_layers} blocks cannot be in {len(tensors)} tensors"
        raise s.fail("num_hidden_layers", reason)


def _head_dim(s):
    width, heads = s.size("hidden_size"), s.size("num_attention_heads")
    head_dim = s.size("head_dim", None)
    if head_dim is None and width % heads:
        raise s.fail("num_attention_heads", f"{heads} heads cannot share a width of {width}")
    return head_dim or width // heads


def _rope_factors(gguf_file):
    """The numbers of the tensors that change rotations, by the tensor's name."""
    found = {}
    for name in ("rope_freqs", "rope_factors_short", "rope_factors_long"):
        if tensor := gguf_file.tensors.get(f"{name}.weight"):
            found[name] = _few_numbers(gguf_file, tensor)
    return found


def _few_numbers(gguf_file, tensor):
    """The numbers of a tensor that must be a short list of float32."""
    if tensor.dtype != "F32" or len(tensor.shape) != 1 or tensor.shape[0] > LARGEST_HEAD:
        reason, place = "it is not a short list of float32", f"tensor {tensor.name}"
        raise ModelFileError("broken", path=str(gguf_file.path), place=place, reason=reason)
    return tuple(map(spelling.decimal, gguf_file.numbers(tensor).tolist()))


def _stored_biases(gguf_file, family):
    """The weights that have a bias: those of the family, and those it may have, if stored."""
    optional = {name for more in family.bias_switches.values() for name in more}
    stored = {
        weight.removesuffix("_bias")
        for name in gguf_file.tensors
        if name.startswith("blk.0.") and name.endswith(".bias")
        for weight, _ in names.weights_in(name, family)
    }
    return set(family.biases) | (stored & optional)


def _build(s, family, head_dim, pair, biases):
    """The ModelConfig of checked settings. pair: rotations without and with a window."""
    heads, n_layers = s.size("num_attention_heads"), s.size("num_hidden_layers")
    kv_heads = s.size("num_key_value_heads", heads)
    if heads % kv_heads:
        reason = f"{heads} query heads cannot share {kv_heads} key/value heads"
        raise s.fail("num_key_value_heads", reason)
    width, windows = s.size("hidden_size"), _windows(s, family, n_layers)
    neurons = 4 * width if "intermediate_size" in family.defaults else REQUIRED
    return ModelConfig(
        architecture=next(name for name, f in families.FAMILIES.items() if f is family),
        n_layers=n_layers,
        width=width,
        n_heads=heads,
        n_kv_heads=kv_heads,
        head_dim=head_dim,
        neurons=s.size("intermediate_size", neurons),
        vocab=s.size("vocab_size"),
        context=ropes.longest(s.size("max_position_embeddings"), pair[0]),
        norm_eps=s.number("norm_eps"),
        score_scale=_score_size(s, family, head_dim) ** -0.5,
        ropes=_ropes(s, family, windows, pair),
        windows=windows,
        norm=family.norm,
        norm_place=family.norm_place,
        qk_norm=family.qk_norm,
        activation=_activation(s, family),
        gated=family.gated,
        parallel=family.parallel and s.flag("use_parallel_residual"),
        embed_scale=width**0.5 if family.embed_scaled else None,
        learned_positions=family.learned_positions,
        attn_softcap=s.number("attn_logit_softcapping", None) if family.score_cap else None,
        logit_softcap=s.number("final_logit_softcapping", None) if family.logit_cap else None,
        biases=frozenset(biases),
    )


def _score_size(s, family, head_dim):
    """What scores are divided by the root of. GGUF files do not say it where it is another."""
    if family.score_setting is None:
        return head_dim
    if s.size("num_hidden_layers") == family.wide_at:
        head_dim = s.size("hidden_size") // s.size("num_attention_heads")
    return s.number(family.score_setting, head_dim)


def _activation(s, family):
    word = s.text("hidden_act")
    word = family.aliases.get(word, word)
    if word not in ACTIVATIONS:
        known = ", ".join(ACTIVATIONS)
        raise s.unsupported(f"its activation is {word[:40]!r}", known)
    return ACTIVATIONS[word]


def _windows(s, family, n_layers):
    """How many positions each layer sees, or None for all."""
    kinds = s.items("layer_types", str, n_layers) if family.layer_types else None
    if kinds and set(kinds) - {"sliding_attention", "full_attention"}:
        raise s.unsupported("its layer_types are of another kind", "full and sliding attention")
    off = family.window_switch and not s.flag("use_sliding_window", False)
    size = None if family.windowed is None or off else s.size("sliding_window", None)
    if size is None:
        return (None,) * n_layers
    inside = [
        kinds[n] == "sliding_attention" if kinds else family.windowed(s, n) for n in range(n_layers)
    ]
    return tuple(size if here else None for here in inside)


def _ropes(s, family, windows, pair):
    """The rotation of each layer, or None for one that does not rotate."""
    whole, local = pair
    return tuple(
        None if family.still and family.still(s, n) else local if window else whole
        for n, window in enumerate(windows)
    )
