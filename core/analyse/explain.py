"""Where a number came from: the operands, the products, their sum, and whether it equals what was
recorded.

Reads a trace and has the same number computed again from the recorded operands (the arithmetic of
each kind of op is in arithmetic.py). Knows what "equal" means; no sentences, no figures.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from core.record.catalogue import CATALOGUE

from .arithmetic import KINDS, Operand, Reader, Step

TOLERANCE = 1e-5
SUMS = {"dot", "score", "mix", "rotate", "sum"}  # compared with the sum of the absolute terms


@dataclass(frozen=True)
class Term:
    """One product of the sum: the term's own number, its operands, its value."""

    number: int
    operands: tuple[Operand, ...]
    value: float


@dataclass(frozen=True)
class Explanation:
    """One number of one op, computed again.

    Attributes:
        values: every term, float64 [n]. total: their sum. steps: what is done to it, the last
        result is `value`.
        recorded: what the pass computed. difference: value - recorded. equal: within `tolerance` of
        it.
    """

    op: str
    layer: int | None
    index: tuple[int, ...]
    formula: str
    values: np.ndarray
    total: float
    steps: tuple[Step, ...]
    value: float
    recorded: float
    difference: float
    tolerance: float
    equal: bool
    _operands: Callable = field(repr=False, compare=False)

    def term(self, number: int) -> Term:
        """One term by its number."""
        return Term(number, self._operands(number), float(self.values[number]))

    def top(self, n: int) -> list[Term]:
        """The n terms that weigh most, largest first."""
        return [self.term(int(j)) for j in np.argsort(-np.abs(self.values), kind="stable")[:n]]


def explain(trace, op: str, layer: int | None, index) -> Explanation:
    """Explain one number: `index` follows the op's axes (for logits and probs: position, token id).

    "Equal" means within 1e-5 of the sum of the absolute terms for dot products and sums, 1e-5
    relative otherwise. Raises KeyError for an unknown op or layer, IndexError for an index outside
    the value.
    """
    index = tuple(int(i) for i in index)
    recorded = _recorded(trace, op, layer, index)
    entry = CATALOGUE[op]
    values, operands, steps = KINDS[entry.kind](Reader(trace, entry, layer), index)
    values = np.asarray(values, np.float64)
    total = -np.inf if entry.kind == "mask" and not len(values) else float(values.sum())
    steps = tuple(steps(total))
    value = steps[-1].result if steps else total
    difference = 0.0 if value == recorded else value - recorded
    tolerance = TOLERANCE * _size(entry.kind, values, total, value)
    equal = abs(difference) <= tolerance
    return Explanation(
        op,
        layer,
        index,
        entry.formula,
        values,
        total,
        steps,
        value,
        recorded,
        difference,
        tolerance,
        equal,
        operands,
    )


def _recorded(trace, op, layer, index):
    if op in ("logits", "probs"):
        if layer is not None:
            raise KeyError(f"{op!r} is explained without a layer")
        if len(index) != 2:
            raise IndexError(f"{op} is at a position and a token: 2 numbers, not {len(index)}")
        position, token = index
        row = trace.logits(position) if op == "logits" else trace.probs(position)
        return float(row[_inside(token, len(row), op)])
    value = trace.read(op, layer)
    if len(index) != value.ndim:
        raise IndexError(
            f"{op} has axes {CATALOGUE[op].axes}: {value.ndim} numbers, not {len(index)}"
        )
    return float(value[tuple(_inside(i, n, op) for i, n in zip(index, value.shape, strict=True))])


def _inside(i, n, op):
    if not 0 <= i < n:
        raise IndexError(f"{i} is not one of 0 to {n - 1} on this axis of {op}")
    return i


def _size(kind, values, total, value):
    """What the tolerance is relative to."""
    if kind not in SUMS or not np.isfinite(total):
        return abs(value) if np.isfinite(value) else 0.0
    scale = abs(value / total) if total else 1.0
    return float(np.abs(values).sum()) * scale
