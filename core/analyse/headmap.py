"""One attention head, cell by cell: scores, weights, and how much is read along each weight.

Reads a trace; lengths and shares in float64. No sentences, no figures. The value-weighted map is
the norm-based analysis of Kobayashi et al. 2020 (arXiv 2004.10102): the length of what a query gets
from a key, A[i, j] · ‖W_O^h v_j‖, where W_O^h are the head's own columns of the output projection
(Elhage et al. 2021).
"""

import functools
from dataclasses import dataclass

import numpy as np

from core.record.trace import freeze

from . import vectors
from .agreement import Agreement, compare, rounding
from .heads import reduce_max
from .reader import Reader

FAINTEST = 1e-4  # the weight at which a logarithmic scale begins
FAINT = 0.1  # a smaller weight has hardly a colour on a scale from 0 to 1


@dataclass(frozen=True, eq=False)
class HeadMap:
    """One head of a run.

    Attributes:
        scores, masked, weights: as the pass computed them, float32 [query, key]. capped: the scores
            behind the soft cap; None in a layer that has none.
        lengths: of what is read of each key at weight 1, ‖W_O^h v_j‖, float64 [key].
        window: how many keys a query sees at most, its own included; None for all.
    """

    layer: int
    head: int
    kv_head: int
    scores: np.ndarray
    capped: np.ndarray | None
    masked: np.ndarray
    weights: np.ndarray
    lengths: np.ndarray
    window: int | None

    @functools.cached_property
    def carried(self) -> np.ndarray:
        """The value-weighted map: weight × length, float32 [query, key], in units of the stream."""
        return freeze((self.weights * self.lengths).astype(np.float32))

    @functools.cached_property
    def sums(self) -> np.ndarray:
        """The sum of each row of weights, float64 [query]."""
        return self.weights.sum(axis=1, dtype=np.float64)

    @property
    def agreement(self) -> Agreement:
        """Whether each row of weights sums to 1."""
        return compare(self.sums, 1.0, rounding(1.0))

    @property
    def worst_sum(self) -> float:
        """The sum of the row that is farthest from 1."""
        return float(self.sums[np.abs(self.sums - 1).argmax()])

    @property
    def n_faint(self) -> int:
        """In how many rows after the first every weight but the first key's is below FAINT."""
        return int((self.weights[1:, 1:].max(axis=1, initial=0) < FAINT).sum())

    def seen(self, values) -> np.ndarray:
        """A map of this head with NaN where the mask is: a weight there is a plain 0."""
        return np.where(np.isneginf(self.masked), np.float32(np.nan), values)

    def first_seen(self, query: int) -> int:
        """The oldest key that a query sees."""
        return 0 if self.window is None else max(0, query - self.window + 1)

    def why_masked(self, query: int, key: int) -> str:
        """Why a query does not see a key: "later" or "outside" the window; "" where it does."""
        if key > query:
            return "later"
        return "outside" if key < self.first_seen(query) else ""

    def order(self, query: int) -> list[int]:
        """The keys that a query sees, the most looked at first; equal ones in their order."""
        first = self.first_seen(query)
        return (first + np.argsort(-self.weights[query, first : query + 1], kind="stable")).tolist()

    def rest(self, query: int, keys) -> tuple[float, float]:
        """What a query gives to these keys together: the sum of the weights, and of the lengths of
        what is read.
        """
        keys = list(keys)
        both = (self.weights, self.carried)
        return tuple(float(each[query, keys].sum(dtype=np.float64)) for each in both)

    def telling(self, query: int) -> int:
        """The key that a query looks at most, the first one left out where there are others."""
        return next((key for key in self.order(query) if key), 0)

    def fullest(self, scale: str) -> np.ndarray:
        """What has full colour in each row, float32 [query]: of the scale "row" its largest weight;
        of "rest" the sum of all but the first key's. 0 where nothing is left.
        """
        rows = self.weights.astype(np.float64)
        found = rows.max(axis=1) if scale == "row" else rows[:, 1:].sum(axis=1)
        return found.astype(np.float32)

    @property
    def n_empty(self) -> int:
        """In how many rows nothing is left without the first key."""
        return int((self.fullest("rest") == 0).sum())

    def arrays(self) -> dict:
        """All maps and the lengths, by name."""
        capped = {} if self.capped is None else {"softcapped": self.capped}
        maps = {"scores": self.scores, **capped, "masked": self.masked, "weights": self.weights}
        maps |= {"value_lengths": self.lengths, "value_weighted": self.carried}
        return maps | {"layer": self.layer, "head": self.head, "kv_head": self.kv_head}


