"""How one piece of a text becomes tokens, for the player in the browser: symbols, merges, trees.

Knows display texts, places and two role colours. Knows no tokenizer and no sentence: texts arrive
visible and labels arrive translated.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from viz.payload import pack
from viz.theme import ROLES

BUTTONS = ("first", "previous", "play", "pause", "next", "last", "save")
PARTS = ("aria", "slider", "now", "tree", "steps")
SAID = ("count", "done", "row", "id", "rank")
LABELS = (*BUTTONS, *PARTS, *SAID)


@dataclass(frozen=True)
class Join:
    """One merge: the symbols from start to middle with those from middle to stop. text, bytes (hex)
    and id are those of the joined token, rank is shown as it stands here.
    """

    start: int
    middle: int
    stop: int
    text: str
    bytes: str
    id: int
    rank: str


def player(
    symbols: Sequence[tuple[str, str]],
    merges: Sequence[Join],
    tokens: Sequence[tuple[int, int, str, Sequence[int]]],
    *,
    step: int | None = None,
    labels: Mapping[str, str],
) -> bytes:
    """The payload of the merge player.

    symbols: what merging begins with, (visible text, bytes as hex) each. merges: in the order in
    which they happen. tokens: what they become, (start, stop, visible text, ids) each, over the
    symbols: one id as a rule, several where a character falls apart into its bytes at the end.
    step: how many merges are done when it is first shown; None for all.
    labels: texts of the buttons, of the parts for screen readers, and of what a row says: "row"
    with {left}, {right} and {joined}, "count" with {step} and {steps}, "id" with {id}, "rank".
    ValueError: merges that do not join neighbours, tokens that are not what they leave, a step
    outside, a missing label.
    """
    heights = _heights(len(symbols), merges, tokens)
    step = len(merges) if step is None else step
    if not 0 <= step <= len(merges):
        raise ValueError(f"step is {step}, wanted 0 to {len(merges)}")
    if missing := [name for name in LABELS if name not in labels]:
        raise ValueError(f"labels lack {missing}")
    return pack(
        {
            "symbols": [{"text": text, "bytes": bytes} for text, bytes in symbols],
            "merges": [
                vars(merge) | {"height": h} for merge, h in zip(merges, heights, strict=True)
            ],
            "tokens": [
                {"start": start, "stop": stop, "text": text, "ids": [*ids]}
                for start, stop, text, ids in tokens
            ],
            "step": step,
            "labels": dict(labels),
            "colours": {"done": ROLES["residual"], "next": ROLES["attention"]},
        }
    )


def _heights(n_symbols, merges, tokens):
    """How high above the symbols each merge stands in its tree: one more than the higher of what it
    joins.
    """
    height = {(n, n + 1): 0 for n in range(n_symbols)}  # by (start, stop), what is there now
    heights = []
    for merge in merges:
        parts = (merge.start, merge.middle), (merge.middle, merge.stop)
        if not height.keys() >= {*parts}:
            raise ValueError(f"{merge} joins what is not there")
        heights.append(1 + max(height.pop(part) for part in parts))
        height[merge.start, merge.stop] = heights[-1]
    ends = [0, *(stop for _, stop, *_ in tokens)]
    tiled = [start for start, *_ in tokens] == ends[:-1] and ends[-1] == n_symbols
    if not tiled or not {0, *(stop for _, stop in height)} >= {*ends}:
        raise ValueError("the tokens are not what the merges leave")
    return heights
