"""The sizes of a model from the metadata of its file, checked. Knows metadata keys; no arrays, no
text.
"""

import math

from core.errors import ModelFileError
from core.model.config import ModelConfig

SUPPORTED = ("llama",)
LARGEST = 1 << 24  # no size in a model of ours is near this; a larger one is damage


def from_gguf(gguf_file) -> ModelConfig:
    """The ModelConfig of a parsed GGUF file.

    Raises ModelFileError for an architecture we do not have, a missing key, or sizes that
    contradict each other.
    """
    architecture = gguf_file.get("general.architecture", str)
    if architecture not in SUPPORTED:
        path, reason = str(gguf_file.path), f"its architecture is {architecture!r}"
        names = ", ".join(SUPPORTED)
        raise ModelFileError("unsupported", path=path, reason=reason, supported=names)
    size, number = _sizes(gguf_file, architecture)
    heads, width = size("attention.head_count"), size("embedding_length")
    config = ModelConfig(
        architecture=architecture,
        n_layers=size("block_count"),
        width=width,
        n_heads=heads,
        n_kv_heads=size("attention.head_count_kv", heads),
        head_dim=size("attention.key_length", width // heads),
        neurons=size("feed_forward_length"),
        vocab=len(gguf_file.get("tokenizer.ggml.tokens", list)),
        context=size("context_length"),
        rope_theta=number("rope.freq_base", 10_000.0),
        norm_eps=number("attention.layer_norm_rms_epsilon"),
    )
    _check(gguf_file, config)
    if config.n_layers > len(gguf_file.tensors):  # before anybody makes a list of so many
        reason = f"{config.n_layers} blocks cannot be in {len(gguf_file.tensors)} tensors"
        raise _broken(gguf_file, "block count", reason)
    return config


def _sizes(gguf_file, architecture):
    """Two readers of metadata: positive whole numbers, and positive finite ones."""

    def size(key, default=None):
        return _positive(gguf_file, f"{architecture}.{key}", int, default)

    def number(key, default=None):
        return float(_positive(gguf_file, f"{architecture}.{key}", (int, float), default))

    return size, number


def _positive(gguf_file, key, kind, default):
    if default is not None and key not in gguf_file.metadata:
        return default
    value = gguf_file.get(key, kind)
    if not math.isfinite(value) or not 0 < value <= LARGEST:
        raise _broken(gguf_file, f"key {key}", f"{value!r} cannot be a size")
    return value


def _check(gguf_file, c):
    if c.n_heads % c.n_kv_heads:
        reason = f"{c.n_heads} query heads cannot share {c.n_kv_heads} key/value heads"
        raise _broken(gguf_file, "head counts", reason)
    turned = gguf_file.metadata.get("llama.rope.dimension_count", c.head_dim)
    if c.head_dim % 2 or turned != c.head_dim:
        reason = f"rotating {turned} of {c.head_dim} numbers per head is not supported"
        raise _broken(gguf_file, "head size", reason)
    scaled = gguf_file.metadata.get("llama.rope.scaling.type", "none")
    if scaled != "none" or "rope_freqs.weight" in gguf_file.tensors:
        path = str(gguf_file.path)
        reason = "it stretches its positions (RoPE scaling)"
        raise ModelFileError("unsupported", path=path, reason=reason, supported="plain RoPE")


def _broken(gguf_file, place, reason):
    return ModelFileError("broken", path=str(gguf_file.path), place=place, reason=reason)
