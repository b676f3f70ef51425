"""How the text of a token stands for bytes: in GPT-2's alphabet, in SentencePiece's way, as it is.

Knows these three spellings; no vocabulary, no file.
"""

import functools
import re

SPACE = "▁"  # SentencePiece's visible space
BYTE_TOKEN = re.compile(r"<0x([0-9A-F]{2})>")


@functools.cache
def byte_characters() -> dict[str, int]:
    """GPT-2's alphabet: the printable character that stands for each byte in a byte-level
    vocabulary.

    Bytes that print stand for themselves; the others take the code points from 256 on, in order.
    """
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [b for b in range(256) if b not in plain]
    return {chr(b): b for b in plain} | {chr(256 + n): b for n, b in enumerate(others)}


def byte_level(token: str) -> bytes:
    """The bytes of a byte-level token: `Ġthe` -> ` the`. Other characters stand for themselves."""
    alphabet = byte_characters()
    return b"".join(bytes([alphabet[c]]) if c in alphabet else c.encode() for c in token)


def sentencepiece(token: str, space: str = SPACE) -> bytes:
    """The bytes of a SentencePiece token: `▁the` -> ` the`, `<0x0A>` -> a line feed."""
    byte = BYTE_TOKEN.fullmatch(token)
    return bytes([int(byte[1], 16)]) if byte else token.replace(space, " ").encode()


def whole(text: str) -> str:
    """The text without lone surrogates, which are no characters and cannot be encoded."""
    return text.encode("utf-8", "replace").decode()


def as_it_is(token: str) -> bytes:
    """The bytes of a token that is spelled as the text it stands for."""
    return token.encode()
