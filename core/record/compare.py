"""Somebody's values of a run against ours, op by op: which is the first to differ, by how much, and
which known mistake would explain it.

Two looks at every op. `far`: how far their value is from ours. `step`: how far it is from what
their own values before it give, when our op reads them; this one does not add up over the layers.
Knows traces, no file and no printing.
"""

import re
from dataclasses import dataclass, field, replace

import numpy as np

from core.errors import PromptError
from core.model.axes import BEFORE_BLOCKS, OP_AXES, QUERIES, VOCAB_OPS

from .given import Given, alike
from .mistakes import mistakes
from .replay import order_of, origins, replay

TOLERANCE = 1e-4  # of an op's size: measured between float32 and float64 passes: up to 4e-5
GROWTH = 8  # roundings, times the root of the ops in a row: measured up to 4 for one, 75 for 250
MOST_TOKENS = 1024  # one pass, and maps that fit into memory
EPS = {"float64": 2**-53, "float32": 2**-24, "float16": 2**-11, "bfloat16": 2**-8}
UNROTATED = ("attn.q", "attn.k", "attn.q_norm", "attn.k_norm", "attn.q_rot", "attn.k_rot")


@dataclass(frozen=True)
class Difference:
    """Where two values of an op are farthest apart, measured in the op's size at that position.

    Attributes:
        relative: the distance over the largest number of ours at the position. ours, theirs: the
            two numbers. place: axis -> index.
    """

    relative: float
    ours: float
    theirs: float
    place: dict[str, int]


@dataclass(frozen=True)
class Row:
    """One op of one layer, compared.

    Attributes:
        name, layout: what their file calls it, and how it was laid out ("": as ours).
        far: against ours. step: against what their own values give, relative. bound: how large
            either may be, as their precision explains it: (far, step).
        alike: whether it differs in the order of numbers inside a head only.
    """

    op: str
    layer: int | None
    name: str
    layout: str
    far: Difference
    step: float
    bound: tuple[float, float]
    alike: bool = False

    @property
    def verdict(self) -> str:
        """ "agrees", "order" (other numbers, but the scores agree), "rounding" (precision explains
        it), "follows" (differs as far as their earlier values do), "equals" (ours, but was not made
        of their earlier values) or "differs".
        """
        if self.far.relative <= TOLERANCE and self.step <= TOLERANCE:
            return "agrees"
        if self.alike:
            return "order"
        if not self.step <= self.bound[1]:
            return "equals" if self.far.relative <= TOLERANCE else "differs"
        return "rounding" if self.far.relative <= self.bound[0] else "follows"


@dataclass(frozen=True)
class Comparison:
    """The result.

    Attributes:
        rows: in the order of the pass. eps: half a unit in the last place of their precision.
        first: the first that differs, or None. between: ops (id, layer) that were not given, from
            which it was made. read: given ones that it was made of.
        causes: mistakes (Mistake) that explain it. unused: name -> why it was not compared.
        nonfinite: the first with a number that is not finite where ours is.
    """

    rows: list[Row]
    eps: float
    unused: dict[str, str]
    first: Row | None = None
    between: list = field(default_factory=list)
    read: list = field(default_factory=list)
    causes: list = field(default_factory=list)
    nonfinite: Row | None = None


def compare(trace, given: Given, eps: float) -> Comparison:
    """Compare the given values of a run with a trace of the same ids.

    eps: of the coarser of the two computations, see `eps_of`. Raises PromptError above MOST_TOKENS,
    TraceTooLarge, ModelFileError where their numbers are damaged.
    """
    check_length(trace.ids)
    with np.errstate(all="ignore"):  # their numbers may be anything, and mistakes overflow
        return _compared(trace, given, _rows(trace, given, eps), eps)


def check_length(ids):
    """Raises PromptError where a run is too long to be compared; best asked before it is run."""
    if len(ids) > MOST_TOKENS:
        raise PromptError("prompt_too_long", n_tokens=len(ids), limit=MOST_TOKENS)


def _compared(trace, given, rows, eps):
    differing = [row for row in rows if row.verdict in ("differs", "follows")]
    wrong = (row for row in rows if row.far.relative == np.inf and not np.isfinite(row.far.theirs))
    out = Comparison(rows, eps, given.unused, nonfinite=next(wrong, None))
    if not differing:
        return out
    first = differing[0]
    order, found = order_of(trace.catalogue), origins(trace, given.names, first.op, first.layer)
    between, read = (sorted(ops, key=order) for ops in found)
    causes = _causes(trace, given, first, between) if first.verdict == "differs" else []
    return replace(out, first=first, between=between, read=read, causes=causes)


def eps_of(kinds=(), precision=None, stored=()) -> float:
    """Half a unit in the last place, of 1, of the coarsest number type among those that values are
    kept in, that they were computed in, and (where the weights are others) that weights are in.
    """
    known = [EPS[kind] for kind in (*kinds, precision) if kind in EPS]
    return max([EPS["float32"], *known, *map(_stored_eps, stored)])


