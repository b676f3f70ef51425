"""All files that must be refused. A case is (make, code, words): make(folder) writes into an empty
folder and returns what is opened; the sentence of the error must hold the words.
"""

import os

from tests.fuzz.makers import (
    PAGE,
    PICKLE,
    POINTER,
    archive,
    linked,
    only,
    piped,
    with_file,
    written,
)
from tests.fuzz.refusals_folder import CONFIG, SAFETENSORS, SHARDS, TOKENIZER
from tests.fuzz.refusals_gguf import GGUF
from tests.fuzz.table_damage import with_table

NOT_MODELS = {
    "empty": (written(b""), "not_a_model", "it is empty"),
    "web page": (written(PAGE), "not_a_model", "it is a web page"),
    "web page after spaces": (written(b"\n\n  <HTML>"), "not_a_model", "web page"),
    "LFS pointer": (written(POINTER), "not_a_model", "Git LFS pointer"),
    "zip": (archive, "not_a_model", "pickle or zip archive, which is never opened"),
    "pickle": (written(PICKLE), "not_a_model", "never opened because it can run code"),
    "pickle .bin": (written(PICKLE, "pytorch_model.bin"), "not_a_model", "never opened"),
    "another format": (written(b"GGML" + bytes(99)), "not_a_model", "does not begin with GGUF"),
    "no file": (lambda folder: folder / "no.gguf", "no_such_file", "There is no file"),
    "empty folder": (lambda folder: folder, "not_a_model", "no config.json"),
    "folder of GGUF files": (
        lambda folder: written(b"GGUF")(folder).parent,
        "not_a_model",
        "no config.json, but there is bad.gguf",
    ),
    "safetensors alone": (
        written(with_table(b"{}", b""), "x.safetensors"),
        "not_a_model",
        "no config.json",
    ),
    "pipe": (piped("bad.gguf"), "not_a_model", "it is a pipe or a device"),
    "pipe for config.json": (piped("config.json"), "not_a_model", "no config.json"),
    "pipe for weights": (piped("model.safetensors"), "missing_part", "model.safetensors"),
    "/dev/zero": (lambda folder: "/dev/zero", "not_a_model", "/dev/zero is not a model"),
    "link to /dev/zero": (linked("/dev/zero"), "not_a_model", "it is a pipe or a device"),
    "link to nothing": (linked("nothing"), "no_such_file", "bad.gguf"),
    "link to itself": (linked("bad.gguf"), "no_such_file", "bad.gguf"),
    "weights are a web page": (only("model.safetensors", PAGE), "not_a_model", "web page"),
    "weights are a pointer": (only("model.safetensors", POINTER), "not_a_model", "Git LFS"),
    "weights are a pickle": (only("model.safetensors", PICKLE), "not_a_model", "never opened"),
    "weights are empty": (only("model.safetensors", b""), "not_a_model", "it is empty"),
    "config.json is a web page": (with_file("config.json", PAGE), "not_a_model", "web page"),
    "config.json is a pointer": (with_file("config.json", POINTER), "not_a_model", "Git LFS"),
    "pickles only": (
        only("pytorch_model.bin", PICKLE),
        "unsupported",
        "pytorch_model.bin is a pickle, which is never opened because it can run code. "
        "Supported: folders with .safetensors files, and .gguf files",
    ),
    "no weights": (only("README.md", b""), "missing_part", "model.safetensors is missing"),
}

if os.path.exists("/proc/version"):  # Linux: a file of no size that can be read for ever, or not
    NOT_MODELS["link to the system"] = (linked("/proc/version"), "not_a_model", "it is empty")

CASES = {
    f"{group}: {name}": case
    for group, cases in {
        "no model": NOT_MODELS,
        "gguf": GGUF,
        "safetensors": SAFETENSORS,
        "shards": SHARDS,
        "config": CONFIG,
        "tokenizer": TOKENIZER,
    }.items()
    for name, case in cases.items()
}
