"""Text to token ids and back, for the vocabulary a model file carries.

Knows byte-level BPE and the pre-tokenization rule named in the file; no weights, no pages. The
merging itself is the `tokenizers` library's.
"""

import functools
from dataclasses import dataclass

from tokenizers import Tokenizer as Library
from tokenizers import models, pre_tokenizers

from core.errors import ModelFileError, PromptError

from . import chat
from .display import show_bytes

CONTROL = 3  # tokenizer.ggml.token_type of special tokens
END_NAMES = {"<|endoftext|>", "<|im_end|>", "</s>", "<|eot_id|>", "<|end|>", "<end_of_turn>"}
RULES = {  # tokenizer.ggml.pre -> pre-tokenizer
    "smollm": lambda: pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), _byte_level()]
    ),
    "gpt-2": lambda: _byte_level(),
}


def _byte_level():
    return pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)


@functools.cache
def byte_characters() -> dict[str, int]:
    """GPT-2's alphabet: the printable character that stands for each byte in a byte-level
    vocabulary.

    Bytes that print stand for themselves; the others take the code points from 256 on, in order.
    """
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [b for b in range(256) if b not in plain]
    return {chr(b): b for b in plain} | {chr(256 + n): b for n, b in enumerate(others)}


@dataclass(frozen=True)
class Tokenizer:
    """The vocabulary of one model. `special` are the control tokens by text; `end_ids` stop a
    generation.
    """

    tokens: tuple[str, ...]
    special: dict[str, int]
    end_ids: frozenset[int]
    bos_id: int | None
    add_bos: bool
    rule: str
    template: str | None
    library: Library

    def encode(self, text: str) -> list[int]:
        """Text to ids, without BOS. Special markers in the text stay literal; bytes without a token
        vanish.
        """
        return self.library.encode(_whole(text), add_special_tokens=False).ids

    def decode(self, ids) -> str:
        """Ids to text, special tokens included as their names; half characters become the
        replacement mark.
        """
        return b"".join(map(self.token_bytes, ids)).decode("utf-8", "replace")

    def token_bytes(self, id: int) -> bytes:
        """The bytes one token stands for. IndexError outside the vocabulary."""
        if id < 0:
            raise IndexError(f"token id {id} is negative")
        token = self.tokens[id]
        if token in self.special:
            return token.encode()
        alphabet = byte_characters()
        return b"".join(bytes([alphabet[c]]) if c in alphabet else c.encode() for c in token)

    def display(self, id: int) -> str:
        """A visible form: `␣is`, `⏎`, `⟨F0 9F⟩`, `⟨00⟩`."""
        return show_bytes(self.token_bytes(id))

    def dropped(self, text: str) -> list[int]:
        """The bytes of the text for which the vocabulary has no token, in order, each time they
        occur.
        """
        missing = self.missing_bytes
        return [b for b in _whole(text).encode() if b in missing]

    @functools.cached_property
    def missing_bytes(self) -> frozenset[int]:
        """Bytes that are not in the vocabulary as a token of their own."""
        vocabulary = set(self.tokens)
        return frozenset(b for c, b in byte_characters().items() if c not in vocabulary)

    def pieces(self, text: str) -> list[tuple[str, int, int]]:
        """What pre-tokenization cuts the text into: (piece in the byte alphabet, start, stop) by
        character.
        """
        return [(p, *span) for p, span in self.library.pre_tokenizer.pre_tokenize_str(_whole(text))]

    def chat(self, messages) -> list[int]:
        """Messages to ids by the file's template, with the generation prompt; contents stay
        literal.
        """
        if self.template is None:
            raise PromptError("bad_template", reason="the file has none")
        ids = []
        for text, is_marker in chat.render(
            self.template, messages, self.special, self.bos_id, self.tokens
        ):
            ids += [self.special[text]] if is_marker else self.encode(text)
        return ids


def _whole(text: str) -> str:
    """The text without lone surrogates, which are no characters and cannot be encoded."""
    return text.encode("utf-8", "replace").decode()


def from_gguf(gguf_file) -> Tokenizer:
    """The tokenizer that a parsed GGUF file describes.

    Raises ModelFileError for another kind of vocabulary, an unknown splitting rule or ids out of
    range.
    """
    path = str(gguf_file.path)
    kind, rule = gguf_file.get("tokenizer.ggml.model", str), _optional(gguf_file, "ggml.pre", str)
    if kind != "gpt2" or rule not in RULES:
        reason = f"its tokenizer is {kind!r} with the splitting rule {rule!r}"
        supported = "byte-level BPE with " + ", ".join(sorted(RULES))
        raise ModelFileError("unsupported", path=path, reason=reason, supported=supported)
    tokens = _texts(gguf_file, "tokenizer.ggml.tokens")
    special = _special(gguf_file, tokens)
    bos = _optional(gguf_file, "ggml.bos_token_id", int)
    eos = _optional(gguf_file, "ggml.eos_token_id", int)
    ends = {eos} | {special[name] for name in END_NAMES & special.keys()}
    _check_ids(path, len(tokens), {bos, *ends} - {None})
    return Tokenizer(
        tokens=tokens,
        special=special,
        end_ids=frozenset(ends - {None}),
        bos_id=bos,
        add_bos=bool(_optional(gguf_file, "ggml.add_bos_token", bool)) and bos is not None,
        rule=rule,
        template=_optional(gguf_file, "chat_template", str),
        library=_library(gguf_file, tokens, rule),
    )


def _optional(gguf_file, key, kind):
    """A value of the tokenizer's metadata of the right type, None where the file has none."""
    key = f"tokenizer.{key}"
    return gguf_file.get(key, kind) if key in gguf_file.metadata else None


def _texts(gguf_file, key):
    """An array of strings."""
    texts = tuple(gguf_file.get(key, list))
    if not all(isinstance(text, str) for text in texts):
        path = str(gguf_file.path)
        raise ModelFileError("broken", path=path, place=f"key {key}", reason="it holds no texts")
    return texts


def _special(gguf_file, tokens):
    types = gguf_file.get("tokenizer.ggml.token_type", list)
    if len(types) != len(tokens):
        reason = f"{len(types)} token types for {len(tokens)} tokens"
        raise ModelFileError("broken", path=str(gguf_file.path), place="vocabulary", reason=reason)
    return {
        text: id for id, (text, t) in enumerate(zip(tokens, types, strict=True)) if t == CONTROL
    }


def _check_ids(path, n_tokens, ids):
    for id in ids:
        if not isinstance(id, int) or not 0 <= id < n_tokens:
            reason = f"token id {id!r} is outside the vocabulary"
            raise ModelFileError("broken", path=path, place="special tokens", reason=reason)


def _library(gguf_file, tokens, rule):
    """The `tokenizers` object: vocabulary, merges in order of rank, and the splitting rule."""
    merges = []
    for merge in _texts(gguf_file, "tokenizer.ggml.merges"):
        split = merge.find(" ", 1)  # from 1: a piece may itself begin with a space
        merges.append((merge[:split], merge[split + 1 :]))
    try:
        bpe = models.BPE(vocab={t: i for i, t in enumerate(tokens)}, merges=merges)
    except (
        Exception
    ) as error:  # the library raises bare Exception for merges outside the vocabulary
        path = str(gguf_file.path)
        raise ModelFileError("broken", path=path, place="merges", reason=str(error)) from None
    library = Library(bpe)
    library.pre_tokenizer = RULES[rule]()
    return library
