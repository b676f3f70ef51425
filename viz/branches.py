"""The tree of a beam search: a column of branches for each level, each joined to what it goes on
from. Knows display texts and numbers as they are shown; knows no model, search or sentence.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from viz.payload import pack
from viz.theme import ROLES

STATES = ("kept", "finished", "dropped")
LABELS = ("aria", "start", "level", "best", "chosen", "save", *STATES)


@dataclass(frozen=True)
class Branch:
    """One token after a branch of the column before.

    parent: its number in that column, None in the first. text: the token; numbers: the line below
    it. state: one of STATES. best: whether the best text goes through it. title: lines that are
    said when it is pointed at, and read aloud.
    """

    parent: int | None
    text: str
    numbers: str
    state: str
    best: bool
    title: Sequence[str]


def branches(
    columns: Sequence[Sequence[Branch]],
    *,
    chosen: tuple[int, int] | None,
    asked: bool = True,
    labels: Mapping[str, str],
    name: str = "beams",
) -> bytes:
    """The payload: columns of branches, best first each. chosen: (column, place) of one of them.
    asked: whether the reader chose it, and it is scrolled into sight.

    labels: "aria" names the tree, "start" is where it begins, "level" heads a column with {level};
    the states, "best" and "chosen" stand in the legend, "save" is the button. name: of the picture.
    ValueError: a parent or a choice that is not there, an unknown state, a missing label.
    """
    _check_columns(columns)
    _check_choice(columns, chosen)
    if missing := [label for label in LABELS if label not in labels]:
        raise ValueError(f"labels lack {missing}")
    meta = {
        "columns": [[vars(branch) | {"title": [*branch.title]} for branch in c] for c in columns],
        "chosen": None if chosen is None else [*map(int, chosen)],
        "asked": asked,
        "labels": dict(labels),
        "colours": {"best": ROLES["logits"], "kept": ROLES["residual"], "end": ROLES["attention"]},
        "name": name,
    }
    return pack(meta)


def _check_columns(columns):
    for n, column in enumerate(columns):
        for branch in column:
            allowed = range(len(columns[n - 1])) if n else (None,)
            if branch.parent not in allowed:
                raise ValueError(f"there is no parent {branch.parent} of {branch.text!r}")
            if branch.state not in STATES:
                raise ValueError(f"state is {branch.state!r}, wanted one of {STATES}")


def _check_choice(columns, chosen):
    column, place = chosen or (0, 0)
    if chosen and not (0 <= column < len(columns) and 0 <= place < len(columns[column])):
        raise ValueError(f"there is no branch {chosen}")
