"""Names of tokens found in a text. Knows texts only."""

import re


def pattern(names) -> re.Pattern | None:
    """What finds the first of the names in a text, the longest where several begin; None without
    names.
    """
    longest_first = sorted(filter(None, names), key=len, reverse=True)
    return re.compile(f"({'|'.join(map(re.escape, longest_first))})") if longest_first else None


def cut(text: str, pattern: re.Pattern | None) -> list[tuple[str, bool]]:
    """The text as pieces (text, is_name), in order: `a<s>b` -> a, <s>, b. No piece is empty."""
    pieces = pattern.split(text) if pattern else [text]
    return [(piece, bool(n % 2)) for n, piece in enumerate(pieces) if piece]
