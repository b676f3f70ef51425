"""Ways to make a file or folder that must be refused. Each `make(folder)` writes into an empty
folder and returns what is opened.

Knows how good models are made and what may be wrong with them; no sentence of core.
"""

import json
import os
import pickle
import struct
import zipfile
from pathlib import Path

import gguf
import numpy as np
from safetensors.numpy import load_file

from tests import families, tiny, vocabularies
from tests.family_gguf import gguf_arrays, gguf_metadata, tokenizer_metadata
from tests.fuzz.gguf_image import image
from tests.fuzz.table_damage import safetensors, with_table

MANY, SUPPORTED = 1 << 62, "llama, mistral, qwen2, qwen3, gemma, gemma2, gemma3, phi3"
PAGE = b"<!DOCTYPE html><html>Not found</html>"
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 98362432\n"
PICKLE = pickle.dumps({"a": 1}) + bytes(60)
INDEX, SHARD = "model.safetensors.index.json", "model-0000{}-of-00002.safetensors"


def written(data: bytes, name="bad.gguf"):
    """A file of these bytes."""

    def make(folder):
        (folder / name).write_bytes(data)
        return folder / name

    return make


def settings(**changes):
    """The folder of a small llama, its settings changed after its weights were made."""

    def make(folder):
        families.build_folder(folder, "llama")
        c = families.config("llama", **changes)
        (folder / "config.json").write_text(json.dumps(c))
        return folder

    return make


def with_file(name, data: bytes, without=()):
    """A folder with one more or another file, and without some."""

    def make(folder):
        families.build_folder(folder, "llama")
        for other in without:
            (folder / other).unlink()
        (folder / name).write_bytes(data)
        return folder

    return make


def only(name, data: bytes):
    """A folder with config.json and one file in the place of its weights."""
    return with_file(name, data, ["model.safetensors"])


def with_tensor(name, dtype, shape, raw: bytes):
    """The small llama with one tensor replaced or added."""

    def make(folder):
        path = Path(families.build_folder(folder, "llama"))
        arrays = load_file(path / "model.safetensors")
        stored = {k: ("F32", list(a.shape), a.tobytes()) for k, a in arrays.items()}
        stored[name] = dtype, shape, raw
        (path / "model.safetensors").write_bytes(safetensors(stored))
        return path

    return make


def in_two(change):
    """The small llama in two files; change(folder, index) damages it."""

    def make(folder):
        path = Path(families.build_folder(folder, "llama"))
        arrays = load_file(path / "model.safetensors")
        (path / "model.safetensors").unlink()
        place = {name: SHARD.format(n % 2 + 1) for n, name in enumerate(arrays)}
        for shard in set(place.values()):
            mine = {k: a for k, a in arrays.items() if place[k] == shard}
            stored = {k: ("F32", list(a.shape), a.tobytes()) for k, a in mine.items()}
            (path / shard).write_bytes(safetensors(stored))
        change(path, place)
        (path / INDEX).write_text(json.dumps({"weight_map": place}))
        return path

    return make


def pointing(name):
    """An index that says a tensor is in a file of this name."""
    return in_two(lambda path, place: place.update({"model.norm.weight": name}))


def metadata(**changed):
    """The tiny GGUF model with other metadata; `__` stands for a point."""

    def make(folder):
        named = {key.replace("__", "."): value for key, value in changed.items()}
        return tiny.build(folder / "bad.gguf", named)

    return make


WIDE = {"hidden_size": 256, "intermediate_size": 256, "num_hidden_layers": 1}


