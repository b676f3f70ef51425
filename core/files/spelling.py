"""How GGUF metadata and config.json spell the settings of a model: both become Settings.

Knows the keys of both; checks no value and builds no configuration.
"""

import numpy as np

from core.errors import ModelFileError
from core.files import families
from core.files.families import COMMON, SUPPORTED, Family
from core.files.settings import Settings

GGUF_KEYS = {
    "embedding_length": "hidden_size",
    "feed_forward_length": "intermediate_size",
    "block_count": "num_hidden_layers",
    "context_length": "max_position_embeddings",
    "attention.head_count": "num_attention_heads",
    "attention.head_count_kv": "num_key_value_heads",
    "attention.key_length": "head_dim",
    "attention.sliding_window": "sliding_window",
    "attention.sliding_window_pattern": "sliding_window_pattern",
}
EPSILON = {"rms": "attention.layer_norm_rms_epsilon", "layer": "attention.layer_norm_epsilon"}
LARGEST_FLOAT32 = 3.4e38
# what a GGUF file may leave to the engine; everything else it has to say
UNSAID = ("hidden_act", "attn_logit_softcapping", "final_logit_softcapping")
UNSAID = (*UNSAID, "sliding_window_pattern")


def family_of_gguf(gguf_file) -> Family:
    """The family of a GGUF file. Raises ModelFileError for an architecture we do not have."""
    architecture = gguf_file.get("general.architecture", str)
    has_window = bool(gguf_file.metadata.get(f"{architecture}.attention.sliding_window"))
    return families.of_gguf(architecture, has_window) or _refuse(gguf_file.path, architecture)


def family_of_folder(folder) -> Family:
    """The family of a Hugging Face folder, by `model_type`. Raises as `family_of_gguf`."""
    model_type = Settings(folder.config_path, folder.config).text("model_type")
    return families.of_model_type(model_type) or _refuse(folder.path, model_type)


def _refuse(path, architecture):
    reason = f"the architecture {architecture[:40]!r} is not supported"
    raise ModelFileError("unsupported", path=str(path), reason=reason, supported=SUPPORTED)


def of_gguf(gguf_file, family: Family) -> Settings:
    """The metadata of its architecture by our names."""
    start, names = f"{family.gguf}.", GGUF_KEYS | {EPSILON[family.norm]: "norm_eps"}
    raw = {k.removeprefix(start): v for k, v in gguf_file.metadata.items() if k.startswith(start)}
    ours = {names.get(key, key): decimal(value) for key, value in raw.items()}
    ours["vocab_size"] = len(gguf_file.get("tokenizer.ggml.tokens", list))
    if ours.get("sliding_window") == 0:  # none
        del ours["sliding_window"]
    if isinstance(ours.get("sliding_window_pattern"), list):  # or else every how many layers
        words = {True: "sliding_attention", False: "full_attention"}
        pattern = ours.pop("sliding_window_pattern")
        ours["layer_types"] = [words[bool(x)] for x in pattern]
    said = COMMON | family.defaults
    unsaid = {key: said[key] for key in UNSAID if key in said}
    spelling = {key: start + key for key in ours}
    spelling |= {name: start + key for key, name in names.items()}
    return Settings(gguf_file.path, unsaid | ours, spelling)


def decimal(value):
    """The value, but of a float32 the shortest decimal that rounds to it: 1e-5, not
    9.99999974e-06.
    """
    if not isinstance(value, float) or not abs(value) < LARGEST_FLOAT32:
        return value
    short = np.float32(value)
    return float(str(short)) if short == value else value


def of_folder(folder) -> Settings:
    """The settings of config.json, over the defaults of its family."""
    family, raw = family_of_folder(folder), folder.config
    inner = raw.get("text_config")  # what a model that also sees keeps of its text half
    raw = raw | inner if isinstance(inner, dict) else raw
    ours = {key: value for key, value in raw.items() if key not in family.spelling.values()}
    ours |= {name: raw[key] for key, name in family.spelling.items() if key in raw}
    spelling = {name: key for key, name in family.spelling.items()}
    return Settings(folder.config_path, COMMON | family.defaults | ours, spelling)


def tied(folder) -> bool:
    """Whether the output matrix may be missing because it is the embedding matrix."""
    return of_folder(folder).flag("tie_word_embeddings", False)
