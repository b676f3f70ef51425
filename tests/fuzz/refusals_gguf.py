"""GGUF files that must be refused, by hand: (make, code of the error, words of its sentence)."""

import struct

from tests import tiny
from tests.fuzz.gguf_image import ARRAY, BOOL, TEXT, U32, U64, array, entry, header, tensor, text
from tests.fuzz.makers import MANY, SUPPORTED, many_words, metadata, stored_as, written

GGUF = {
    "one byte": (written(b"G"), "incomplete", "needs 4 bytes, the file has 1"),
    "magic only": (written(b"GGUF"), "incomplete", "version"),
    "version 1": (written(header(version=1)), "unsupported", "version 1"),
    "version 4": (written(header(version=4)), "unsupported", "version 4"),
    "big-endian": (written(header(version=3 << 24)), "unsupported", "big-endian"),
    "no tensors": (written(header(tensors=())), "broken", "no tensors"),
    "2^63-1 tensors": (written(header(n_tensors=2**63 - 1)), "broken", "tensor count"),
    "2^64-1 tensors": (written(header(n_tensors=2**64 - 1)), "broken", "tensor count"),
    "one tensor too many": (
        written(header(n_tensors=2, data=b"")),
        "incomplete",
        "tensor count (2)",
    ),
    "20,000 tensors": (written(header(tensors=[tensor()] * 20_000)), "broken", "20000 are more"),
    "2^40 keys": (written(header(n_keys=1 << 40)), "broken", "key count"),
    "key length 2^62": (
        written(header([struct.pack("<Q", MANY) + b"a"])),
        "broken",
        "key 0",
    ),
    "key length 65536": (written(header([entry("k" * 65_536, U32, bytes(4))])), "broken", "key 0"),
    "empty key": (written(header([entry("", U32, bytes(4))])), "broken", "empty"),
    "key twice": (written(header([entry("a", U32, bytes(4))] * 2)), "broken", "twice"),
    "key of controls": (written(header([entry("a\x1b[2J\n", 13, b"")])), "broken", r"\x1b[2J\n"),
    "value type 13": (written(header([entry("a", 13, bytes(8))])), "broken", "type 13"),
    "text of 2^62 bytes": (
        written(header([entry("a", TEXT, struct.pack("<Q", MANY))])),
        "broken",
        "key a",
    ),
    "text of 25 MB": (
        written(header([entry("a", TEXT, struct.pack("<Q", 25_000_000) + bytes(25_000_000))])),
        "broken",
        "more bytes of text",
    ),
    "2^40 numbers": (written(header([entry("a", ARRAY, array(U32, 1 << 40))])), "broken", "key a"),
    "2^62 texts": (written(header([entry("a", ARRAY, array(TEXT, MANY))])), "broken", "key a"),
    "a list whose size wraps": (
        written(header([entry("a", ARRAY, array(U64, 1 << 61))])),
        "broken",
        "key a",
    ),
    "lists in lists": (
        written(header([entry("a", ARRAY, array(ARRAY, 1) * 100_000)])),
        "broken",
        "array of type 9",
    ),
    "two million numbers": (
        written(header([entry("a", ARRAY, array(0, 1 << 21, bytes(1 << 21)))])),
        "broken",
        "more values than any model",
    ),
    "two million texts": (
        written(header([entry("a", ARRAY, array(TEXT, 1 << 21, bytes(1 << 24)))])),
        "broken",
        "more values than any model",
    ),
    "text past the end": (
        written(
            header(
                [entry("a", ARRAY, array(TEXT, 2, struct.pack("<Q", 500) + b"x" * 300))], data=b""
            )
        ),
        "incomplete",
        "key a needs",
    ),
    "texts of 2^62 bytes": (
        written(header([entry("a", ARRAY, array(TEXT, 2, struct.pack("<Q", MANY) + bytes(99)))])),
        "broken",
        "more bytes of text",
    ),
    "list of type 99": (
        written(header([entry("a", ARRAY, array(99, 1, bytes(8)))])),
        "broken",
        "type 99",
    ),
    "truth value 7": (written(header([entry("a", BOOL, b"\7")])), "broken", "truth value"),
    **{
        f"alignment {n}": (
            written(header([entry("general.alignment", U32, struct.pack("<I", n))])),
            "broken",
            "not a power of two",
        )
        for n in (0, 24, 1 << 31)
    },
    "alignment is a text": (
        written(header([entry("general.alignment", TEXT, text("32"))])),
        "broken",
        "alignment",
    ),
    "name of 65 bytes": (written(header(tensors=[tensor("n" * 65)])), "broken", "tensor 0"),
    "name twice": (
        written(header(tensors=[tensor(), tensor(offset=128)], data=bytes(256))),
        "broken",
        "twice",
    ),
    **{
        f"{n} dimensions": (
            written(header(tensors=[tensor(dims=(1,) * min(n, 5), n_dims=n)])),
            "broken",
            f"{n} dimensions",
        )
        for n in (0, 5, 2**32 - 1)
    },
    "dimension 0": (
        written(header(tensors=[tensor(dims=(32, 0))])),
        "broken",
        "tensor t: one of its dimensions is 0",
    ),
    "dimension 2^62": (written(header(tensors=[tensor(dims=(MANY,))])), "incomplete", "tensor t"),
    "dimensions wrap": (
        written(header(tensors=[tensor(dims=(1 << 32,) * 2)])),
        "incomplete",
        "tensor t",
    ),
    "type 99": (written(header(tensors=[tensor(kind=99)])), "broken", "type 99 is not known here"),
    "removed type 4": (written(header(tensors=[tensor(kind=4)])), "broken", "type 4 is not known"),
    "part of a block": (
        written(header(tensors=[tensor(dims=(33,), kind=3)])),
        "broken",
        "blocks of 32",
    ),
    "offset 3": (
        written(header(tensors=[tensor(offset=3)], data=bytes(160))),
        "broken",
        "not aligned",
    ),
    "offset 2^64-32": (
        written(header(tensors=[tensor(offset=2**64 - 32)])),
        "incomplete",
        "tensor t needs",
    ),
    "offset past the end": (
        written(header(tensors=[tensor(offset=32)])),
        "incomplete",
        "needs 224 bytes, the file has 192",
    ),
    "overlap": (
        written(header(tensors=[tensor(), tensor("u", offset=32)], data=bytes(256))),
        "broken",
        "overlaps the one before",
    ),
    "data cut": (written(header(data=bytes(127))), "incomplete", "tensor t needs"),
    "many words": (many_words, "broken", "'zz zz' does not join two tokens"),
    "part missing": (
        lambda folder: tiny.build(
            folder / "m-00001-of-00002.gguf", {"split.count": 2, "split.no": 0}
        ),
        "missing_part",
        "m-00002-of-00002.gguf is missing",
    ),
}

