"""Edits at the one seam of the forward pass: frozen data that change a value before it is recorded.

Knows ops and their axes; no weights, no trace. Edits address layers and positions, not the order of
calls, so that prefill and decode agree.
"""

import math
from dataclasses import dataclass

import numpy as np

from core.errors import SettingError

from .axes import OP_AXES

KINDS = {
    "zero": lambda part, value: np.zeros_like(
        part
    ),  # not part * 0: that is NaN where a cell is masked
    "set": lambda part, value: np.full_like(part, value),
    "scale": lambda part, value: part * value,
    "add": lambda part, value: part + value,
}


@dataclass(frozen=True)
class Edit:
    """One change of one op: `Edit("attn.mix", layer=23, head=4)` switches that head off.

    None means all of them. `head` counts query heads or key/value heads, as the op has; `position`
    is the absolute position (the query's, in an attention map); `index` is a number of the last
    axis (a neuron, a dimension).
    kind: "zero", "set" (to value), "scale" (by value) or "add" (value).
    """

    op: str
    layer: int | None = None
    head: int | None = None
    position: int | None = None
    index: int | None = None
    kind: str = "zero"
    value: float = 0.0

    def __post_init__(self):
        if self.op not in OP_AXES or self.op == "probs":
            raise SettingError("bad_edit", op=self.op, reason="there is no such op in the pass")
        if self.kind not in KINDS:
            raise SettingError("bad_edit", op=self.op, reason=f"kind {self.kind!r} is unknown")
        if self.head is not None and not {"head", "kv_head"} & set(OP_AXES[self.op]):
            raise SettingError("bad_edit", op=self.op, reason="it has no heads")
        if not math.isfinite(self.value):
            raise SettingError("bad_edit", op=self.op, reason="its value is not a finite number")
        if any(n is not None and n < 0 for n in (self.layer, self.head, self.position, self.index)):
            raise SettingError("bad_edit", op=self.op, reason="its numbers count from 0")


def apply_edit(edit: Edit, value, first: int):
    """The value with the edit made, as a new array; rows of `value` start at absolute position
    `first`.
    """
    axes = ("seq", *OP_AXES[edit.op])[-value.ndim :]  # logits pass the tap as rows: [seq, vocab]
    where = []
    for axis, size in zip(axes, value.shape, strict=True):
        where.append(_part(edit, axis, size, first, last=axis == axes[-1]))
    changed = value.copy()
    changed[tuple(where)] = KINDS[edit.kind](value[tuple(where)], value.dtype.type(edit.value))
    return changed


def _part(edit, axis, size, first, last):
    """The slice of one axis that the edit addresses; empty where it addresses rows outside this
    pass.
    """
    wanted = None
    if axis in ("head", "kv_head"):
        wanted = edit.head
    elif axis in ("seq", "query"):
        wanted = None if edit.position is None else edit.position - first
    elif last:
        wanted = edit.index
    if wanted is None:
        return slice(None)
    return slice(wanted, wanted + 1) if 0 <= wanted < size else slice(0, 0)


def editing_tap(edits, first: int, then=None):
    """A tap that makes the edits, then hands the value to `then` (a recorder), if there is one.

    first: absolute position of the first row of this pass.
    """

    def tap(op, layer, value):
        for edit in edits:
            if edit.op == op and edit.layer in (None, layer):
                value = apply_edit(edit, value, first)
        return then(op, layer, value) if then else value

    return tap
