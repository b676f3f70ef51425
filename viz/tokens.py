"""The token strip: one chip per token, in logical order.

Knows display texts, ids and role colours. Knows no tokenizer and no sentence: texts arrive visible
(␣, ↵, ⟨F0 9F⟩) and labels arrive translated.
"""

from collections.abc import Mapping, Sequence

from viz.payload import pack
from viz.theme import ROLES

VARIANTS = ("row", "tall")
LABELS = ("aria", "token")


def token_strip(
    tokens: Sequence[str],
    ids: Sequence[int],
    *,
    selected: int | None = None,
    roles: Sequence[str | None] | None = None,
    details: Sequence[str] | None = None,
    special: Sequence[bool] | None = None,
    labels: Mapping[str, str],
    variant: str = "row",
) -> bytes:
    """The payload of the token strip.

    tokens, ids, roles, details and special run along seq and are equally long. `roles` colours the
    border of a chip (a name of ROLES, or None); `details` is one more line for its tooltip, for
    instance its bytes; `special` chips have a dashed border. "row" wraps chips and shows positions;
    "tall" puts one token on a line with its id.
    labels: "aria" names the strip; "token" describes a chip with {token}, {id} and {position}.
    ValueError: unequal lengths, a position outside, an unknown role, variant, or a missing label.
    """
    _check_lengths(tokens, ids=ids, roles=roles, details=details, special=special)
    _check_names(roles, variant, labels)
    if selected is not None and not 0 <= selected < len(tokens):
        raise ValueError(f"selected is {selected}, wanted 0 to {len(tokens) - 1}")
    return pack(
        {
            "tokens": list(tokens),
            "ids": [int(i) for i in ids],
            "selected": None if selected is None else int(selected),
            "roles": list(roles or [None] * len(tokens)),
            "details": list(details or [""] * len(tokens)),
            "special": [bool(mark) for mark in special or [False] * len(tokens)],
            "labels": dict(labels),
            "variant": variant,
            "colours": ROLES,
        }
    )


def _check_lengths(tokens: Sequence[str], **columns: Sequence | None) -> None:
    for name, column in columns.items():
        if column is not None and len(column) != len(tokens):
            raise ValueError(f"{name} has {len(column)} items, wanted {len(tokens)}")


def _check_names(roles: Sequence | None, variant: str, labels: Mapping[str, str]) -> None:
    if unknown := set(roles or ()) - {None, *ROLES}:
        raise ValueError(f"unknown roles {sorted(unknown)}, wanted some of {sorted(ROLES)}")
    if variant not in VARIANTS:
        raise ValueError(f"variant is {variant!r}, wanted one of {VARIANTS}")
    if missing := [name for name in LABELS if name not in labels]:
        raise ValueError(f"labels lack {missing}")