@dataclass(frozen=True)
class Row:
    """What one query looks at most, and what it reads most of.

    Attributes:
        looked, weight: the key of the largest weight. read, part: the key of the longest part, and
            that length as a share of the lengths of all parts; NaN where all are 0.
        added: the lengths of all parts, summed. written: the length of their sum as vectors.
            recorded: the length of what the head wrote, its recorded mix sent through W_O^h.
            agreement: of these two vectors.
    """

    looked: int
    weight: float
    read: int
    part: float
    added: float
    written: float
    recorded: float
    agreement: Agreement


def head_map(trace, layer: int, head: int) -> HeadMap:
    """A head of a run. IndexError for a head that is not there, KeyError for a layer."""
    ops, kv_head = trace.catalogue.blocks[layer], head // trace.config.group
    read = {id: trace.read(f"attn.{id}", layer)[head] for id in ("scores", "masked", "weights")}
    capped = trace.read("attn.softcap", layer)[head] if "attn.softcap" in ops else None
    lengths = vectors.length(read_of(trace, layer, head))
    window = trace.config.windows[layer]
    return HeadMap(layer, head, kv_head, capped=capped, lengths=lengths, window=window, **read)


def read_of(trace, layer: int, head: int) -> np.ndarray:
    """What a head reads of each key at weight 1, W_O^h v_j: float64 [key, embedding]. A bias of the
    projection belongs to no key and is left out; a norm behind it comes later.
    """
    values, weight = _values(trace, layer, head), _columns(trace, layer, head)
    return values @ weight.T


def without_first(weights) -> np.ndarray:
    """The weights of all keys but the first as shares of what it left them: float64 [query, key].
    NaN in the column of the first, and in rows where nothing is left.
    """
    rest = np.array(weights, np.float64)
    rest[:, 0] = np.nan
    return vectors.quotient(rest, rest[:, 1:].sum(axis=1, keepdims=True))


def row(trace, found: HeadMap, query: int) -> Row:
    """The row of one query, with what its parts add up to."""
    weights, carried = found.weights[query].astype(np.float64), found.carried[query]
    looked, most = int(weights.argmax()), int(carried.argmax())
    added = float(carried.sum(dtype=np.float64))
    values = _values(trace, found.layer, found.head)
    columns = _columns(trace, found.layer, found.head)
    total = columns @ (weights @ values)
    mix = trace.read("attn.mix", found.layer)[query, found.head].astype(np.float64)
    sizes = np.abs(columns) @ (weights @ np.abs(values))
    recorded = columns @ mix
    lengths = (float(vectors.length(each)) for each in (total, recorded))
    agreement = compare(total, recorded, rounding(sizes))
    part = float(vectors.quotient(carried[most], added))
    return Row(looked, float(weights[looked]), most, part, added, *lengths, agreement)


def first_token(found: HeadMap) -> tuple[float, float]:
    """The first key's share of the weights, and of the lengths of the parts: means over the rows
    that see it and another. NaN where there is none.
    """
    rows = slice(1, len(found.weights) if found.window is None else found.window)
    if not found.weights[rows].size:
        return float("nan"), float("nan")
    carried = found.carried[rows].astype(np.float64)
    parts = vectors.quotient(carried[:, 0], carried.sum(axis=1))
    return float(found.weights[rows, 0].mean(dtype=np.float64)), float(parts.mean())


def sharing(trace, layer: int, kv_head: int, largest: int) -> tuple[range, np.ndarray]:
    """The query heads that read one KV head, and their maps of weights with at most `largest` cells
    a side, each the maximum of a block: float32 [head, query', key'], NaN where no cell is seen.
    """
    group = trace.config.group
    heads = range(kv_head * group, (kv_head + 1) * group)
    maps, masked = (
        trace.read(op, layer)[heads.start : heads.stop] for op in ("attn.weights", "attn.masked")
    )
    seen = reduce_max(np.isfinite(masked), largest)
    return heads, np.where(seen, reduce_max(maps, largest), np.float32(np.nan))


def _values(trace, layer, head):
    """The values that a head reads, of its KV head: float64 [key, head_dim]."""
    values = Reader(trace, "attn.mix", layer).read(1)
    return values[:, head // trace.config.group].astype(np.float64)


def _columns(trace, layer, head):
    """A head's own columns of the output projection: float64 [embedding, head_dim]."""
    n = trace.config.head_dim
    weight = trace.model.weights.get("attn_out", layer)
    return weight[:, head * n : (head + 1) * n].astype(np.float64)
