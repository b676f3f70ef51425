"""A text next to its tokens: characters, bytes, pre-tokenization pieces, ids. Reads a tokenizer; no
figures.
"""

from dataclasses import dataclass

from core.text import markers
from core.text.display import show_text


@dataclass(frozen=True)
class TokenInfo:
    """One token of a prompt: its id, visible form and bytes (hexadecimal). special: it is a control
    token; unknown: it stands for what the vocabulary does not know.
    """

    position: int
    id: int
    text: str
    hex: str
    n_bytes: int
    special: bool
    unknown: bool


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


def holds_marker(words, text: str) -> bool:
    """Whether the name of one of a tokenizer's control tokens stands in a text."""
    return any(name and name in text for name in words.special)


def reading(trace, text: str) -> Reading:
    """How the text of a prompt became the ids of a trace (a chat template may have added some)."""
    words = trace.model.tokenizer
    special = set(words.special.values())
    tokens = []
    for position, id in enumerate(trace.ids):
        data = words.token_bytes(id)
        shown = data.hex(" ").upper()
        kinds = id in special, id == words.unknown_id
        tokens.append(TokenInfo(position, id, words.display(id), shown, len(data), *kinds))
    return Reading(
        n_characters=len(text),
        n_bytes=len(text.encode("utf-8", "replace")),
        tokens=tuple(tokens),
        pieces=tuple(show_text(piece) for piece in _pieces(trace, text)),
        dropped=tuple(f"{b:02X}" for b in words.dropped(text)),
    )


def _pieces(trace, text):
    """What a text is cut into before merging; a marker that is read as its token stays whole."""
    words = trace.model.tokenizer
    names = markers.pattern(words.special) if trace.spec.control else None
    for part, is_marker in markers.cut(text, names):
        yield from [part] if is_marker else (part[a:b] for _, a, b in words.pieces(part))
