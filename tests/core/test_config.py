"""Settings of config.json and of GGUF metadata: spellings, defaults, rotations, and refusals."""

from dataclasses import replace

import numpy as np
import pytest

from core import ModelFileError, open_model
from core.files import config, families, ropes, split, weights
from core.model.config import Rope, Scaling
from tests import families as files

ROPE, TURNING = Rope(8, 10_000.0), Rope(16, 10_000.0)


def gguf_config(path, family, **how):
    return config.from_gguf(split.read(files.build_gguf(path, family, **how)))


# ---- spellings and defaults ----------------------------------------------------------------------

ABSENT = [  # what transformers' config classes take where a key is not there
    ("llama", {"rms_norm_eps": ..., "rope_theta": ...}, {"norm_eps": 1e-6, "ropes": (ROPE,) * 2}),
    ("llama", {"num_key_value_heads": ...}, {"n_kv_heads": 4}),
    ("llama", {"num_key_value_heads": None, "head_dim": None}, {"n_kv_heads": 4, "head_dim": 8}),
    ("mistral", {"sliding_window": ...}, {"windows": (4096, 4096)}),
    ("mistral", {"sliding_window": None}, {"windows": (None, None)}),
    ("phi3", {"sliding_window": ...}, {"windows": (None, None)}),
    ("phi3", {"rms_norm_eps": ..., "partial_rotary_factor": ...})
    + ({"norm_eps": 1e-5, "ropes": (ROPE,) * 2},),
    ("qwen3", {"head_dim": ...}, {"head_dim": 128}),
    ("gemma", {"head_dim": ..., "hidden_act": ...}, {"head_dim": 256, "activation": "gelu_tanh"}),
    ("gemma2", {"sliding_window": ..., "query_pre_attn_scalar": ...})
    + ({"windows": (4096, None), "score_scale": 1 / 16},),
    ("gemma2", {"attn_logit_softcapping": ..., "final_logit_softcapping": ...})
    + ({"attn_softcap": 50.0, "logit_softcap": 30.0},),
    ("gemma2", {"attn_logit_softcapping": None, "final_logit_softcapping": None})
    + ({"attn_softcap": None, "logit_softcap": None},),
    ("gemma3", {"rope_theta": ..., "rope_local_base_freq": ..., "sliding_window_pattern": ...})
    + ({"ropes": (TURNING,) * 5 + (Rope(16, 1e6),)},),
    (
        "smollm3",
        {"rope_theta": ..., "no_rope_layers": ...},
        {"ropes": (Rope(8, 2e6),) * 3 + (None,)},
    ),
    ("gpt2", {"layer_norm_epsilon": ..., "n_inner": None}, {"norm_eps": 1e-5, "neurons": 128}),
    ("gpt_neox", {"rotary_pct": ..., "rotary_emb_base": ..., "use_parallel_residual": ...})
    + ({"ropes": (Rope(2, 10_000.0),) * 2, "parallel": True},),
]


@pytest.mark.parametrize(("family", "changes", "said"), ABSENT, ids=str)
def test_a_key_that_is_not_there_has_the_value_transformers_takes(described, family, changes, said):
    found = described(family, **changes)
    assert {key: getattr(found, key) for key in said} == said


PATTERNS = [
    ("qwen2", {"use_sliding_window": True, "max_window_layers": 1}, (None, 4096)),
    ("qwen2", {"use_sliding_window": True}, (None, None)),  # 28 layers come first
    ("qwen2", {"use_sliding_window": False, "sliding_window": 8, "max_window_layers": 0},
     (None, None)),
    ("qwen3", {"use_sliding_window": True, "sliding_window": 8}
     | {"layer_types": ["sliding_attention", "full_attention"]}, (8, None)),
    ("gemma2", {"layer_types": ["full_attention", "sliding_attention"]}, (None, 8)),
    ("gemma3", {"sliding_window_pattern": 2}, (8, None) * 3),
    ("gemma3", {"sliding_window_pattern": 1}, (None,) * 6),
    ("smollm3", {"use_sliding_window": True, "sliding_window": 8}, (None,) * 3 + (8,)),
]  # fmt: skip


@pytest.mark.parametrize(("family", "changes", "windows"), PATTERNS, ids=str)
def test_which_layers_have_a_window(described, family, changes, windows):
    assert described(family, **changes).windows == windows


