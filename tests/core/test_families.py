"""The table of families: what each one's files say becomes the right description and weights.

Two independent spellings meet here: core's table, and the hand-written files of tests/families.
"""

from dataclasses import fields, replace

import numpy as np
import pytest

from core.files import config, families, split, weights
from core.model.config import Rope
from tests import families as files
from tests.family_arrays import hf_arrays

# what a GGUF file has no key for: the usual value stands in both
UNSAID = {"gemma2": {"query_pre_attn_scalar": 16}, "gemma3": {"query_pre_attn_scalar": 16}}
UNSAID |= {"mistral": {"sliding_window": None}}


@pytest.fixture
def loaded(open_folder):
    """Its weights, and the arrays that were written."""

    def call(family, **changes):
        opened = open_folder(family, **changes)
        written = hf_arrays(family, files.config(family, **changes))
        return weights.load(opened, config.from_folder(opened)), written

    return call


# ---- one model in both formats -------------------------------------------------------------------


@pytest.mark.parametrize("family", files.CONFIGS)
def test_a_folder_and_a_gguf_file_of_one_model_are_the_same(tmp_path, open_folder, family):
    changes = UNSAID.get(family, {})
    one = open_folder(family, **changes)
    other = split.read(files.build_gguf(tmp_path / "m.gguf", family, **changes))
    of_folder, of_gguf = config.from_folder(one), config.from_gguf(other)
    if family == "mistral":  # its GGUF files say llama
        of_gguf = replace(of_gguf, architecture="mistral")
    assert of_folder == of_gguf
    same(weights.load(one, of_folder), weights.load(other, of_gguf))


