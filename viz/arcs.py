"""The tokens of a text with the attention of one head: in colours, or with arcs and bars.

Knows a map, display texts and translated labels; knows no model, run or sentence. Of a text that is
not too long the whole map is sent, so that pointing at a token shows its row or column without
asking again; every number shown is the float32 itself.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from viz.payload import pack
from viz.theme import ROLES, luts

MOST_WHOLE = 512  # tokens whose half of a map, 525 kB, is sent; of a longer text one row or column
NAMED = 0.005  # a smaller weight is not written: it would read 0.00
KINDS = ("text", "arcs")
LABELS = frozenset(
    {"aria", "token", "now", "most", "pair", "later", "outside", "left", "amount", "masked", "save"}
)


def arcs(
    weights: np.ndarray,
    tokens: Sequence[str],
    ids: Sequence[int],
    *,
    selected: int,
    other: int,
    back: bool = True,
    first: bool = True,
    window: int | None = None,
    kind: str = "text",
    ends: Sequence[bool] | None = None,
    special: Sequence[bool] | None = None,
    drawn: np.ndarray | None = None,
    labels: Mapping[str, str],
    name: str = "attention",
) -> bytes:
    """The payload of float32 weights [query, key], one row and column per token.

    selected    whose attention is shown. other: the second token of the chosen pair
    back        whether it is the tokens that the selected one looks at; else those that look at it
    first       False leaves the first token out, and each row becomes shares of what it left; only
                looking back
    window      how many keys a query sees, its own included
    kind        "text" colours the tokens of a running text, "arcs" sets them below each other
    ends        which tokens end a line. special: which have a dashed border
    drawn       pairs whose arcs stay in the background: int32 [arc, 2], query and key
    labels      the translated strings named in LABELS. "token" describes one with {token} {id}
                {position}; "now" says whose attention is shown with {token} {position}, "most" its
                largest weight and "pair" one weight, with {query} {query_index} {key} {key_index}
                {weight}; "later", "outside" and "left" why a pair has none; "amount" and "masked"
                name the scale, "save" the button
    name        of the saved picture

    ValueError: not square, too many tokens, unequal lengths, a token outside, weights that are not
    0 to 1, an unknown kind, the first token left out looking forward, a missing label.
    """
    if not (back or first):
        raise ValueError("the first token can be left out only looking back")
    weights = np.asarray(weights, np.float32)
    n = len(tokens)
    columns = {"ids": ids, "ends": ends, "special": special}
    _check(weights, n, columns, kind, labels)
    pairs = np.zeros((0, 2), np.int32) if drawn is None else np.asarray(drawn, np.int32)
    _check_tokens(n, selected, other, *pairs.flat)
    none = [False] * n
    meta = {
        "tokens": list(tokens),
        "ids": [int(i) for i in ids],
        "selected": int(selected),
        "other": int(other),
        "back": bool(back),
        "first": bool(first),
        "whole": whole(n),
        "named": NAMED,
        "window": None if window is None else int(window),
        "variant": "tall" if kind == "arcs" else "row",
        "ends": [bool(mark) for mark in ends or none],
        "special": [bool(mark) for mark in special or none],
        "labels": dict(labels),
        "name": name,
        "colours": {name: ROLES[name] for name in ("query", "key", "attention")},
    }
    return pack(meta, weights=_sent(weights, selected, back), pairs=pairs, **luts("amount"))


def whole(n_tokens: int) -> bool:
    """Whether the map of so many tokens is sent whole."""
    return n_tokens <= MOST_WHOLE


def _sent(weights, selected, back):
    """The half of a map that holds numbers, row by row; or the row or column of one token."""
    if whole(len(weights)):
        return weights[np.tril_indices(len(weights))]
    return weights[selected] if back else weights[:, selected]


def _check(weights, n, columns, kind, labels) -> None:
    if weights.shape != (n, n) or not n:
        raise ValueError(f"weights have shape {weights.shape} for {n} tokens")
    # Softmax in float32 may pass 1 by a rounding step, hence the hair of tolerance.
    if not (weights.min() >= 0 and weights.max() <= 1.001):
        raise ValueError(f"weights run {weights.min()}..{weights.max()}, wanted 0..1")
    for name, column in columns.items():
        if column is not None and len(column) != n:
            raise ValueError(f"{name} has {len(column)} items, wanted {n}")
    if kind not in KINDS:
        raise ValueError(f"kind is {kind!r}, wanted one of {KINDS}")
    if missing := LABELS - labels.keys():
        raise ValueError(f"labels lack {sorted(missing)}")


def _check_tokens(n, *positions) -> None:
    for position in positions:
        if not 0 <= position < n:
            raise ValueError(f"token {position} is not one of 0 to {n - 1}")