def test_window_patterns_of_gguf_files(tmp_path):
    def windows(pattern):
        metadata = {"gemma3.attention.sliding_window_pattern": pattern}
        return gguf_config(tmp_path / "m.gguf", "gemma3", metadata=metadata).windows

    assert windows(...) == (8,) * 5 + (None,)
    assert windows(3) == (8, 8, None) * 2
    assert windows([True, False] * 3) == (8, None) * 3
    off = {"gemma3.attention.sliding_window": ...}  # of a model without windows
    found = gguf_config(tmp_path / "m.gguf", "gemma3", metadata=off)
    assert found.windows == (None,) * 6 and set(found.ropes) == {Rope(16, 1e6)}


def test_the_one_size_of_gemma_that_scales_scores_by_its_width(tmp_path, monkeypatch):
    wide = replace(families.FAMILIES["gemma2"], wide_at=2)
    monkeypatch.setitem(families.FAMILIES, "gemma2", wide)
    assert gguf_config(tmp_path / "m.gguf", "gemma2").score_scale == (32 / 4) ** -0.5


def test_which_layers_rotate(described):
    marked = described("smollm3", no_rope_layers=[0, 1, 0, 1])
    assert [rope is None for rope in marked.ropes] == [True, False, True, False]
    counted = described("smollm3", no_rope_layers=..., no_rope_layer_interval=3)
    assert [rope is None for rope in counted.ropes] == [False, False, True, False]


FULL, LOCAL = {"rope_type": "default", "rope_theta": 5e5}, {"rope_type": "default"}
LINEAR = {"rope_type": "linear", "factor": 8.0, "rope_theta": 1e6}
SPELLINGS = [  # the same twice: as checkpoints were and as they are written
    ("llama", {"rope_theta": 5e5}, {"rope_theta": ..., "rope_parameters": FULL}),
    ("llama", {"rope_theta": 5e5, "rope_scaling": {"type": "linear", "factor": 2}})
    + ({"rope_parameters": {"rope_type": "linear", "factor": 2.0, "rope_theta": 5e5}},),
    ("phi3", {"partial_rotary_factor": 0.5})
    + ({"partial_rotary_factor": ..., "rope_parameters": LOCAL | {"partial_rotary_factor": 0.5}},),
    ("gpt_neox", {"rotary_pct": 0.5, "rotary_emb_base": 500_000})
    + ({"rotary_pct": ..., "rotary_emb_base": ...}
       | {"rope_parameters": FULL | {"partial_rotary_factor": 0.5}},),
    ("gemma3", {"rope_local_base_freq": 5e3, "rope_scaling": {"type": "linear", "factor": 8.0}})
    + ({"rope_theta": ..., "rope_local_base_freq": ...}
       | {"rope_parameters": {"full_attention": LINEAR,
                              "sliding_attention": LOCAL | {"rope_theta": 5e3}}},),
    ("llama", {"rope_scaling": None}, {"torch_dtype": ..., "dtype": "float32"}),
]  # fmt: skip


@pytest.mark.parametrize(("family", "old", "new"), SPELLINGS, ids=str)
def test_old_and_new_spellings_of_rotation_mean_the_same(described, family, old, new):
    assert described(family, **old) == described(family, **new)


# ---- rotations for longer texts ------------------------------------------------------------------


def scaling_of(described, table, family="llama", **changes):
    (rope,) = set(described(family, rope_scaling=table, **changes).ropes)
    return rope.scaling


def test_scalings_of_config_json(described):
    assert scaling_of(described, {"type": "linear", "factor": 2}) == Scaling("linear", 2.0)
    assert scaling_of(described, files.SCALINGS["llama3"]["rope_scaling"]) == Scaling(
        "llama3", 8.0, 64, low=1.0, high=4.0
    )
    yarn = Scaling("yarn", 2.0, 64, slow=1.0, fast=32.0, amplitude=pytest.approx(1.0693147))
    assert scaling_of(described, files.YARN) == yarn
    long = Scaling("longrope", 2.0, 64, amplitude=pytest.approx((7 / 6) ** 0.5))
    long = replace(long, short=(1.0, 1.1, 1.3, 1.2), long=(1.0, 1.6, 2.5, 4.0))
    assert scaling_of(described, files.LONGROPE) == long


def test_a_dynamic_base_serves_texts_past_the_stated_context(described):
    found = described("llama", **files.SCALINGS["dynamic"])
    assert found.context == 128 and found.ropes[0].scaling == Scaling("dynamic", 2.0, 64)


