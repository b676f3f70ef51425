"""GGUF files whose parts contradict each other: each ends in a ModelFileError that says where.

Headers that are damaged by themselves are among tests/fuzz/refusals_gguf.py.
"""

import random
import struct
from pathlib import Path

import numpy as np
import pytest

from core import ModelFileError, open_model
from core.files import gguf
from tests import tiny as tiny_file
from tests.fuzz.gguf_image import ARRAY, BOOL, TEXT, array, entry, header, text


def test_the_same_header_without_a_fault_is_read(tmp_path):
    path = tmp_path / "good.gguf"
    path.write_bytes(
        header([entry("a", BOOL, b"\1"), entry("b", ARRAY, array(TEXT, 1, text(b"\xff")))])
    )
    file = gguf.read(path)
    assert file.metadata == {"a": True, "b": ["\ufffd"]}
    assert list(file.tensors) == ["t"]


SIZES = (
    "block_count embedding_length feed_forward_length attention.head_count context_length".split()
)
WRONG_METADATA = [
    *({f"llama.{key}": value} for key in SIZES for value in (None, 0, 2**31, "2", 1.5)),
    {"llama.attention.layer_norm_rms_epsilon": None},
    {"llama.attention.layer_norm_rms_epsilon": 0.0},
    {"llama.attention.layer_norm_rms_epsilon": float("nan")},
    {"llama.rope.freq_base": float("inf")},
    {"llama.rope.freq_base": -1.0},
    {"llama.rope.dimension_count": 4},
    {"llama.rope.scaling.type": "linear"},
    {"llama.rope.scaling.type": "swirl", "llama.rope.scaling.factor": 2.0},
    {"llama.rope.scaling.type": "longrope", "llama.rope.scaling.factor": 2.0},
    {"llama.rope.scaling.factor": 0.0},
    {"llama.rope.scaling.factor": 0.5, "llama.rope.scaling.type": "yarn"},
    {"llama.rope.scaling.attn_factor": float("nan")},
    {"llama.attention.value_length": 16},
    {"llama.attention.causal": False},
    {"llama.attention.scale": 0.5},
    {"llama.expert_count": 8},
    {"llama.logit_scale": 16.0},
    {"llama.attention.head_count_kv": 3},
    {"llama.attention.head_count_kv": [2, 2]},
    {"llama.attention.head_count_kv": 4},
    {"llama.attention.head_count": 64},
    {"llama.attention.key_length": 7},
    {"llama.block_count": 1},
    {"llama.block_count": 3},
    {"llama.block_count": 1 << 24},
    {"llama.embedding_length": 31},
    {"llama.feed_forward_length": 47},
    {"tokenizer.ggml.model": "llama"},
    {"tokenizer.ggml.model": None},
    {"tokenizer.ggml.pre": "unknown"},
    {"tokenizer.ggml.pre": None},
    {"tokenizer.ggml.pre": ["smollm"]},
    {"tokenizer.ggml.tokens": None},
    {"tokenizer.ggml.tokens": "abc"},
    {"tokenizer.ggml.tokens": list(range(299))},
    {"tokenizer.ggml.tokens": ["a", "b"]},
    {"tokenizer.ggml.token_type": None},
    {"tokenizer.ggml.token_type": [1, 2]},
    {"tokenizer.ggml.merges": None},
    {"tokenizer.ggml.merges": [1, 2]},
    {"tokenizer.ggml.merges": ["nospace"]},
    {"tokenizer.ggml.merges": ["never inthere"]},
    {"tokenizer.ggml.eos_token_id": 299},
    {"tokenizer.ggml.eos_token_id": "2"},
    {"tokenizer.ggml.eos_token_id": [2]},
    {"tokenizer.ggml.bos_token_id": 1 << 31},
    {"tokenizer.ggml.add_bos_token": "yes"},
    {"tokenizer.chat_template": 5},
]


@pytest.mark.parametrize("changed", WRONG_METADATA, ids=str)
def test_metadata_that_contradict_the_model(tmp_path, changed):
    with pytest.raises(ModelFileError) as caught:
        open_model(tiny_file.build(tmp_path / "bad.gguf", changed))
    assert caught.value.code in ("broken", "unsupported")