def _stored_eps(kind):
    """Of a type of stored weights, by its GGUF or safetensors name; 1 where it is not known."""
    if plain := {"F64": 2**-53, "F32": 2**-24, "F16": 2**-11, "BF16": 2**-8}.get(kind):
        return plain
    if kind.startswith("F8"):
        return 2**-3 if "E5M2" in kind else 2**-4
    bits = re.match(r"I?Q([2-8])", kind)
    return 2.0 ** -int(bits[1]) if bits else 1.0


def _rows(trace, given, eps):
    rows = []
    for done, (op, layer, value) in enumerate(replay(trace, given.as_input, given.rows), 1):
        if (op, layer) in given.names:
            rows.append(_row(trace, given, eps, op, layer, value, done))
    return [_reordered(row, rows) for row in rows]


def _row(trace, given, eps, op, layer, value, done):
    """One op compared. value: what their values before it give. done: ops since the start."""
    theirs, layout = given.read(op, layer)
    hidden = _hidden(trace, op, layer)
    far = difference(given.ours(op, layer), theirs, op, hidden)
    if op in VOCAB_OPS:
        far.place["seq"] += given.rows.start
    step = difference(value, theirs, op, hidden).relative
    between, _ = origins(trace, given.names, op, layer)
    bound = tuple(max(TOLERANCE, GROWTH * eps * n**0.5) for n in (done, len(between) + 1))
    return Row(op, layer, given.names[op, layer], layout, far, step, bound)


def _hidden(trace, op, layer):
    """Cells that no later op looks at: scores of what the mask hides."""
    if op not in ("attn.scores", "attn.softcap"):
        return None
    return np.isneginf(trace.read("attn.masked", layer))


def difference(ours, theirs, op, hidden=None) -> Difference:
    """Where two values are farthest apart, seen from the size of ours at each position.

    Where ours is minus infinity (masked), any number of theirs below -10,000 is as good; what is
    not a number is far from all but its like.
    """
    axes = ("seq", "vocab") if op in VOCAB_OPS else OP_AXES[op]
    axes = axes if ours.shape == theirs.shape else QUERIES
    ours = alike(ours, theirs)
    with np.errstate(all="ignore"):  # infinities of both
        apart = np.abs(theirs - ours)
    apart[np.isnan(apart)] = np.inf
    apart[(theirs == ours) | (np.isnan(theirs) & np.isnan(ours))] = 0
    apart[np.isneginf(ours) & (theirs < -1e4)] = 0
    if hidden is not None:
        apart[hidden] = 0
    at = axes.index("query") if "query" in axes else 0
    others = tuple(i for i in range(len(axes)) if i != at)
    sizes = np.where(np.isfinite(ours), np.abs(ours), 0).max(axis=others)
    relative = apart.max(axis=others) / np.maximum(sizes, 1e-6 * sizes.max() + 1e-30)
    position = int(relative.argmax())
    cell = np.unravel_index(apart.take(position, at).argmax(), apart.take(position, at).shape)
    where = tuple(map(int, (*cell[:at], position, *cell[at:])))
    place = dict(zip(axes, where, strict=True))
    return Difference(float(relative[position]), float(ours[where]), float(theirs[where]), place)


def _reordered(row, rows):
    """Queries and keys may be in another order inside a head if the scores made of them agree."""
    if row.op not in UNROTATED:
        return row
    scores = [r for r in rows if r.layer == row.layer and r.op in ("attn.scores", "attn.masked")]
    return replace(row, alike=any(r.far.relative <= TOLERANCE for r in scores))


def _causes(trace, given, first, between):
    """The mistakes that give what they have, the nearest first."""
    touched = [trace.catalogue.op(*where) for where in [*between, (first.op, first.layer)]]
    theirs, _ = given.read(first.op, first.layer)
    found = []
    for mistake in mistakes(trace):
        if any(map(mistake.touches, touched)):
            value = _value(trace, given, first, mistake.change)
            away = difference(
                value, theirs, first.op, _hidden(trace, first.op, first.layer)
            ).relative
            if away <= min(first.bound[1], first.step / 8):
                found.append((away, mistake))
    found.sort(key=lambda pair: pair[0])
    return [mistake for away, mistake in found if away <= 4 * found[0][0] + 1e-6]


def _value(trace, given, row, change):
    """The op of a row, made of their values with every call changed."""
    values = replay(trace, given.as_input, given.rows, _start(given, row), change)
    return next(value for op, layer, value in values if (op, layer) == (row.op, row.layer))


def _start(given, row):
    """The last block, up to that of the row, whose stream is given; None: from the embedding."""
    if row.op in BEFORE_BLOCKS:
        return None
    last = given.trace.config.n_layers if row.layer is None else row.layer
    streams = (("resid_pre", 0), ("resid_post", -1))
    return next(
        (n for n in range(last, -1, -1) if any((op, n + d) in given.names for op, d in streams)),
        None,
    )