def test_the_details_of_yarn(described):
    def of(**more):
        return scaling_of(described, files.YARN | more)

    assert of(attention_factor=1.25).amplitude == 1.25
    both = (0.1 * 0.5 * np.log(2) + 1) / (0.1 * 0.8 * np.log(2) + 1)
    assert of(mscale=0.5, mscale_all_dim=0.8).amplitude == pytest.approx(both)
    found = of(beta_fast=16, beta_slow=2, truncate=False)
    assert (found.fast, found.slow, found.truncate) == (16.0, 2.0, False)
    # no factor: how much longer the context is than the first training
    without = {key: value for key, value in files.YARN.items() if key != "factor"}
    assert scaling_of(described, without).factor == 2.0


def test_where_the_length_of_the_first_training_stands(described):
    outside = {"original_max_position_embeddings": 32}
    inside = files.LONGROPE  # says 64
    assert scaling_of(described, inside, **outside).original == 32
    nowhere = {k: v for k, v in inside.items() if not k.startswith("original")}
    assert scaling_of(described, nowhere).original == 128
    lists = files.PHI3_SCALINGS["longrope"]["rope_scaling"]
    assert scaling_of(described, lists, "phi3").original == 4096  # the default of the class
    assert scaling_of(described, lists | {"type": "su"}, "phi3").kind == "longrope"


def test_scalings_of_gguf_files(tmp_path, described):
    for kind in ("linear", "yarn"):
        found = gguf_config(tmp_path / "m.gguf", "llama", **files.SCALINGS[kind])
        assert found == described("llama", **files.SCALINGS[kind])
    for family, scalings in (("llama", files.SCALINGS), ("phi3", files.PHI3_SCALINGS)):
        stored = gguf_config(tmp_path / "m.gguf", family, **scalings["longrope"]).ropes[0].scaling
        said = described(family, **scalings["longrope"]).ropes[0].scaling
        assert stored == replace(said, amplitude=pytest.approx(said.amplitude, rel=1e-7))
    found = gguf_config(tmp_path / "m.gguf", "llama", **files.SCALINGS["llama3"]).ropes[0].scaling
    # by hand: 64 tokens are 10.2, 1.02, 0.102 and 0.0102 turns; below 1 turn slowed 8 times
    assert (found.kind, found.amplitude) == ("factors", None)
    assert found.short == pytest.approx((1, 1 / (1 - 7 / 8 * (1 - 0.006197)), 8, 8), rel=1e-3)


def test_amplitudes_of_gguf_files(tmp_path):
    def amplitude(**metadata):
        whole = {f"llama.rope.scaling.{key}": value for key, value in metadata.items()}
        found = gguf_config(tmp_path / "m.gguf", "llama", metadata=whole)
        return found.ropes[0].scaling.amplitude

    assert amplitude(type="linear", factor=2.0) is None
    assert amplitude(type="linear", factor=2.0, attn_factor=1.5) == 1.5
    assert amplitude(attn_factor=1.5) == 1.5
    assert amplitude(type="yarn", factor=2.0, attn_factor=0.5) == ropes.mscale(2.0) / 2
    assert amplitude(type="yarn", factor=2.0, yarn_attn_factor=1.25) == 1.25


# ---- settings that cannot be run -----------------------------------------------------------------

OTHER = [
    ("llama", {"model_type": "qwen3moe"}, "qwen3moe"),
    ("llama", {"model_type": ...}, "model_type"),
    ("llama", {"model_type": 5}, "model_type"),
    ("llama", {"hidden_act": "relu"}, "relu"),
    ("llama", {"quantization_config": {"quant_method": "gptq"}}, "quantization_config"),
    ("llama", {"num_local_experts": 8}, "num_local_experts"),
    ("qwen2", {"num_experts": 60}, "num_experts"),
    ("llama", {"rope_scaling": {"rope_type": "swirl", "factor": 2.0}}, "swirl"),
    ("llama", {"rope_scaling": {"rope_type": "proportional"}}, "proportional"),
    ("llama", {"partial_rotary_factor": 0.5}, "turns 0.5"),
    ("llama", {"auto_map": {"AutoModelForCausalLM": "modeling_own.OwnForCausalLM"}}, "Python code"),
    ("gpt2", {"scale_attn_by_inverse_layer_idx": True}, "scale_attn_by_inverse_layer_idx"),
    ("gpt2", {"scale_attn_weights": False}, "scale_attn_weights"),
    ("gemma3", {"use_bidirectional_attention": True}, "use_bidirectional_attention"),
    ("qwen3", {"use_sliding_window": True, "layer_types": ["linear_attention"] * 2}, "layer_types"),
]


