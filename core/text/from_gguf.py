"""The vocabulary that the metadata of a GGUF file describe.

Knows the keys below `tokenizer.` and the kinds of tokens; not how the file is laid out. Two kinds
of vocabulary: "gpt2", byte-level BPE with a splitting rule, and "llama", SentencePiece's BPE with
scores. Every length, type and id is checked before it is used.
Source: llama.cpp, src/llama-vocab.cpp.
"""

import math

from tokenizers import AddedToken, models
from tokenizers import Tokenizer as Library

from core.errors import ModelFileError

from .library import ByLibrary, guarded
from .rules import RULES
from .sentencepiece import SentencePiece
from .spelling import BYTE_TOKEN, byte_level, sentencepiece
from .vocabulary import END_NAMES, LARGEST, Tokenizer

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, BYTE = 1, 2, 3, 4, 6  # tokenizer.ggml.token_type
NAMED = {
    "bos_token": "ggml.bos_token_id",
    "eos_token": "ggml.eos_token_id",
    "unk_token": "ggml.unknown_token_id",
    "pad_token": "ggml.padding_token_id",
}
END_IDS = ("ggml.eos_token_id", "ggml.eot_token_id", "ggml.eom_token_id")
KEEPS_SPACE = ("<unk>", "<s>", "<|endoftext|>")  # of Phi-3's markers; the others take it away


def from_gguf(gguf_file, n_tokens: int | None = None) -> Tokenizer:
    """The tokenizer that a parsed GGUF file describes.

    n_tokens: rows of the embedding matrix; rows past the vocabulary get a token without text.
    Raises ModelFileError for another kind of vocabulary, an unknown splitting rule, or metadata
    that contradict each other.
    """
    header = _Header(gguf_file)
    kind = header.file.get("tokenizer.ggml.model", str)
    if kind == "gpt2":
        return _read(header, n_tokens, **_byte_level(header))
    if kind == "llama":
        return _read(header, n_tokens, **_sentencepiece(header))
    raise header.unsupported(
        f"its tokenizer is of the kind {kind[:40]!r}", "the kinds gpt2 and llama"
    )


def _read(header, n_tokens, add_bos, **parts):
    """What both kinds have in common."""
    bos = header.id("ggml.bos_token_id")
    ends = {header.id(key) for key in END_IDS}
    ends |= {header.special[name] for name in END_NAMES & header.special.keys()}
    ids = {name: header.id(key) for name, key in NAMED.items()}
    padding = header.padding(n_tokens)
    asked = header.optional("ggml.add_bos_token", bool)
    return Tokenizer(
        tokens=header.tokens + ("",) * padding,
        special=header.special,
        end_ids=frozenset(ends - {None}),
        bos_id=bos,
        add_bos=(add_bos if asked is None else asked) and bos is not None,
        template=header.optional("chat_template", str),
        literal=frozenset(header.added.values()),
        names={name: header.tokens[id] for name, id in ids.items() if id is not None},
        **parts,
    )


