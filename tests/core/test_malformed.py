"""Damaged and hostile model files: every one ends in a ModelFileError that says where."""

import contextlib
import random
import struct
from pathlib import Path

import numpy as np
import pytest

from core import ModelFileError, RunSpec, open_model, run
from core.errors import TokenwalkError
from core.files import gguf
from tests import tiny as tiny_file

U32, F32, BOOL, TEXT, ARRAY, U64 = 4, 6, 7, 8, 9, 10


def text(value):
    value = value if isinstance(value, bytes) else value.encode()
    return struct.pack("<Q", len(value)) + value


def entry(key, kind, payload):
    return text(key) + struct.pack("<I", kind) + payload


def tensor(name="t", dims=(32,), kind=0, offset=0):
    numbers = b"".join(struct.pack("<Q", n) for n in dims)
    return text(name) + struct.pack("<I", len(dims)) + numbers + struct.pack("<IQ", kind, offset)


def header(entries=(), tensors=None, version=3, n_tensors=None, n_keys=None, data=b"\0" * 128):
    """A whole small file; the counts are right unless they are given."""
    tensors = [tensor()] if tensors is None else tensors
    n_tensors = len(tensors) if n_tensors is None else n_tensors
    n_keys = len(entries) if n_keys is None else n_keys
    start = b"GGUF" + struct.pack("<IQQ", version, n_tensors, n_keys)
    head = start + b"".join(entries) + b"".join(tensors)
    return head + b"\0" * (-len(head) % 32) + data


def array(kind, count, payload=b""):
    return struct.pack("<IQ", kind, count) + payload


MANY = 1 << 62
MALFORMED = {
    "empty": (b"", "empty"),
    "one byte": (b"G", "incomplete"),
    "magic only": (b"GGUF", "version"),
    "other magic": (b"GGML" + b"\0" * 100, "begin with GGUF"),
    "web page": (b"<!DOCTYPE html><html>Not found</html>", "web page"),
    "web page after spaces": (b"\n\n  <HTML>", "web page"),
    "git lfs": (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "Git LFS"),
    "zip": (b"PK\x03\x04" + b"\0" * 60, "pickle"),
    "pickle": (b"\x80\x02}q\x00." + b"\0" * 60, "pickle"),
    "version 1": (header(version=1), "version 1"),
    "version 4": (header(version=4), "version 4"),
    "big-endian version": (header(version=3 << 24), "big-endian"),
    "no tensors": (header(tensors=()), "no tensors"),
    "tensor count 2^63-1": (header(n_tensors=2**63 - 1), "tensor count"),
    "tensor count 2^64-1": (header(n_tensors=2**64 - 1), "tensor count"),
    "one tensor too many": (header(n_tensors=2, data=b""), "tensor"),
    "key count 2^40": (header(n_keys=1 << 40), "key count"),
    "key length 2^62": (header([struct.pack("<Q", MANY) + b"a"]), "key 0"),
    "key length 65536": (header([entry("k" * 65_536, U32, b"\0" * 4)]), "key 0"),
    "empty key": (header([entry("", U32, b"\0" * 4)]), "empty"),
    "key twice": (header([entry("a", U32, b"\0" * 4)] * 2), "twice"),
    "value type 13": (header([entry("a", 13, b"\0" * 8)]), "type 13"),
    "string length 2^62": (header([entry("a", TEXT, struct.pack("<Q", MANY))]), "key a"),
    "array length 2^40": (header([entry("a", ARRAY, array(U32, 1 << 40))]), "key a"),
    "array length 2^62": (header([entry("a", ARRAY, array(TEXT, MANY))]), "key a"),
    "array length wraps": (header([entry("a", ARRAY, array(U64, 1 << 61))]), "key a"),
    "nested arrays": (header([entry("a", ARRAY, array(ARRAY, 1) * 100_000)]), "array of type 9"),
    "numbers without end": (
        header([entry("a", ARRAY, array(0, 1 << 21, bytes(1 << 21)))]),
        "more values than any model",
    ),
    "texts without end": (
        header([entry("a", ARRAY, array(TEXT, 1 << 21, bytes(1 << 24)))]),
        "more values than any model",
    ),
    "text past the end": (
        header([entry("a", ARRAY, array(TEXT, 2, struct.pack("<Q", 500) + b"x" * 300))], data=b""),
        "key a needs",
    ),
    "a long text": (
        header([entry("a", TEXT, struct.pack("<Q", 25_000_000) + bytes(25_000_000))]),
        "more bytes of text",
    ),
    "texts of many bytes": (
        header([entry("a", ARRAY, array(TEXT, 2, struct.pack("<Q", 1 << 62) + bytes(99)))]),
        "more bytes of text",
    ),
    "tensors without end": (header(tensors=[tensor()] * 20_000), "20000 are more"),
    "array of type 99": (header([entry("a", ARRAY, array(99, 1, b"\0" * 8))]), "type 99"),
    "truth value 7": (header([entry("a", BOOL, b"\7")]), "truth value"),
    "alignment 0": (header([entry("general.alignment", U32, struct.pack("<I", 0))]), "alignment"),
    "alignment 24": (header([entry("general.alignment", U32, struct.pack("<I", 24))]), "alignment"),
    "alignment 2^31": (
        header([entry("general.alignment", U32, struct.pack("<I", 1 << 31))]),
        "power",
    ),
    "alignment text": (header([entry("general.alignment", TEXT, text("32"))]), "alignment"),
    "name of 65 bytes": (header(tensors=[tensor("n" * 65)]), "tensor 0"),
    "name twice": (header(tensors=[tensor(), tensor(offset=128)], data=b"\0" * 256), "twice"),
    "no dimensions": (header(tensors=[tensor(dims=())]), "0 dimensions"),
    "five dimensions": (header(tensors=[tensor(dims=(1,) * 5)]), "5 dimensions"),
    "2^32-1 dimensions": (
        header(tensors=[text("t") + b"\xff" * 4 + b"\0" * 64]),
        "4294967295 dimensions",
    ),
    "dimension 0": (header(tensors=[tensor(dims=(32, 0))]), "tensor t"),
    "dimension 2^62": (header(tensors=[tensor(dims=(MANY,))]), "tensor t"),
    "product of dimensions wraps": (header(tensors=[tensor(dims=(1 << 32,) * 2)]), "tensor t"),
    "type 99": (header(tensors=[tensor(kind=99)]), "type 99"),
    "removed type 4": (header(tensors=[tensor(kind=4)]), "type 4"),
    "part of a block": (header(tensors=[tensor(dims=(33,), kind=3)]), "blocks of 32"),
    "offset 3": (header(tensors=[tensor(offset=3)], data=b"\0" * 160), "aligned"),
    "offset 2^64-32": (header(tensors=[tensor(offset=2**64 - 32)]), "tensor t"),
    "offset past the end": (header(tensors=[tensor(offset=32)]), "tensor t"),
    "overlap": (header(tensors=[tensor(), tensor("u", offset=32)], data=b"\0" * 256), "tensor u"),
    "data cut": (header(data=b"\0" * 127), "tensor t"),
}


