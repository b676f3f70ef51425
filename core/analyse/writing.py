"""What is added to the residual stream and how much that changes it: lengths, directions, and the
layers whose parts a stream is made of.

Lengths are L2 norms, computed in float64 from the recorded float32 rows. Reads a trace; no
sentences, no figures.
"""

from dataclasses import dataclass

import numpy as np

from .agreement import Agreement, compare
from .reader import Reader
from .vectors import cosine, length, quotient


@dataclass(frozen=True)
class Written:
    """An addition: before + change = after, of one row or of many. float32 [..., n] each."""

    before: np.ndarray
    change: np.ndarray
    after: np.ndarray

    @property
    def lengths(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """L2 norms of before, change and after: float64 [...] each."""
        return tuple(length(x) for x in (self.before, self.change, self.after))

    @property
    def ratio(self) -> np.ndarray:
        """[...]: the length of the change beside that of what was there; NaN beside nothing."""
        before, change, _ = self.lengths
        return quotient(change, before)

    @property
    def along(self) -> np.ndarray:
        """[...]: cosine of the change with what was there; below 0 it takes something away."""
        return cosine(self.change, self.before)

    @property
    def kept(self) -> np.ndarray:
        """[...]: cosine of the stream after with the stream before; 1: the direction stayed."""
        return cosine(self.after, self.before)

    @property
    def n_equal(self) -> int:
        """How many numbers are exactly the float32 sum of the other two."""
        return int((self.before + self.change == self.after).sum())

    @property
    def agreement(self) -> Agreement:
        """That sum beside the record: nothing is allowed."""
        return compare(self.before + self.change, self.after)

    def most_changed(self, n: int) -> list[int]:
        """The numbers of a row that changed most, largest change first."""
        return np.argsort(-np.abs(self.change), kind="stable")[:n].tolist()


def of_all(trace, op: str, layer: int | None) -> Written:
    """The addition that an op makes, of every position: [seq, embedding]. For an op that adds two
    values of the pass, or the rows of the positions to the embedding.
    """
    reader = Reader(trace, op, layer)
    after = trace.read(op, layer)
    added = reader.weight()[: len(after)] if reader.entry.kind == "position" else reader.read(1)
    return Written(reader.read(0), added, after)


def of_row(trace, op: str, layer: int | None, position: int) -> Written:
    """The same for one position: [embedding]."""
    every = of_all(trace, op, layer)
    return Written(*(x[position] for x in (every.before, every.change, every.after)))


@dataclass(frozen=True)
class Part:
    """What a layer has added to a row of the stream; the embedding as it entered layer 0 is the
    part of layer None.

    length: L2 norm of the part. share: how far it reaches along the stream, as a share of the
    stream's own length: the shares of all parts sum to 1, and one that points against the stream
    has a negative share.
    """

    layer: int | None
    length: float
    share: float


def parts(trace, layer: int, position: int) -> list[Part]:
    """What the stream into a layer is made of, at a position: the embedding, then every earlier
    layer. A layer's part is the difference of the recorded streams behind and before it.
    """
    stream = trace.stream[: layer + 1, position].astype(np.float64)
    rows = np.concatenate([stream[:1], np.diff(stream, axis=0)])
    square = float(stream[-1] @ stream[-1])
    shares = rows @ stream[-1] / (square or 1.0)
    columns = ((None, *range(layer)), length(rows).tolist(), shares.tolist())
    return [Part(*each) for each in zip(*columns, strict=True)]


@dataclass(frozen=True)
class Again:
    """What attention and the MLP of a layer added to a row, by the layer run again, beside the
    difference of the recorded streams. attention, mlp: lengths. agreement: of both together with
    that difference.
    """

    layer: int
    attention: float
    mlp: float
    agreement: Agreement


def again(trace, layer: int, position: int) -> Again:
    """One layer's part of a row, taken apart. Three float32 additions and two checkpoints lie
    between the sides: each may be off by half a unit in the last place of the numbers added.
    """
    halves = [of_row(trace, op, layer, position) for op in ("resid_mid", "resid_post")]
    added = sum(each.change.astype(np.float64) for each in halves)
    before, after = trace.stream[layer : layer + 2, position].astype(np.float64)
    sizes = sum(np.abs(x) for each in halves for x in (each.change, each.after))
    allowed = np.finfo(np.float32).eps * (np.abs(before) + sizes.astype(np.float64))
    lengths = (float(length(each.change)) for each in halves)
    return Again(layer, *lengths, compare(added, after - before, allowed))


@dataclass(frozen=True)
class LookedUp:
    """A token's row beside the row of the table that it was read from. n: numbers in a row;
    n_equal: how many of them are equal; agreement: of all. length: L2 norm.
    """

    id: int
    n: int
    n_equal: int
    agreement: Agreement
    length: float


def looked_up(trace, position: int) -> LookedUp:
    """Whether the embedding of a token is the row of the table with the number of its id."""
    id, row = trace.ids[position], trace.read("embed")[position]
    entry = trace.model.weights.embed[id]
    n_equal = int((row == entry).sum())
    return LookedUp(id, len(row), n_equal, compare(entry, row), float(length(row)))


@dataclass(frozen=True)
class Grown:
    """Rows of the stream where they entered layer 0 and here: their L2 norms, and the cosine of the
    two; float64 [seq] each.
    """

    start: np.ndarray
    here: np.ndarray
    kept: np.ndarray


def grown(trace, layer: int) -> Grown:
    """What has become of the stream of every position when it enters a layer."""
    start, here = trace.stream[0], trace.stream[layer]
    return Grown(length(start), length(here), cosine(here, start))


def scaled(trace, op: str, position: int) -> tuple[float, float]:
    """L2 norms of a row before and after an op outside the blocks that scales it."""
    before, after = Reader(trace, op, None).read(), trace.read(op)
    return float(length(before[position])), float(length(after[position]))