def stored_as(kind):
    """A GGUF model with one matrix of this type, whose blocks may have up to 256 numbers."""

    def make(folder):
        c = families.config("llama", **WIDE, num_attention_heads=1, num_key_value_heads=1)
        own = {f"llama.{key}": value for key, value in gguf_metadata("llama", c).items()}
        whole = image("llama", own | tokenizer_metadata(), gguf_arrays("llama", c))
        rows = next(t for t in whole.tensors if t[0] == "blk.0.ffn_down.weight")
        per_block, nbytes = gguf.GGML_QUANT_SIZES[gguf.GGMLQuantizationType(kind)]
        rows[2], rows[4] = kind, bytes(256 * 256 // per_block * nbytes)
        return written(whole.pack())(folder)

    return make


def linked(target, name="bad.gguf"):
    """A symbolic link."""

    def make(folder):
        (folder / name).symlink_to(target)
        return folder / name

    return make


def piped(name):
    """A pipe that nobody writes to, in a folder that is whole otherwise."""

    def make(folder):
        families.build_folder(folder, "llama")
        (folder / name).unlink(missing_ok=True)
        os.mkfifo(folder / name)
        return folder if name != "bad.gguf" else folder / name

    return make


def archive(folder):
    """What torch.save writes, under the name of a GGUF file."""
    with zipfile.ZipFile(folder / "bad.gguf", "w") as file:
        file.writestr("archive/data.pkl", PICKLE)
    return folder / "bad.gguf"


def huge(folder):
    """Settings and a table of 275 GB; the file has no numbers but says that it does."""
    c = families.config("llama", vocab_size=1 << 22, hidden_size=1 << 14, num_hidden_layers=1)
    c |= {"head_dim": 2, "tie_word_embeddings": True, "intermediate_size": 2}
    (folder / "config.json").write_text(json.dumps(c))
    rows = {"q": 8, "k": 4, "v": 4}
    shapes = {f"self_attn.{x}_proj": [n, 1 << 14] for x, n in rows.items()}
    shapes |= {"self_attn.o_proj": [1 << 14, 8], "mlp.down_proj": [1 << 14, 2]}
    shapes |= {f"mlp.{x}_proj": [2, 1 << 14] for x in ("gate", "up")}
    shapes |= {"input_layernorm": [1 << 14], "post_attention_layernorm": [1 << 14]}
    named = {f"model.layers.0.{k}.weight": shape for k, shape in shapes.items()}
    named |= {"model.norm.weight": [1 << 14], "model.embed_tokens.weight": [1 << 22, 1 << 14]}
    table, at = {}, 0
    for name, shape in named.items():
        n = 4 * int(np.prod(shape, dtype=object))
        table[name] = {"dtype": "F32", "shape": shape, "data_offsets": [at, at + n]}
        at += n
    path = folder / "model.safetensors"
    path.write_bytes(with_table(json.dumps(table).encode(), b""))
    os.truncate(path, path.stat().st_size + at)  # a file of holes
    return folder


def long_header(folder):
    """100 MB of JSON, which the format allows."""
    families.build_folder(folder, "llama")
    path = folder / "model.safetensors"
    path.write_bytes(struct.pack("<Q", 100_000_000) + b'{"a":')
    os.truncate(path, 100_000_008)
    return folder


def many_words(folder):
    """300,000 tokens and as many merges, the last of them wrong."""
    tokens = [f"{n:x}" for n in range(299_000)]
    numbers = [n for n in range(16, 1000)]
    merges = [f"{a:x} {b:x}" for a in numbers for b in numbers][:299_000]
    words = tokenizer_metadata() | {
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.token_type": [1] * len(tokens),
        "tokenizer.ggml.merges": [m for m in merges if int(m.replace(" ", ""), 16) < 299_000]
        + ["zz zz"],
    }
    c = families.config("llama", vocab_size=299_000, hidden_size=4, head_dim=2)
    c |= {"num_hidden_layers": 1, "num_attention_heads": 2, "num_key_value_heads": 1}
    c |= {"intermediate_size": 4, "tie_word_embeddings": True}
    return families.build_gguf(folder / "bad.gguf", "llama", metadata=words, **c)


def spoken(**files):
    """The folder of a small llama with a vocabulary, and these files (without .json) beside it."""

    def make(folder):
        families.build_folder(folder, "llama", vocab_size=len(tiny.vocabulary()))
        return vocabularies.folder(folder, vocabularies.byte_level_json(), **files)

    return make


def table(data, *said):
    """A folder with these bytes for weights."""
    return only("model.safetensors", data), *said