@pytest.mark.parametrize("case", MALFORMED)
def test_malformed_headers(tmp_path, case):
    data, said = MALFORMED[case]
    path = tmp_path / "bad.gguf"
    path.write_bytes(data)
    with pytest.raises(ModelFileError) as caught:
        open_model(str(path))
    assert said in str(caught.value) and str(path) in str(caught.value)


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


def test_half_of_the_real_file(smollm, tmp_path):
    path = tmp_path / "half.gguf"
    with open(smollm.source.path, "rb") as file:
        path.write_bytes(file.read(49_181_216))
    with pytest.raises(ModelFileError) as caught:
        open_model(str(path))
    assert caught.value.code == "incomplete" and caught.value.params["has"] == 49_181_216
    assert "tensor blk." in caught.value.params["place"]


INTERESTING = [0, 1, 0x7F, 0x80, 0xFF]


def mutate(data, header_bytes, rng):
    """A few bytes of the header changed, a piece removed or doubled."""
    data, at = bytearray(data), rng.randrange(4, header_bytes)
    how = rng.random()
    if how < 0.7:
        for _ in range(rng.choice([1, 1, 2, 8])):
            data[rng.randrange(4, header_bytes)] = rng.choice([*INTERESTING, rng.randrange(256)])
    elif how < 0.8:
        data[at : at + 8] = struct.pack("<Q", rng.choice([0, 1, 2**31, 2**32, 2**62, 2**64 - 1]))
    elif how < 0.9:
        del data[at : at + rng.randrange(1, 64)]
    else:
        data[at:at] = data[at : at + rng.randrange(1, 64)]
    return bytes(data)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("seed", range(8))
def test_random_damage_opens_or_is_refused(tiny, tmp_path, seed):
    whole, rng, refused = tiny.source.path.read_bytes(), random.Random(seed), 0
    header_bytes = gguf.read(tiny.source.path).data_offset
    path = tmp_path / "mutant.gguf"
    for _ in range(60):
        path.write_bytes(mutate(whole, header_bytes, rng))
        try:
            model = open_model(str(path))
        except ModelFileError:
            refused += 1
            continue
        model.tokenizer.encode("the cat 12 🙂")
        with contextlib.suppress(TokenwalkError):
            model.tokenizer.chat([("user", "Hi")])
            run(RunSpec(str(path), ids=[0, 1, 2])).logits()
    assert refused > 5
