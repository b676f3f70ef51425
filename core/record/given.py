"""The values of somebody else's engine, matched with the ops and axes of ours.

Knows names, shapes and a trace of ours to be measured against; no file. `entries` is what
`core.files.arrays` hands out: name -> (kind, shape, read).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from core.model.axes import KEYS, MAP, OP_AXES, QUERIES, VOCAB_OPS

from .aliases import parse

ROWS = ("seq", "vocab")


@dataclass(frozen=True)
class Layout:
    """One way to lay out an op's value. axes: those of `ours(theirs)`; text: their own, in words,
    or "" where they are ours.
    """

    shape: tuple[int, ...]
    axes: tuple[str, ...]
    text: str = ""
    ours: Callable = lambda theirs: theirs


def layouts(op: str, sizes: dict[str, int]) -> list[Layout]:
    """Every layout that is understood, for these axis sizes; a batch axis of 1 may stand before."""
    axes, n = OP_AXES[op], sizes["seq"]
    if op in VOCAB_OPS:
        every = Layout((n, sizes["vocab"]), ROWS, "every position")
        return [Layout((sizes["vocab"],), ROWS, "", lambda x: x[None]), every]
    own = Layout(tuple(sizes[axis] for axis in axes), axes)
    if axes == MAP:
        groups = sizes["head"] // sizes["kv_head"]
        split = (sizes["kv_head"], groups, n, n)
        text = "[kv_head, group, query, key]"
        return [own, Layout(split, axes, text, lambda x: x.reshape(own.shape))]
    if axes not in (QUERIES, KEYS):
        return [own]
    out = _of_heads(own, axes[1])
    if axes == KEYS and sizes["head"] != sizes["kv_head"]:
        repeated = Layout((n, sizes["head"], sizes["head_dim"]), QUERIES, "a copy per query head")
        out += _of_heads(repeated, "head")
    return out


def _of_heads(own, head):
    """[seq, head, head_dim], the same with the heads side by side, and with heads first."""
    n, heads, dim = own.shape
    also = f", {own.text}" if own.text else ""
    flat, first = f"[seq, {head}*head_dim]{also}", f"[{head}, seq, head_dim]{also}"
    return [
        own,
        replace(own, shape=(n, heads * dim), text=flat, ours=lambda x: x.reshape(own.shape)),
        replace(own, shape=(heads, n, dim), text=first, ours=lambda x: x.swapaxes(0, 1)),
    ]


def fitting(op: str, sizes, shape) -> list[Layout]:
    """The layouts of this shape, once as many leading axes of 1 as needed are taken off."""
    for start in range(len(shape) + 1):
        found = [layout for layout in layouts(op, sizes) if layout.shape == shape[start:]]
        if found or shape[start : start + 1] != (1,):
            return found
    return []


class Given:
    """Somebody's values by op and layer, measured against a trace of ours.

    Attributes:
        names: (op, layer) -> the name in the file. unused: name -> why it is not compared.
        kinds: the number types of the values. rows: positions whose scores are compared.
    """

    def __init__(self, trace, entries, refused=()):
        self.trace, self.entries, self.names = trace, entries, {}
        self.sizes = trace.config.axis_sizes(len(trace.ids))
        self.unused = dict(refused)
        for name, entry in entries.items():
            self._add(name, entry.shape)
        self.kinds = {entries[name].kind for name in self.names.values()}
        self.rows = self._rows()

    def _add(self, name, shape):
        where = parse(name, self.trace.catalogue)
        if isinstance(where, str):
            self.unused[name] = where
        elif where in self.names:
            self.unused[name] = "a second name for what another array holds"
        elif fitting(where[0], self.sizes, shape):
            self.names[where] = name
        else:
            wanted = " or ".join(str(x.shape) for x in layouts(where[0], self.sizes)[:3])
            self.unused[name] = f"its shape {shape} is not {wanted}"

    def _rows(self):
        """All positions if every op with scores has them for all, else the last one."""
        n, vocab = self.sizes["seq"], self.sizes["vocab"]
        names = [name for (op, _), name in self.names.items() if op in VOCAB_OPS]
        every = names and all(math.prod(self.entries[x].shape) == n * vocab for x in names)
        return slice(0 if every else n - 1, n)

    def ours(self, op, layer):
        """Our value of an op; scores as [seq, vocab], for the rows that are compared."""
        if op not in VOCAB_OPS:
            return self.trace.read(op, layer)
        positions = range(self.rows.start, self.rows.stop)
        return np.stack([self.trace.output(op, position) for position in positions])

    def read(self, op, layer) -> tuple[np.ndarray, str] | None:
        """Their value as float32 in our axes, and in which layout it was; None if not given.

        Keys and values with a copy per query head stay as they are. Where two layouts have the
        same shape, the one that is nearer to ours counts.
        """
        if (op, layer) not in self.names:
            return None
        entry = self.entries[self.names[op, layer]]
        found = fitting(op, self.sizes, entry.shape)
        with np.errstate(over="ignore", invalid="ignore"):
            theirs = entry.read().astype(np.float32).reshape(found[0].shape)
        if len(found) > 1:
            ours = self.ours(op, layer)
            found.sort(key=lambda layout: _away(ours, layout.ours(theirs)))
        theirs, text = found[0].ours(theirs), found[0].text
        if op in VOCAB_OPS:
            theirs = theirs[self.rows.start - self.rows.stop :]
        return theirs, text

    def as_input(self, op, layer):
        """Their value as other ops read it, one copy of each key and value; None if not given."""
        found = self.read(op, layer)
        if found is None:
            return None
        repeated = found[0].shape[1:2] != (self.sizes["kv_head"],)
        every = self.trace.config.group if OP_AXES[op] == KEYS and repeated else 1
        return found[0][:, ::every] if every > 1 else found[0]


def alike(ours, theirs):
    """Ours in the shape of theirs, which may have a copy of each key and value per query head."""
    same = ours.shape == theirs.shape
    return ours if same else np.repeat(ours, theirs.shape[1] // ours.shape[1], axis=1)


def _away(ours, theirs):
    """How far apart two values are in all; anything not finite is far."""
    with np.errstate(all="ignore"):
        far = np.abs(alike(ours, theirs) - theirs)
    return float(np.nan_to_num(far, nan=1e30, posinf=1e30).sum(dtype=np.float64))
