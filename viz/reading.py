"""A text above its tokens: which stretch of it belongs to which.

Knows a text, spans, display texts and one role colour. Knows no tokenizer and no sentence: what
makes a text visible (␣, ⏎) is given, and labels arrive translated.
"""

import re
from collections.abc import Callable, Mapping, Sequence

from viz.payload import pack
from viz.theme import ROLES

LABELS = ("aria", "token", "text", "tokens", "lost")
LINE = re.compile(r"[^\n]*\n|[^\n]+")


def reading(
    text: str,
    tokens: Sequence[str],
    ids: Sequence[int],
    spans: Sequence[tuple[int, int]],
    *,
    hexes: Sequence[str],
    shown: Callable[[str], str],
    selected: int | None = None,
    special: Sequence[bool] | None = None,
    unknown: Sequence[bool] | None = None,
    labels: Mapping[str, str],
) -> bytes:
    """The payload of the reading: tokens, ids, spans, hexes, special and unknown run along seq.

    spans: the characters of `text` that a token touches, (start, stop); tokens that share one
    character have overlapping spans, and tokens may stand in another order than their characters.
    shown: makes a stretch of the text visible. hexes: the bytes of each token. `special` chips have
    a dashed border, `unknown` ones a dotted one.
    labels: "aria" names the tokens, "token" describes one with {token}, {id} and {position}, "text"
    and "tokens" stand above the rows, "lost" is said of text without a token.
    ValueError: unequal lengths, a span or a position outside, a missing label.
    """
    columns = {"ids": ids, "spans": spans, "hexes": hexes, "special": special, "unknown": unknown}
    _check(text, tokens, columns, selected, labels)
    none = [False] * len(tokens)
    return pack(
        {
            "parts": [
                {"text": _visible(text[start:stop], shown), "tokens": owners}
                for start, stop, owners in parts(len(text), spans)
            ],
            "tokens": list(tokens),
            "ids": [int(i) for i in ids],
            "bytes": list(hexes),
            "special": [bool(mark) for mark in special or none],
            "unknown": [bool(mark) for mark in unknown or none],
            "selected": None if selected is None else int(selected),
            "labels": dict(labels),
            "variant": "row",
            "colour": ROLES["residual"],
        }
    )


def parts(n_characters: int, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int, list[int]]]:
    """The longest stretches whose characters all belong to the same tokens: (start, stop, tokens)
    each, in order; no tokens where a text has none.

    Example: 3 characters, spans (0, 2), (1, 2) -> (0, 1, [0]), (1, 2, [0, 1]), (2, 3, []).
    """
    cuts = sorted({0, n_characters}.union(*spans))
    place = {cut: n for n, cut in enumerate(cuts)}
    owners = [[] for _ in cuts[1:]]
    for token, (start, stop) in enumerate(spans):
        for each in owners[place[start] : place[stop]]:
            each.append(token)
    return [*zip(cuts, cuts[1:], owners, strict=False)]


def _visible(stretch, shown):
    """A stretch made visible, its lines still on lines of their own."""
    lines = LINE.findall(stretch)
    return "".join(shown(line) + "\n" * line.endswith("\n") for line in lines)


def _check(text, tokens, columns, selected, labels):
    for name, column in columns.items():
        if column is not None and len(column) != len(tokens):
            raise ValueError(f"{name} has {len(column)} items, wanted {len(tokens)}")
    for start, stop in columns["spans"]:
        if not 0 <= start <= stop <= len(text):
            raise ValueError(f"the span {(start, stop)} is outside the text")
    if selected is not None and not 0 <= selected < len(tokens):
        raise ValueError(f"selected is {selected}, wanted 0 to {len(tokens) - 1}")
    if missing := [name for name in LABELS if name not in labels]:
        raise ValueError(f"labels lack {missing}")
