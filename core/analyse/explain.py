"""Where a number came from: the operands, the products, their sum, and whether it equals what was
recorded.

Reads a trace and has the same number computed again from the recorded operands (the arithmetic of
each kind of op is in arithmetic.py). Knows what "equal" means; no sentences, no figures.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from core.model.axes import VOCAB_OPS

from .arithmetic import KINDS
from .reader import Operand, Reader, Step

TOLERANCE = 1e-5
SUMS = {"dot", "score", "mix", "rotate", "sum", "position"}  # of terms that may cancel each other
SMALLEST = 1e-36  # what is smaller loses its digits in float32, or is 0 there


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
        kind: how it is explained, as the catalogue says. values: every term, float64 [n].
        total: their sum. steps: what is done to it, the last result is `value`.
        recorded: what the pass computed. difference: value - recorded. equal: within `tolerance` of
        it.
    """

    op: str
    layer: int | None
    index: tuple[int, ...]
    kind: str
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
        return [self.term(int(j)) for j in self._by_weight[:n]]

    def all(self, by_size: bool) -> list[Term]:
        """Every term, the heaviest first, or in the order of their numbers."""
        order = self._by_weight if by_size else range(len(self.values))
        return [self.term(int(j)) for j in order]

    def rest(self, n: int) -> float:
        """The sum of all terms but the n that weigh most."""
        return float(self.values[self._by_weight[n:]].sum())

    def so_far(self) -> np.ndarray:
        """The sum after each term, the heaviest first: float64 [n]."""
        return np.cumsum(self.values[self._by_weight])

    @property
    def gaps(self) -> float | None:
        """The difference in gaps between neighbouring float32 numbers of the recorded size; None
        where that is 0, or too small to be held in full.
        """
        size = abs(self.recorded)
        if not SMALLEST < size < np.inf:
            return None
        return abs(self.difference) / float(np.spacing(np.float32(size)))

    @cached_property
    def _by_weight(self):
        return np.argsort(-np.abs(self.values), kind="stable")


def explain(trace, op: str, layer: int | None, index) -> Explanation:
    """Explain one number: `index` follows the op's axes (for logits and probs: position, token id).

    "Equal" means within 1e-5 of the result, where numbers were added of the sum of their
    magnitudes. Raises KeyError for an op or layer that the model does not have, IndexError for an
    index outside the value.
    """
    index = tuple(int(i) for i in index)
    reader = Reader(trace, op, layer)
    entry, recorded = reader.entry, _recorded(trace, op, layer, index)
    values, operands, steps = KINDS[entry.kind](reader, index)
    values = np.asarray(values, np.float64)
    total = -np.inf if entry.kind == "mask" and not len(values) else float(values.sum())
    steps = tuple(steps(total))
    value = steps[-1].result if steps else total
    difference = 0.0 if value == recorded else value - recorded
    tolerance = TOLERANCE * _size(entry.kind, values, total, steps) + SMALLEST
    equal = abs(difference) <= tolerance
    return Explanation(
        op,
        layer,
        index,
        entry.kind,
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
    if op in VOCAB_OPS:
        if len(index) != 2:
            raise IndexError(f"{op} is at a position and a token: 2 numbers, not {len(index)}")
        position, token = index
        row = trace.output(op, position)
        return float(row[_inside(token, len(row), op)])
    value = trace.read(op, layer)
    if len(index) != value.ndim:
        axes = trace.catalogue.op(op, layer).axes
        raise IndexError(f"{op} has axes {axes}: {value.ndim} numbers, not {len(index)}")
    return float(value[tuple(_inside(i, n, op) for i, n in zip(index, value.shape, strict=True))])


def _inside(i, n, op):
    if not 0 <= i < n:
        raise IndexError(f"{i} is not one of 0 to {n - 1} on this axis of {op}")
    return i


def _size(kind, values, total, steps):
    """What the tolerance is relative to: the result, but magnitudes where numbers were added."""
    size = float(np.abs(values).sum()) if kind in SUMS else abs(total)
    for step in steps:
        if step.sign in ("+", "−"):
            size += abs(step.value) if step.size is None else step.size
        elif step.sign == "×":
            size *= abs(step.value)
        else:
            size = size / step.value if step.sign == "÷" else abs(step.result)
    return size if np.isfinite(size) else 0.0
