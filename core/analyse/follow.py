"""Where a number stands: the page, the step and the cell that show it, so that a reader can follow
an operand to the op that made it.

Knows axes and which ops stand outside the blocks; no values, no sentences, no pages' files.
"""

from dataclasses import dataclass, field

from core.model.axes import AFTER_BLOCKS, OP_AXES, VOCAB_OPS

from .reader import Operand


@dataclass(frozen=True)
class Place:
    """One number of a run, and where it is shown.

    Attributes:
        page: "block", "output", or another page that explains the number.
        step: what a link to the page calls the step or view; None for the first.
        op, layer, index: the number; for scores of the vocabulary the index is (position, token).
        head: the query head that a reader has chosen there. Two places of the same number are the
            same whatever the head.
    """

    page: str
    step: str | None
    op: str
    layer: int | None
    index: tuple[int, ...]
    head: int = field(default=0, compare=False)

    @property
    def position(self) -> int:
        """The position of the number; in a map of attention, the query's."""
        return self.index[1] if "key" in OP_AXES[self.op] else self.index[0]

    @property
    def column(self) -> int:
        """The column of its cell: a number of the row, a key, or a token."""
        return self.index[-1]


def place(config, op: str, layer: int | None, index: tuple[int, ...], head: int = 0) -> Place:
    """Where a number of a run stands. head: the query head chosen so far; it stays where the number
    is of no head, or of the key/value head that it reads.
    """
    page = "output" if op in AFTER_BLOCKS else "block"
    return Place(page, op, op, layer, index, _head(config, op, index, head))


def origin(operand: Operand, config, cell: Place) -> Place | None:
    """Where an operand of the explained number `cell` was made; None where no op made it. The
    number of the embedding table itself stands where its bytes are shown.
    """
    made = operand.origin or operand
    if made.kind == "op":
        return place(config, made.source, made.layer, made.index, cell.head)
    if cell.op == "embed" and cell.page != "embedding":
        return Place("embedding", None, "embed", None, cell.index, cell.head)
    return None


def _head(config, op, index, head):
    """The query head to show with a number: its own, or one that reads its key/value head."""
    axes = OP_AXES[op] if op not in VOCAB_OPS else ()
    if "head" in axes:
        return index[axes.index("head")]
    if "kv_head" in axes:
        own = index[axes.index("kv_head")]
        return head if head // config.group == own else own * config.group
    return head