def test_another_architecture(tmp_path):
    with pytest.raises(ModelFileError) as caught:
        open_model(tiny_file.build(tmp_path / "bad.gguf", architecture="mamba"))
    assert caught.value.code == "unsupported" and "mamba" in str(caught.value)


DIVISORS = {
    "of another number": {"rope_freqs": [1, 1, 1]},
    "of 0": {"rope_freqs": [1, 1, 0, 1]},
    "without a number": {"rope_freqs": [1, 1, float("nan"), 1]},
    "of one kind only": {"rope_factors_long": [1, 1, 1, 1]},
    "of both kinds": {"rope_freqs": [1] * 4, "rope_factors_long": [1] * 4}
    | {"rope_factors_short": [1] * 4},
    "in a table": {"rope_freqs": [[1, 1], [1, 1]]},
}


@pytest.mark.parametrize("case", DIVISORS)
def test_divisors_that_cannot_be(tmp_path, case):
    extra = {f"{name}.weight": np.float32(values) for name, values in DIVISORS[case].items()}
    with pytest.raises(ModelFileError) as caught:
        open_model(tiny_file.build(tmp_path / "m.gguf", tensors=tiny_file.arrays() | extra))
    assert caught.value.code == "broken"


@pytest.mark.parametrize("name", tiny_file.arrays())
def test_a_missing_or_misshapen_tensor_is_named(tmp_path, name):
    arrays = tiny_file.arrays()
    wrong = arrays | {name: np.zeros(arrays[name].size * 2, np.float32)}
    for n, tensors in enumerate([{k: v for k, v in arrays.items() if k != name}, wrong]):
        with pytest.raises(ModelFileError) as caught:
            open_model(tiny_file.build(tmp_path / f"{n}.gguf", tensors=tensors))
        assert name in str(caught.value)


@pytest.mark.parametrize(
    "name", ["blk.0.attn_norm.bias", "blk.2.attn_q.weight", "blk.0.attn_q_norm.weight"]
)
def test_a_tensor_that_the_pass_would_ignore_is_refused(tmp_path, name):
    extra = {name: np.zeros(32, np.float32)}
    with pytest.raises(ModelFileError) as caught:
        open_model(tiny_file.build(tmp_path / "m.gguf", tensors=tiny_file.arrays() | extra))
    assert caught.value.code == "unsupported"


@pytest.mark.parametrize("kind", [9, 24, 26, 28])  # Q8_1, I8, I32, F64: no stored weights
def test_a_number_type_that_is_not_read_is_named(tmp_path, kind):
    name, path = "blk.1.ffn_norm.weight", tmp_path / "bad.gguf"
    arrays = tiny_file.arrays()
    arrays[name] = np.zeros(64 if kind == 28 else 32, np.float32)  # room for 32 of them
    data = Path(tiny_file.build(path, tensors=arrays)).read_bytes()
    old = text(name) + struct.pack("<IQI", 1, arrays[name].size, 0)
    assert data.count(old) == 1
    path.write_bytes(data.replace(old, text(name) + struct.pack("<IQI", 1, 32, kind)))
    with pytest.raises(ModelFileError) as caught:
        open_model(str(path))
    assert name in str(caught.value)
    assert gguf.read(path).tensors[name].type.name in str(caught.value)


def test_every_truncation_of_the_tiny_file(tiny, tmp_path):
    whole = tiny.source.path.read_bytes()
    header_bytes = gguf.read(tiny.source.path).data_offset
    rng = random.Random(1)
    cuts = [0, 3, 4, 8, 24, 60, *rng.sample(range(header_bytes), 150)]
    cuts += [header_bytes, *rng.sample(range(header_bytes, len(whole)), 50)]
    # the last tensor ends before the padding that ends the file
    used = max(t.offset + t.nbytes for t in gguf.read(tiny.source.path).tensors.values())
    for n in sorted({cut for cut in cuts if cut < used}):
        path = tmp_path / f"{n}.gguf"
        path.write_bytes(whole[:n])
        with pytest.raises(ModelFileError):
            open_model(str(path))
        path.unlink()
