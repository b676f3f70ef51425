"""Small vocabularies for tests: as the metadata of a GGUF file, and as a Hugging Face folder.

The byte-level one is that of the tiny model. Knows the formats, written here a second time; nothing
of core but its error.
"""

import json

from core.errors import ModelFileError
from tests import tiny

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = 1, 2, 3, 4, 5, 6
PIECES = ["▁", "t", "h", "e", "c", "a", "b", "▁t", "he", "▁the", "▁c", "at", "▁cat", "ab", "▁▁"]


class Header:
    """What core asks of a GGUF file: its metadata and a typed look into them."""

    path = "vocabulary.gguf"

    def __init__(self, metadata):
        self.metadata = {key: value for key, value in metadata.items() if value is not None}

    def get(self, key, kind=None):
        """A value, or the error of a file that does not have it or has another type there."""
        value = self.metadata.get(key)
        wrong = kind is not None and isinstance(value, bool) != (kind is bool)
        if value is None or wrong or not isinstance(value, kind or object):
            raise ModelFileError("broken", path=self.path, place=key, reason="not there")
        return value


def keys(**changed):
    """Keys of a GGUF's tokenizer by their last part: `pre="qwen2"` -> tokenizer.ggml.pre."""
    return {f"tokenizer.ggml.{name}": value for name, value in changed.items()}


def byte_level(**changed):
    """The tiny model's vocabulary, with other values."""
    return Header(tiny.metadata() | keys(**changed))


def sentencepiece(pieces=PIECES, ranks=None, user_defined=(), **changed):
    """<unk>, <s>, </s>, the bytes, what is user-defined, and the pieces, best score first unless
    ranks are their scores.
    """
    first = ["<unk>", "<s>", "</s>", *(f"<0x{b:02X}>" for b in range(256)), *user_defined]
    types = [UNKNOWN, CONTROL, CONTROL, *[BYTE] * 256, *[USER_DEFINED] * len(user_defined)]
    ranks = [-float(n) for n in range(len(pieces))] if ranks is None else ranks
    values = {
        "model": "llama",
        "tokens": [*first, *pieces],
        "token_type": [*types, *[NORMAL] * len(pieces)],
        "scores": [*[0.0] * len(first), *ranks],
        "bos_token_id": 1,
        "eos_token_id": 2,
        "unknown_token_id": 0,
    }
    return Header(keys(**values | changed))


def added(id, content, special=True, **flags):
    """An added token of a tokenizer.json."""
    names = ("single_word", "lstrip", "rstrip", "normalized")
    return {"id": id, "content": content, "special": special} | dict.fromkeys(names, False) | flags


def byte_level_json():
    """The tiny model's vocabulary and rule as a tokenizer.json."""
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
    digits = {"type": "Digits", "individual_digits": True}
    byte_level["use_regex"] = True
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [added(id, text) for id, text in enumerate(tiny.SPECIAL)],
        "normalizer": None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [digits, byte_level]},
        "post_processor": None,
        "decoder": byte_level,
        "model": {
            "type": "BPE",
            "vocab": {token: id for id, token in enumerate(tiny.vocabulary())},
            "merges": list(tiny.MERGES),
        },
    }


def sentencepiece_json(scheme="first"):
    """The same pieces as above, as a tokenizer.json of a Llama. scheme "legacy": as TinyLlama has
    it, with a normalizer that puts a space before every stretch of text.
    """
    metadata = sentencepiece().metadata
    tokens = metadata["tokenizer.ggml.tokens"]
    known = set(PIECES)
    merges = [
        [piece[:n], piece[n:]]
        for piece in PIECES
        for n in range(1, len(piece))
        if piece[:n] in known and piece[n:] in known
    ]
    replace = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
    legacy = [{"type": "Prepend", "prepend": "▁"}, replace]
    metaspace = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": False}
    back = {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}
    strip = {"type": "Strip", "content": " ", "start": 1, "stop": 0}
    last = [{"type": "ByteFallback"}, {"type": "Fuse"}, strip]
    legacy_form = scheme == "legacy"
    return {
        "version": "1.0",
        "added_tokens": [added(id, tokens[id]) for id in range(3)],
        "normalizer": {"type": "Sequence", "normalizers": legacy} if legacy_form else None,
        "pre_tokenizer": None if legacy_form else metaspace,
        "post_processor": template_processor("<s>", 1),
        "decoder": {"type": "Sequence", "decoders": [back, *last]},
        "model": {
            "type": "BPE",
            "unk_token": "<unk>",
            "fuse_unk": True,
            "byte_fallback": True,
            "vocab": {token: id for id, token in enumerate(tokens)},
            "merges": merges,
        },
    }


def words_json():
    """A vocabulary that is cut at spaces, and has one token for all that it does not know."""
    metaspace = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
    tokens = ["<unk>", "<s>", "▁", "t", "h", "e", "c", "a", "▁t", "he", "▁the"]
    model = {"type": "BPE", "unk_token": "<unk>", "fuse_unk": False, "byte_fallback": False}
    model |= {"vocab": {token: id for id, token in enumerate(tokens)}}
    model |= {"merges": [["▁", "t"], ["h", "e"], ["▁t", "he"]]}
    return {
        "version": "1.0",
        "added_tokens": [added(id, tokens[id]) for id in range(2)],
        "pre_tokenizer": metaspace,
        "post_processor": template_processor("<s>", 1),
        "decoder": metaspace,
        "model": model,
    }


def template_processor(token, id):
    """A post-processor that puts one token before a text."""
    text = {"Sequence": {"id": "A", "type_id": 0}}
    return {
        "type": "TemplateProcessing",
        "single": [{"SpecialToken": {"id": token, "type_id": 0}}, text],
        "pair": [text, {"Sequence": {"id": "B", "type_id": 1}}],
        "special_tokens": {token: {"id": token, "ids": [id], "tokens": [token]}},
    }


def folder(path, tokenizer=None, **files):
    """Write a tokenizer.json and other JSON files (by name without .json), return the folder."""
    path.mkdir(exist_ok=True)
    contents = {"tokenizer": tokenizer} | files
    for name, content in contents.items():
        if content is not None:
            text = content if isinstance(content, str) else json.dumps(content)
            (path / f"{name}.json").write_text(text, "utf-8")
    return path
