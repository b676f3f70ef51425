"""What one query of one head does with the keys: compare, cap, mask, and make shares of the scores.

Reads one row of a trace and computes it again in float64 from the recorded operands; no sentences,
no figures. Sources: attention (Vaswani et al. 2017), grouped queries (Ainslie et al. 2023), soft
caps (Gemma 2, 2024), attention sinks (Xiao et al. 2023).
"""

from dataclasses import dataclass

import numpy as np

from .agreement import Agreement, compare, rounding
from .reader import Reader
from .vectors import length

PARKED = 0.5  # a first token that takes more than this share is called a sink


@dataclass(frozen=True, eq=False)
class Compared:
    """One query with every key, later ones too: each float64 [key].

    Attributes:
        dots: q · k, computed again. scores: dots × `scale`. recorded: as the pass computed them.
    """

    dots: np.ndarray
    scale: float
    scores: np.ndarray
    recorded: np.ndarray
    agreement: Agreement


@dataclass(frozen=True, eq=False)
class Products:
    """One query times one key, number by number: float32 [1, head_dim]. total: their sum, q · k."""

    products: np.ndarray
    total: float


@dataclass(frozen=True, eq=False)
class Capped:
    """One row of scores through the soft cap, each float64 [key]: before, tanh(before / cap), and
    cap · tanh(before / cap).
    """

    cap: float
    before: np.ndarray
    bent: np.ndarray
    after: np.ndarray
    agreement: Agreement


@dataclass(frozen=True, eq=False)
class Masked:
    """One row of scores before and after the mask, each float64 [key].

    Attributes:
        first, stop: the keys from `first` to before `stop` are seen. window: how many at most.
        agreement: of the row masked again with the recorded one; they are equal in every digit.
    """

    before: np.ndarray
    after: np.ndarray
    first: int
    stop: int
    window: int | None
    agreement: Agreement

    @property
    def n_seen(self) -> int:
        """How many keys the query sees, its own included."""
        return self.stop - self.first

    @property
    def n_later(self) -> int:
        """How many keys are masked because they come after the query."""
        return len(self.before) - self.stop

    def why(self, key: int) -> str:
        """Why a key is masked: "later" or "outside" the window; "" where it is seen."""
        if key >= self.stop:
            return "later"
        return "outside" if key < self.first else ""


@dataclass(frozen=True, eq=False)
class Softmax:
    """The softmax of one row, step by step, each float64 [key]; a masked key has 0 of everything.

    Attributes:
        scores: masked, as recorded (−∞ where masked). largest: the highest of them, at key `at`.
        less_max: scores − largest. powers: e to these. total: their sum.
        weights: powers ÷ total. recorded: as the pass computed them.
    """

    scores: np.ndarray
    largest: float
    at: int
    less_max: np.ndarray
    powers: np.ndarray
    total: float
    weights: np.ndarray
    recorded: np.ndarray
    agreement: Agreement

    @property
    def n_masked(self) -> int:
        """How many keys are masked."""
        return int(np.isneginf(self.scores).sum())

    @property
    def n_seen(self) -> int:
        """How many keys are not masked."""
        return len(self.scores) - self.n_masked

    @property
    def parked(self) -> bool:
        """Whether the first token takes more than half although others are seen."""
        return bool(self.weights[0] > PARKED) and bool((self.powers[1:] > 0).any())

    @property
    def without_first(self) -> np.ndarray:
        """The weights of the other keys as shares of what the first left them: float32 [1, key]; 0
        for the first itself, NaN where masked. No value of the model; 0 where there are no others.
        """
        others = self.powers.copy()
        others[0] = 0
        shares = others / (others.sum() or 1.0)
        return np.where(np.isfinite(self.scores), shares, np.nan)[None].astype(np.float32)

    def rest(self, keys) -> tuple[float, float]:
        """The sums of these keys' powers and weights."""
        keys = list(keys)
        return float(self.powers[keys].sum()), float(self.weights[keys].sum())


@dataclass(frozen=True)
class Contribution:
    """What one key, or several together, give to a mix.

    Attributes:
        weight: of them. length: of the value row (L2 norm); None for several. size: the length of
            weight × value, or of the sum of these.
        along: the component of that along the mix, as a share of the mix's length. All keys' shares
            sum to 1; one that points the other way is negative.
    """

    weight: float
    length: float | None
    size: float
    along: float


