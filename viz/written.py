"""A text as it is written: the prompt pale, then the tokens, each coloured by its probability.

Knows display texts, ids and numbers; no tokenizer and no sentence: texts arrive visible and labels
arrive translated.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from viz.payload import pack
from viz.theme import luts

LABELS = ("aria", "token", "prob", "before", "forked", "scale", "said", "reads")


def written(
    before: Sequence[str],
    tokens: Sequence[str],
    ids: Sequence[int],
    probs: Sequence[float],
    *,
    special: Sequence[bool],
    selected: int | None = None,
    first: int = 0,
    forked: int | None = None,
    follow: str | None = None,
    values: Mapping[str, str] | None = None,
    labels: Mapping[str, str],
) -> bytes:
    """The payload. before: display texts of what stands in front and cannot be chosen. tokens, ids,
    probs and special run along the tokens that were written.

    probs: 0 to 1, or NaN where there is none; the colour of a token. first: how many tokens lie
    before the first, for its number. forked: the token at which another text begins to differ.
    follow: where on the server the tokens that are still to come are found, if more are. values: by
    name, what stands in the line below the text.
    labels: "aria" names the tokens, "token" describes one with {token}, {id} and {number}, "prob"
    says its probability with {prob}, "before" names what stands in front, "forked" is said of that
    token, "scale" names the colours; empty, they have no legend. "said" is the line below, with the
    names of values, and "reads" stands there before the first token; empty, there is no line.
    ValueError: unequal lengths, a number outside, a missing label.
    """
    _check(tokens, {"ids": ids, "probs": probs, "special": special}, labels)
    for name, value in (("selected", selected), ("forked", forked)):
        if value is not None and not 0 <= value < len(tokens):
            raise ValueError(f"{name} is {value}, wanted 0 to {len(tokens) - 1}")
    meta = {
        "before": list(before),
        "tokens": list(tokens),
        "ids": [int(i) for i in ids],
        "special": [bool(mark) for mark in special],
        "selected": selected,
        "first": int(first),
        "forked": forked,
        "follow": follow,
        "values": values and dict(values),
        "labels": dict(labels),
        "variant": "row",
    }
    return pack(meta, probs=np.asarray(probs, np.float32), **luts("amount"))


def _check(tokens, columns, labels):
    for name, column in columns.items():
        if len(column) != len(tokens):
            raise ValueError(f"{name} has {len(column)} items, wanted {len(tokens)}")
    if missing := [name for name in LABELS if name not in labels]:
        raise ValueError(f"labels lack {missing}")