@pytest.mark.parametrize(("family", "changes", "said"), OTHER, ids=str)
def test_a_setting_that_asks_for_another_computation_is_refused(open_folder, family, changes, said):
    opened = open_folder(family)
    opened.config.update(changes)
    for key in [key for key, value in changes.items() if value is ...]:
        del opened.config[key]
    with pytest.raises(ModelFileError) as caught:
        config.from_folder(opened)
    assert said in str(caught.value)
    assert caught.value.code in ("unsupported", "broken")


def test_supported_families_are_named(open_folder):
    opened = open_folder("llama")
    opened.config["model_type"] = "mamba"
    with pytest.raises(ModelFileError) as caught:
        config.from_folder(opened)
    assert all(name in str(caught.value) for name in ("'mamba'", "llama", "gemma3", "gptneox"))


def test_own_code_of_a_family_that_is_known_is_not_needed(described):
    own = {"AutoModelForCausalLM": "modeling_phi3.Phi3ForCausalLM"}
    assert described("phi3", auto_map=own) == described("phi3")


SIZES = ("hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads")
SIZES += ("vocab_size", "max_position_embeddings")
BAD = [
    *((key, value) for key in SIZES for value in (..., 0, -1, 1 << 40, 2.5, "32", True, [32])),
    *((key, None) for key in SIZES),
    ("num_key_value_heads", 3),
    ("num_key_value_heads", 8),
    ("num_attention_heads", 5),
    ("num_hidden_layers", 1000),
    ("num_hidden_layers", 100_000),
    ("head_dim", 7),
    ("head_dim", 0),
    ("rms_norm_eps", 0),
    ("rms_norm_eps", -1e-5),
    ("rms_norm_eps", float("nan")),
    ("rms_norm_eps", float("inf")),
    ("rms_norm_eps", "small"),
    ("rope_theta", 0.0),
    ("rope_theta", float("inf")),
    ("rope_theta", 10**400),
    ("attention_bias", "no"),
    ("tie_word_embeddings", 1),
    ("rope_scaling", "linear"),
    ("rope_scaling", {"rope_type": "linear"}),
    ("rope_scaling", {"rope_type": "linear", "factor": 0}),
    ("rope_scaling", {"rope_type": "dynamic", "factor": 0.5}),
    ("rope_scaling", {"rope_type": ["linear"], "factor": 2}),
    ("rope_scaling", files.LONGROPE | {"short_factor": [1.0]}),
    ("rope_scaling", files.LONGROPE | {"long_factor": [1.0, 2.0, 3.0, 0.0]}),
    ("rope_scaling", files.LONGROPE | {"original_max_position_embeddings": 1}),
    ("rope_scaling", files.LLAMA3 | {"high_freq_factor": 1.0}),
    ("rope_scaling", files.YARN | {"original_max_position_embeddings": 0}),
    ("rope_scaling", files.YARN | {"beta_fast": -1.0}),
    ("rope_parameters", 3),
]


@pytest.mark.parametrize(("key", "value"), BAD, ids=str)
def test_settings_that_cannot_be(open_folder, key, value):
    opened = open_folder("llama")
    opened.config[key] = value
    if value is ...:
        del opened.config[key]
    with pytest.raises(ModelFileError) as caught:
        described = config.from_folder(opened)
        weights.load(opened, described)
    assert caught.value.code == "broken"


def test_ids_of_config_json_outside_the_vocabulary_are_no_error(tmp_path):
    # GPT2Config's own bos_token_id is 50256, however small the vocabulary of a checkpoint
    built = files.build_folder(tmp_path / "m", "gpt2", bos_token_id=50256, eos_token_id=50256)
    model = open_model(str(built))
    assert model.tokenizer.bos_id is None and model.tokenizer.end_ids == frozenset()


def test_a_window_in_a_llama_type_gguf_file_counts(tmp_path):
    said = {"llama.attention.sliding_window": 8}
    built = files.build_gguf(tmp_path / "m.gguf", "mistral", metadata=said)
    folder = files.build_folder(tmp_path / "m", "mistral")
    assert open_model(str(built)).config == open_model(str(folder)).config
