"""A text next to its tokens: characters, bytes, pre-tokenization pieces, ids. Reads a tokenizer; no
figures.
"""

from dataclasses import dataclass

from core.text.display import show_text


@dataclass(frozen=True)
class TokenInfo:
    """One token of a prompt: its id, visible form and bytes (hexadecimal)."""

    position: int
    id: int
    text: str
    hex: str
    n_bytes: int
    special: bool


@dataclass(frozen=True)
class Reading:
    """How a text was read. pieces: visible forms of what it was cut into before merging. dropped:
    bytes (hex).
    """

    n_characters: int
    n_bytes: int
    tokens: tuple[TokenInfo, ...]
    pieces: tuple[str, ...]
    dropped: tuple[str, ...]


def reading(trace, text: str) -> Reading:
    """How the text of a prompt became the ids of a trace (a chat template may have added some)."""
    words = trace.model.tokenizer
    special = set(words.special.values())
    tokens = []
    for position, id in enumerate(trace.ids):
        data = words.token_bytes(id)
        shown = data.hex(" ").upper()
        tokens.append(TokenInfo(position, id, words.display(id), shown, len(data), id in special))
    return Reading(
        n_characters=len(text),
        n_bytes=len(text.encode("utf-8", "replace")),
        tokens=tuple(tokens),
        pieces=tuple(show_text(text[start:stop]) for _, start, stop in words.pieces(text)),
        dropped=tuple(f"{b:02X}" for b in words.dropped(text)),
    )