for kind, name in ((9, "Q8_1"), (15, "Q8_K"), (24, "I8"), (28, "F64")):
    said = f"tensor blk.0.ffn_down.weight is stored as {name}. Supported: F32, F16, BF16"
    GGUF[f"type {name}"] = (stored_as(kind), "unsupported", said)

for arch in ("qwen3moe", "mamba", "bert"):
    GGUF[f"architecture {arch}"] = (
        lambda folder, arch=arch: tiny.build(folder / "bad.gguf", architecture=arch),
        "unsupported",
        f"the architecture '{arch}' is not supported. Supported: {SUPPORTED}",
    )

EPS, THETA = "llama.attention.layer_norm_rms_epsilon", "llama.rope.freq_base"
for key, value, said in (
    (EPS, float("nan"), "above 0"),
    (EPS, 0.0, "above 0"),
    (EPS, -1e-5, "above 0"),
    (EPS, None, "does not have it"),
    (THETA, float("inf"), "above 0"),
    ("llama.attention.head_count", 5, "5 heads cannot share a width of 32"),
    ("llama.attention.head_count_kv", 3, "4 query heads cannot share 3"),
    ("llama.block_count", 1_000_000, "1000000 blocks are more than 1024"),
    ("llama.embedding_length", 10**9, "cannot be a size"),
    ("llama.feed_forward_length", 64, "its shape is (48, 32), not (64, 32)"),
    ("tokenizer.ggml.bos_token_id", 299, "id 299 is outside the vocabulary"),
    ("tokenizer.ggml.eos_token_id", 2**31, "is outside the vocabulary"),
):
    GGUF[f"{key} {value}"] = (metadata(**{key: value}), "broken", said)
