"""Folders that must be refused, by hand: (make, code of the error, words of its sentence)."""

import json

from tests import vocabularies
from tests.fuzz.makers import (
    INDEX,
    PAGE,
    SHARD,
    SUPPORTED,
    huge,
    in_two,
    long_header,
    pointing,
    settings,
    spoken,
    table,
    with_file,
    with_tensor,
)
from tests.fuzz.table_damage import with_table

TABLE = b'{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}'
TABLE += b',"b":{"dtype":"U8","shape":[24],"data_offsets":[8,32]}}'
GOOD = with_table(TABLE, bytes(32))  # 148 bytes

SAFETENSORS = {
    "cut at 4": table(GOOD[:4], "incomplete", "the header needs 116 bytes, the file has 4"),
    "cut at 8": table(GOOD[:8], "incomplete", "the header needs 116"),
    "cut at 20": table(GOOD[:20], "incomplete", "the header needs 116"),
    "cut at 120": table(GOOD[:120], "incomplete", "the data needs 148 bytes, the file has 120"),
    "cut at 147": table(GOOD[:147], "incomplete", "needs 148 bytes, the file has 147"),
    "2 bytes more": table(GOOD + b"\0\0", "broken", "2 bytes belong to no tensor"),
    "header of 2^63 bytes": table(with_table(b"{}", b"", 1 << 63), "broken", "exceed 2097152"),
    "header of 200 MB": table(with_table(b"{}", b"", 200_000_000), "broken", "exceed 2097152"),
    "header of 100 MB that is there": (long_header, "broken", "100000000 bytes exceed 2097152"),
    "no JSON": table(with_table(b'{"a":', b""), "broken", "no JSON table"),
    "JSON of lists in lists": table(
        with_table(b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}", b""), "broken", "too deep"
    ),
    "name twice": table(with_table(b'{"a": 1, "a": 1}', b""), "broken", "a name stands twice"),
    "overlap": table(
        with_table(TABLE.replace(b"[8,32]", b"[4,28]"), bytes(28)), "broken", "an overlap before"
    ),
    "gap": table(with_table(TABLE.replace(b"[8,32]", b"[9,33]"), bytes(33)), "broken", "a gap"),
    "offsets and shape differ": table(
        GOOD.replace(b"[0,8]", b"[0,7]"), "broken", "do not fill the bytes"
    ),
    "unknown type": table(GOOD.replace(b"F32", b"F31"), "broken", "'F31' does not exist"),
    "other tensors": table(
        GOOD, "unsupported", "tensor a belongs to a computation that is not done here"
    ),
}
NORM = "model.norm.weight"
for kind, size in (("F8_E8M0", 1), ("U8", 1), ("I8", 1), ("F8_E4M3FNUZ", 1), ("I32", 4)):
    SAFETENSORS[f"weights as {kind}"] = (
        with_tensor(NORM, kind, [32], bytes(32 * size)),
        "unsupported",
        f"{NORM} is stored as {kind}. Supported: F64, F32, F16, BF16",
    )
SAFETENSORS |= {
    "another shape": (
        with_tensor(NORM, "F32", [64], bytes(256)),
        "broken",
        f"tensor {NORM}: its shape is (64,), not (32,)",
    ),
    "one tensor more": (
        with_tensor("model.layers.0.self_attn.q_proj.bias", "F32", [32], bytes(128)),
        "unsupported",
        "q_proj.bias belongs to a computation that is not done here",
    ),
    "larger than memory": (huge, "too_large", "MB of memory once its weights are float32"),
}