class _Header:
    """The vocabulary's metadata, checked."""

    def __init__(self, file):
        self.file = file
        self.tokens = self.texts("tokenizer.ggml.tokens")
        if not 0 < len(self.tokens) <= LARGEST:
            raise self.broken("vocabulary", f"it has {len(self.tokens)} tokens")
        types = self.numbers("tokenizer.ggml.token_type")
        if len({*self.tokens} - {""}) + self.tokens.count("") != len(self.tokens):
            raise self.broken("vocabulary", "a token stands in it twice")
        of_type = {kind: {} for kind in (NORMAL, UNKNOWN, CONTROL, USER_DEFINED, BYTE)}
        for id, (token, kind) in enumerate(zip(self.tokens, types, strict=True)):
            if token:
                of_type.get(kind, {})[token] = id
        self.normal, self.byte = of_type[NORMAL], of_type[BYTE]
        ends = {t: id for t, id in of_type[USER_DEFINED].items() if t in END_NAMES}
        self.added = {t: id for t, id in of_type[USER_DEFINED].items() if t not in END_NAMES}
        self.special = of_type[CONTROL] | of_type[UNKNOWN] | ends

    def broken(self, place, reason):
        return ModelFileError("broken", path=str(self.file.path), place=place, reason=reason)

    def unsupported(self, reason, supported):
        path = str(self.file.path)
        return ModelFileError("unsupported", path=path, reason=reason, supported=supported)

    def optional(self, key, kind):
        """A value of the tokenizer's metadata of the right type, None where the file has none."""
        key = f"tokenizer.{key}"
        return self.file.get(key, kind) if key in self.file.metadata else None

    def id(self, key):
        """A token id, None where the file has none."""
        id = self.optional(key, int)
        if id is not None and not 0 <= id < len(self.tokens):
            raise self.broken(f"key tokenizer.{key}", f"id {id} is outside the vocabulary")
        return id

    def texts(self, key):
        """An array of strings."""
        texts = tuple(self.file.get(key, list))
        if not all(isinstance(text, str) for text in texts):
            raise self.broken(f"key {key}", "it holds no texts")
        return texts

    def numbers(self, key):
        """An array of finite numbers, one per token."""
        numbers = self.file.get(key, list)
        if len(numbers) != len(self.tokens):
            reason = f"it has {len(numbers)} entries for {len(self.tokens)} tokens"
            raise self.broken(f"key {key}", reason)
        if not all(type(n) in (int, float) and math.isfinite(n) for n in numbers):
            raise self.broken(f"key {key}", "it holds something else than finite numbers")
        return numbers

    def padding(self, n_tokens):
        """How many rows of the embedding matrix have no token."""
        rows = len(self.tokens) if n_tokens is None else n_tokens
        if rows < len(self.tokens):
            reason = f"it has {len(self.tokens)} tokens, the embedding matrix has {rows} rows"
            raise self.broken("vocabulary", reason)
        return rows - len(self.tokens)


def _byte_level(header):
    name = header.optional("ggml.pre", str)
    if name not in RULES:
        said = (
            "does not say how it splits texts" if name is None else f"splits texts by {name[:40]!r}"
        )
        raise header.unsupported(f"its tokenizer {said}", "the rules " + ", ".join(sorted(RULES)))
    rule = RULES[name]
    # without the control tokens: no text can be merged to one
    vocabulary = header.normal | header.added
    merges = _merges(header, vocabulary)
    library = Library(
        guarded(
            lambda: models.BPE(vocabulary, merges, ignore_merges=rule.ignore_merges),
            fail=lambda reason: header.broken("merges", reason),
        )
    )
    library.pre_tokenizer = rule.pre_tokenizer()
    library.add_tokens([AddedToken(token, normalized=False) for token in header.added])
    return {
        "add_bos": rule.add_bos,
        "rule": rule.name,
        "encoder": ByLibrary(library),
        "spell": byte_level,
    }


def _merges(header, vocabulary):
    """`Ġ t` -> Ġ, t, as the tokens themselves, so that no text is kept twice."""
    merges, tokens = [], header.tokens
    for merge in header.texts("tokenizer.ggml.merges"):
        split = merge.find(" ", 1)  # from 1 on: a piece may itself begin with a space
        left, right = vocabulary.get(merge[:split]), vocabulary.get(merge[split + 1 :])
        if left is None or right is None or tokens[left] + tokens[right] not in vocabulary:
            raise header.broken("merges", f"{merge[:80]!r} does not join two tokens to a third")
        merges.append((tokens[left], tokens[right]))
    return merges


def _sentencepiece(header):
    scores = header.numbers("tokenizer.ggml.scores")
    spaced = header.optional("ggml.add_space_prefix", bool)
    matches = ((BYTE_TOKEN.fullmatch(token), id) for token, id in header.byte.items())
    unknown = header.id("ggml.unknown_token_id")
    takes_space = header.file.metadata.get("general.architecture") == "phi3"
    encoder = SentencePiece(
        vocabulary=header.normal,
        scores={token: scores[id] for token, id in header.normal.items()},
        added=header.added,
        bytes={int(match[1], 16): id for match, id in matches if match},
        unknown=unknown,
        space_first=spaced is not False,
    )
    return {
        "add_bos": True,
        "rule": "sentencepiece",
        "encoder": encoder,
        "spell": sentencepiece,
        "space_first": encoder.space_first,
        "strips": {t: (False, takes_space and t not in KEEPS_SPACE) for t in header.special},
    }