@dataclass(frozen=True, eq=False)
class Mixed:
    """The values of the keys up to the query, weighted and added up.

    Attributes:
        weights: float64 [key]. values, parts: float64 [key, head_dim], parts = weight × value.
        total: the sum of the parts [head_dim].
    """

    weights: np.ndarray
    values: np.ndarray
    parts: np.ndarray
    total: np.ndarray
    agreement: Agreement

    def of(self, key: int) -> Contribution:
        """What one key gives."""
        together = self.all_of([key])
        own = float(length(self.values[key]))
        return Contribution(together.weight, own, together.size, together.along)

    def all_of(self, keys) -> Contribution:
        """What these keys give together."""
        part, squared = self._sum(keys), float(self.total @ self.total)
        along = float(part @ self.total) / (squared or 1.0)
        return Contribution(float(self.weights[list(keys)].sum()), None, float(length(part)), along)

    def values_of(self, keys) -> np.ndarray:
        """The value rows of these keys: float32 [row, head_dim]."""
        return self.values[list(keys)].astype(np.float32)

    def rows(self, keys, rest=()) -> np.ndarray:
        """The parts of these keys below each other, and in one more row the sum of the rest where
        there is one: float32 [row, head_dim].
        """
        sums = [self._sum(rest)] if len(rest) else []
        return np.stack([*self.parts[list(keys)], *sums]).astype(np.float32)

    @property
    def limit(self) -> float:
        """The largest magnitude of a part or of the total: one scale for both."""
        return max(float(np.abs(self.parts).max()), float(np.abs(self.total).max()))

    def _sum(self, keys):
        return self.parts[list(keys)].sum(axis=0)


def largest_first(values: np.ndarray) -> list[int]:
    """Indices of values, the largest first; equal ones in their order."""
    return np.argsort(-values, kind="stable").tolist()


def compared(trace, layer: int, head: int, position: int) -> Compared:
    """The query at a position with all keys of the KV head that its head reads. IndexError for a
    head or position that is not there.
    """
    reader = Reader(trace, "attn.scores", layer)
    q, k = _query(reader, head, position), _keys(reader, 1, head)
    (scale,) = reader.constants()
    recorded = trace.read("attn.scores", layer)[head, position].astype(np.float64)
    dots, sizes = k @ q, np.abs(k) @ np.abs(q)
    scores = dots * scale
    agreement = compare(scores, recorded, rounding(sizes * abs(scale)))
    return Compared(dots, scale, scores, recorded, agreement)


def products(trace, layer: int, head: int, position: int, key: int) -> Products:
    """That query and one of the keys, number by number."""
    reader = Reader(trace, "attn.scores", layer)
    q, k = _query(reader, head, position), _keys(reader, 1, head)[key]
    return Products((q * k)[None].astype(np.float32), float(q @ k))


def capped(trace, layer: int, head: int, position: int) -> Capped:
    """A row of scores before and after the soft cap. KeyError for a layer that has none."""
    reader = Reader(trace, "attn.softcap", layer)
    (cap,) = reader.constants()
    before = reader.read()[head, position].astype(np.float64)
    bent = np.tanh(before / cap)
    recorded = trace.read("attn.softcap", layer)[head, position].astype(np.float64)
    agreement = compare(bent * cap, recorded, rounding(np.abs(recorded)))
    return Capped(cap, before, bent, bent * cap, agreement)


def masked(trace, layer: int, head: int, position: int) -> Masked:
    """A row of scores before and after the mask."""
    reader, window = Reader(trace, "attn.masked", layer), trace.config.windows[layer]
    before = reader.read()[head, position].astype(np.float64)
    after = trace.read("attn.masked", layer)[head, position].astype(np.float64)
    first, stop = 0 if window is None else max(0, position - window + 1), position + 1
    again = np.full_like(before, -np.inf)
    again[first:stop] = before[first:stop]
    return Masked(before, after, first, stop, window, compare(again, after))


def softmax(trace, layer: int, head: int, position: int) -> Softmax:
    """The softmax of a row of masked scores, every step of it."""
    scores = trace.read("attn.masked", layer)[head, position].astype(np.float64)
    recorded = trace.read("attn.weights", layer)[head, position].astype(np.float64)
    at = int(np.argmax(scores))
    less_max = scores - scores[at]
    powers = np.exp(less_max)
    total = float(powers.sum())
    weights = powers / total
    agreement = compare(weights, recorded, rounding(weights))
    return Softmax(
        scores, float(scores[at]), at, less_max, powers, total, weights, recorded, agreement
    )


def mixed(trace, layer: int, head: int, position: int) -> Mixed:
    """The weighted sum of the values that a query of a head receives."""
    reader = Reader(trace, "attn.mix", layer)
    weights = reader.read(0)[head, position, : position + 1].astype(np.float64)
    values = _keys(reader, 1, head)[: position + 1]
    parts = weights[:, None] * values
    total = parts.sum(axis=0)
    recorded = trace.read("attn.mix", layer)[position, head].astype(np.float64)
    agreement = compare(total, recorded, rounding(np.abs(parts).sum(axis=0)))
    return Mixed(weights, values, parts, total, agreement)


def _query(reader, head, position):
    return reader.read(0)[position, head].astype(np.float64)


def _keys(reader, n, head):
    """The n-th input of all keys, of the KV head that a query head reads: [key, head_dim]."""
    return reader.read(n)[:, head // reader.config.group].astype(np.float64)