OUTSIDE = ("../other/model.safetensors", "/etc/passwd", "..\\x.safetensors", "C:\\x.safetensors")
SHARDS = {
    f"index points to {name}": (pointing(name), "broken", "is not the plain name")
    for name in (*OUTSIDE, "..", "", "a/b.safetensors", "pytorch_model.bin", "x.safetensors\0")
}
SHARDS |= {
    "shard missing": (
        in_two(lambda path, place: (path / SHARD.format(2)).unlink()),
        "missing_part",
        f"{SHARD.format(2)} is missing from the folder",
    ),
    "tensor in two shards": (
        in_two(lambda path, place: (path / SHARD.format(2)).write_bytes(
            (path / SHARD.format(1)).read_bytes())),
        "broken",
        "which it does not say",
    ),
    "tensor in no shard": (
        in_two(lambda path, place: place.update({"more.weight": SHARD.format(1)})),
        "broken",
        "does not hold 'more.weight'",
    ),
    "shard that is a link out of the folder": (
        in_two(lambda path, place: (
            (path / SHARD.format(2)).unlink(),
            (path / SHARD.format(2)).symlink_to("/etc/passwd"),
        )),
        "broken",
        SHARD.format(2),
    ),
    "index without a map": (
        with_file(INDEX, b"{}", ["model.safetensors"]),
        "broken",
        "no weight_map",
    ),
    "index of lists in lists": (
        with_file(INDEX, b'{"a":' + b"[" * 100_000, ["model.safetensors"]),
        "broken",
        "it is nested too deep",
    ),
    "index with a name twice": (
        with_file(INDEX, b'{"weight_map": {"a": "x", "a": "y"}}', ["model.safetensors"]),
        "broken",
        "a name stands twice",
    ),
}  # fmt: skip

CONFIG = {
    "no JSON": (with_file("config.json", b'{\n"a": 1,\n}'), "broken", "line 3: it is no JSON"),
    "a list": (with_file("config.json", b"[]"), "broken", "no JSON table"),
    "UTF-16": (with_file("config.json", '{"a": 1}'.encode("utf-16")), "broken", "no JSON table"),
    "lists in lists": (
        with_file("config.json", b'{"a":' + b"[" * 200_000),
        "broken",
        "it is nested too deep",
    ),
    "key twice": (with_file("config.json", b'{"a": 1, "a": 2}'), "broken", "a name stands twice"),
    "2 MB": (with_file("config.json", b" " * (2 << 20)), "broken", "more than 1048576 bytes"),
    "deep settings": (
        with_file("config.json", b'{"model_type":"llama","a":' + b"[" * 900 + b"]" * 900 + b"}"),
        "broken",
        "config.json",
    ),
    "quantized": (
        settings(quantization_config={"quant_method": "gptq"}),
        "unsupported",
        "quantization_config asks for another computation",
    ),
    "code of its own": (
        settings(auto_map={"AutoModelForCausalLM": "own.OwnForCausalLM"}),
        "unsupported",
        "Python code of its own, which is never run",
    ),
}
for kind in ("qwen3_moe", "mamba", "bert"):
    CONFIG[f"model_type {kind}"] = (
        settings(model_type=kind),
        "unsupported",
        f"the architecture '{kind}' is not supported. Supported: {SUPPORTED}",
    )
for key, value, said in (
    ("hidden_size", ..., "key hidden_size: the file does not have it"),
    ("num_hidden_layers", ..., "key num_hidden_layers: the file does not have it"),
    ("rms_norm_eps", float("nan"), "nan is not a number above 0"),
    ("rms_norm_eps", 0, "above 0"),
    ("rms_norm_eps", -1e-5, "above 0"),
    ("rope_theta", float("inf"), "inf is not a number above 0"),
    ("rope_theta", 10**400, "above 0"),
    ("num_attention_heads", 5, "5"),
    ("num_key_value_heads", 3, "4 query heads cannot share 3 key/value heads"),
    ("num_hidden_layers", 1_000_000, "1000000 blocks are more than 1024"),
    ("vocab_size", 10**9, "1000000000 cannot be a size"),
    ("vocab_size", 97, "its shape is (96, 32), not (97, 32)"),
    ("hidden_size", 64, "its shape is"),
    ("eos_token_id", [2, -1], "eos_token_id is [2, -1]"),
):
    CONFIG[f"{key} {str(value)[:20]}"] = (settings(**{key: value}), "broken", said)

TOKENIZER = {
    "a web page": (with_file("tokenizer.json", PAGE), "broken", "tokenizer.json"),
    "lists in lists": (
        with_file("tokenizer.json", b'{"model":' + b"[" * 100_000),
        "broken",
        "tokenizer.json",
    ),
    "more tokens than rows": (
        with_file("tokenizer.json", json.dumps(vocabularies.byte_level_json()).encode()),
        "broken",
        "the embedding matrix has 96 rows",
    ),
    "settings are no JSON": (
        spoken(tokenizer_config="{"),
        "broken",
        "tokenizer_config.json",
    ),
}