def same(a, b):
    assert a.tied == b.tied and a.n_parameters == b.n_parameters
    for ours, theirs in zip(a.arrays(), b.arrays(), strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize(
    ("family", "changes"),
    [
        ("llama", {"attention_bias": True, "mlp_bias": True}),
        ("smollm3", {"attention_bias": True}),
        ("gpt2", {"tie_word_embeddings": False}),
        ("gpt_neox", {"use_parallel_residual": False, "attention_bias": False}),
        ("llama", {"num_key_value_heads": 4, "head_dim": 6}),
    ],
)
def test_the_same_with_options(tmp_path, open_folder, family, changes):
    one = open_folder(family, **changes)
    other = split.read(files.build_gguf(tmp_path / "m.gguf", family, **changes))
    assert config.from_folder(one) == config.from_gguf(other)
    same(weights.load(one, config.from_folder(one)), weights.load(other, config.from_gguf(other)))


# ---- what stands in a description ----------------------------------------------------------------

ROPE, TURNING = Rope(8, 10_000.0), Rope(16, 10_000.0)
QKV, OUT = {"attn_q", "attn_k", "attn_v"}, {"attn_out"}
SAID = {
    "llama": {"ropes": (ROPE,) * 2, "windows": (None,) * 2, "score_scale": 8**-0.5},
    "mistral": {"ropes": (ROPE,) * 2, "windows": (8, 8), "architecture": "mistral"},
    "qwen2": {"biases": QKV, "windows": (None,) * 2, "ropes": (Rope(8, 1e6),) * 2},
    "qwen3": {"qk_norm": "head", "head_dim": 16, "biases": set()},
    "gemma": {"embed_scale": 32**0.5, "activation": "gelu_tanh", "norm_place": "before"},
    "gemma2": {"windows": (8, None), "attn_softcap": 5.0, "logit_softcap": 3.0}
    | {"norm_place": "both", "score_scale": 24**-0.5, "embed_scale": 32**0.5},
    "gemma3": {"windows": (8,) * 5 + (None,), "ropes": (TURNING,) * 5 + (Rope(16, 1e6),)}
    | {"qk_norm": "head", "norm_place": "both", "attn_softcap": None},
    "phi3": {"ropes": (Rope(6, 10_000.0),) * 2, "windows": (12, 12)},
    "olmo2": {"norm_place": "after", "qk_norm": "width"},
    "smollm3": {"ropes": (Rope(8, 2e6),) * 3 + (None,), "windows": (None,) * 4},
    "gpt2": {"norm": "layer", "gated": False, "activation": "gelu_tanh", "ropes": (None, None)}
    | {"learned_positions": True, "neurons": 128, "biases": QKV | OUT | {"mlp_up", "mlp_out"}},
    "gpt_neox": {"norm": "layer", "gated": False, "activation": "gelu_erf", "parallel": True}
    | {"ropes": (Rope(4, 10_000.0),) * 2, "biases": QKV | OUT | {"mlp_up", "mlp_out"}},
}


@pytest.mark.parametrize("family", SAID)
def test_what_makes_a_family(described, family):
    found = described(family)
    assert {key: getattr(found, key) for key in SAID[family]} == SAID[family]
    assert (found.width, found.n_heads, found.vocab, found.context) == (32, 4, 96, 128)
    assert found.n_kv_heads == (4 if family.startswith("gpt") else 2)


# ---- weights -------------------------------------------------------------------------------------


def test_gpt_neox_lays_queries_keys_and_values_head_by_head(loaded):
    found, written = loaded("gpt_neox")
    for layer in range(2):
        at = f"gpt_neox.layers.{layer}.attention.query_key_value"
        for row in range(32):
            head, within = divmod(row, 8)
            for part, name in enumerate(("attn_q", "attn_k", "attn_v")):
                stored = (head * 3 + part) * 8 + within
                ours, bias = found.get(name, layer), found.get(f"{name}_bias", layer)
                np.testing.assert_array_equal(ours[row], written[f"{at}.weight"][stored])
                assert bias[row] == written[f"{at}.bias"][stored]


def test_gpt2_keeps_its_matrices_the_other_way_round(loaded):
    found, written = loaded("gpt2")
    block, at = found.layers[1], "transformer.h.1."
    fused = written[at + "attn.c_attn.weight"]  # [in, 3 * out]
    np.testing.assert_array_equal(block.attn_k[5], fused[:, 32 + 5])
    np.testing.assert_array_equal(block.attn_v_bias, written[at + "attn.c_attn.bias"][64:])
    np.testing.assert_array_equal(block.mlp_up[100], written[at + "mlp.c_fc.weight"][:, 100])
    np.testing.assert_array_equal(found.embed, written["transformer.wte.weight"])
    np.testing.assert_array_equal(found.pos_embed, written["transformer.wpe.weight"])
    assert block.mlp_gate is None and block.mlp_out.flags.c_contiguous and found.tied


def test_phi3_fuses_queries_keys_and_values_and_gate_and_up(loaded):
    found, written = loaded("phi3")
    qkv = written["model.layers.0.self_attn.qkv_proj.weight"]
    pair = written["model.layers.0.mlp.gate_up_proj.weight"]
    block = found.layers[0]
    for ours, rows in ((block.attn_q, qkv[:32]), (block.attn_k, qkv[32:48])):
        np.testing.assert_array_equal(ours, rows)
    np.testing.assert_array_equal(block.attn_v, qkv[48:])
    np.testing.assert_array_equal(block.mlp_gate, pair[:48])
    np.testing.assert_array_equal(block.mlp_up, pair[48:])


def test_norms_of_gemma_are_stored_less_one(loaded):
    found, written = loaded("gemma3")
    at = "model.layers.2."
    for ours, name in (
        (found.layers[2].attn_norm, at + "input_layernorm"),
        (found.layers[2].attn_post_norm, at + "post_attention_layernorm"),
        (found.layers[2].mlp_norm, at + "pre_feedforward_layernorm"),
        (found.layers[2].mlp_post_norm, at + "post_feedforward_layernorm"),
        (found.layers[2].attn_k_norm, at + "self_attn.k_norm"),
        (found.final_norm, "model.norm"),
    ):
        np.testing.assert_array_equal(ours, written[f"{name}.weight"] + np.float32(1))
    np.testing.assert_array_equal(found.embed, written["model.embed_tokens.weight"])


def test_the_same_word_is_another_norm_in_another_family(loaded):
    llama, written = loaded("llama")
    name = "model.layers.0.post_attention_layernorm.weight"
    np.testing.assert_array_equal(llama.layers[0].mlp_norm, written[name])
    olmo, written = loaded("olmo2")
    np.testing.assert_array_equal(olmo.layers[0].attn_post_norm, written[name])
    assert olmo.layers[0].mlp_norm is None and olmo.layers[0].attn_q_norm.shape == (32,)


@pytest.mark.parametrize("family", files.CONFIGS)
def test_weights_are_frozen_float32_and_all_counted(loaded, family):
    found, written = loaded(family)
    for array in found.arrays():
        own = array if array.base is None else array.base  # that it shares with its neighbours
        assert own.flags.owndata and own.dtype == np.float32  # memory of our own, not the file's
        assert not array.flags.writeable and not own.flags.writeable
    assert found.n_parameters == sum(array.size for array in written.values())
    assert found.nbytes == 4 * found.n_parameters
    assert found.tied == (not any("head" in n or "embed_out" in n for n in written))


# ---- one more family -----------------------------------------------------------------------------


def test_one_more_family_is_one_more_entry(monkeypatch, described):
    entry = replace(families.FAMILIES["olmo2"], model_types=("toy",), qk_norm=None, turned=0.5)
    monkeypatch.setitem(families.FAMILIES, "toy", entry)
    found = described("llama", model_type="toy", rope_scaling=None)
    assert (found.architecture, found.norm_place, found.ropes[1].dim) == ("toy", "after", 4)


def test_the_table_names_only_fields_that_the_engine_has():
    known = {f.name for f in fields(weights.LayerWeights)}
    for family in families.FAMILIES.values():
        assert {"rms", "layer"} >= {family.norm} and {"before", "after", "both"} >= {
            family.norm_place
        }
        assert known >= set(family.biases).union(*family.bias_switches.values())
        assert config.ACTIVATIONS[{**families.COMMON, **family.defaults}["hidden_act"]]
