"""What a run says to things that are often believed about transformers. Reads a trace; measures,
concludes nothing; no sentences, no figures.
"""

from dataclasses import dataclass

import numpy as np

from core.model import ops

from . import distance
from .derived import kept
from .finite import check_scores

ROWS = 12  # positions whose guesses are listed, the last ones of the text
KEYS = 4  # keys that are listed, those with the largest weights


def tags(config) -> frozenset[str]:
    """How a model differs where one of these beliefs is concerned: "learned" positions are added,
    embeddings are "stretched" by a constant, each branch is normed "behind" it or on "both" ends.
    """
    own = {
        "learned": config.learned_positions,
        "stretched": config.embed_scale,
        "behind": config.norm_place == "after",
        "both": config.norm_place == "both",
    }
    return frozenset(name for name, has in own.items() if has)


# ---- only the last row predicts ------------------------------------------------------------------


@dataclass(frozen=True)
class RowGuess:
    """What the row of one position expects next, and what stands there.

    Attributes:
        best: id of the most probable token; prob: its probability.
        next: id of the token that follows in the text, None behind the last one. rank: its place
            in the ranking, from 1; None where there is no next.
    """

    position: int
    best: int
    prob: float
    next: int | None
    rank: int | None


def guesses(trace) -> tuple[RowGuess, ...]:
    """The guess of each of the last rows. Raises TokenwalkError where scores are not finite. Each
    takes a product with the whole output matrix, so they are kept.
    """
    return kept(trace, ("guesses",), lambda: _guesses(trace), lambda rows: 200 * len(rows))


def _guesses(trace):
    n = len(trace.ids)
    return tuple(_guess(trace, position) for position in range(max(0, n - ROWS), n))


def _guess(trace, position):
    logits = trace.logits(position)
    check_scores(trace, position, logits)
    best, after = int(np.argmax(logits)), (*trace.ids, None)[position + 1]
    rank = None if after is None else 1 + int((logits > logits[after]).sum())
    return RowGuess(position, best, float(ops.softmax(logits)[best]), after, rank)


# ---- the norm comes after the sum ----------------------------------------------------------------


@dataclass(frozen=True)
class Sum:
    """One way to make the stream behind attention, for one position.

    Attributes:
        name: "stream" for x + a, "copy" for n + a (the normed copy carried on), "normed" for the
            norm of x + a, without its weight.
        rms: root mean square of the result. difference: its largest distance from the recorded
            stream, in any number of the row.
    """

    name: str
    rms: float
    difference: float


@dataclass(frozen=True)
class Sums:
    """rms: root mean square of the recorded stream behind attention. ways: how it might be made."""

    rms: float
    ways: tuple[Sum, ...]


def sums(trace, layer: int, position: int) -> Sums:
    """Which sum the stream behind attention is. A layer that norms no copy has no "copy"."""
    block = trace.catalogue.blocks[layer]
    stream, added = (trace.read(op, layer)[position] for op in block["resid_mid"].inputs)
    made = {"stream": ops.add(stream, added)}
    if "attn_norm" in block:
        made["copy"] = ops.add(trace.read("attn_norm", layer)[position], added)
    made["normed"] = _normed(made["stream"], trace.config)
    recorded = trace.read("resid_mid", layer)[position].astype(np.float64)
    ways = (Sum(name, _rms(row), float(np.abs(row - recorded).max())) for name, row in made.items())
    return Sums(_rms(recorded), tuple(ways))


def _normed(row, config):
    """The norm of the model's kind, with weights of 1."""
    ones = np.ones_like(row)
    if config.norm == "rms":
        return ops.rms_norm(row, ones, config.norm_eps)
    return ops.layer_norm(row, ones, config.norm_eps, np.zeros_like(row))


def _rms(row):
    return float(np.sqrt(np.mean(np.square(row, dtype=np.float64))))


# ---- queries are cached --------------------------------------------------------------------------


@dataclass(frozen=True)
class Cached:
    """What the run kept for later tokens.

    Attributes:
        shape: of the keys, and of the values: [layer, seq, kv_head, head_dim]. nbytes: of both.
        keys: the op whose values the keys are. n_same: how many numbers of one layer's keys and
            values equal the ops' own, of n.
        query_bytes: what all queries would take beside them.
    """

    shape: tuple[int, ...]
    nbytes: int
    keys: str
    n_same: int
    n: int
    query_bytes: int


def cached(trace, layer: int) -> Cached:
    """The KV cache, and whether it holds what the ops of a layer made."""
    c, cache, kept = trace.config, trace.cache, trace.catalogue.blocks[layer]["attn.scores"].inputs
    shape = (c.n_layers, cache.length, c.n_kv_heads, c.head_dim)
    pairs = ((cache.keys, kept[1]), (cache.values, "attn.v"))
    same = [held[layer, : cache.length] == trace.read(op, layer) for held, op in pairs]
    n_same, n = (int(sum(map(count, same))) for count in (np.sum, np.size))
    query_bytes = 4 * c.n_layers * cache.length * c.n_heads * c.head_dim
    return Cached(shape, cache.nbytes, kept[1], n_same, n, query_bytes)


# ---- the position is added -----------------------------------------------------------------------


@dataclass(frozen=True)
class Entering:
    """n_same: numbers of what enters the first layer that equal the token's row of the table
    (times the constant, in a model that has one). n_turning: layers that turn queries and keys.
    """

    n_same: int
    n_turning: int


def entering(trace, position: int) -> Entering:
    """Whether anything but the token is in the stream at the start."""
    row = trace.model.weights.embed[trace.ids[position]]
    if trace.config.embed_scale:
        row = ops.scale(row, trace.config.embed_scale)
    n_turning = sum(rope is not None for rope in trace.config.ropes)
    return Entering(int((trace.stream[0, position] == row).sum()), n_turning)


# ---- nearer scores higher ------------------------------------------------------------------------


@dataclass(frozen=True)
class Nearer:
    """One query and one key at the distances of `distance.NEAR`.

    Attributes:
        key: where the key stands in the text. n_falling: heads of the layer in which the score
            falls with every step. rise: the first distance after which it does not fall in the
            chosen head, None where it falls at every step. best: where it is highest there, 0
            included; best_score: how high.
    """

    key: int
    n_falling: int
    rise: int | None
    best: int
    best_score: float


def nearer(trace, layer: int, head: int, query: int, key: int | None = None) -> Nearer:
    """The same query and key at every near distance. key: None, or one behind the query: the key
    that it looks at most.
    """
    if key is None or key > query:
        key = distance.key_to_try(trace, layer, head, query)
    near = distance.meeting(trace, layer, head, query, key).near
    steps = range(distance.NEAR[0], distance.NEAR[1] + 1)
    every = distance.falls(distance.heads(trace, layer, query, key).scores(steps))
    return Nearer(key, int(every.sum()), near.rise, near.best, near.best_score)


# ---- looking is helping --------------------------------------------------------------------------


@dataclass(frozen=True)
class Looked:
    """One key of a query: its weight, the length (L2 norm) of its value, and its share in the sum
    of all weights × lengths.
    """

    key: int
    weight: float
    length: float
    share: float


def looked(trace, layer: int, head: int, query: int, key: int) -> tuple[Looked, ...]:
    """The keys with the largest weights, largest first, and the chosen one in its place."""
    weights = trace.read("attn.weights", layer)[head, query].astype(np.float64)
    values = trace.read("attn.v", layer)[:, head // trace.config.group].astype(np.float64)
    lengths = np.sqrt(np.square(values).sum(-1))
    sizes = weights * lengths
    order = np.argsort(-weights[: query + 1], kind="stable")[:KEYS]
    shown = [int(k) for k in order] + [key] * (key not in order)
    total = sizes.sum() or 1.0
    return tuple(
        Looked(k, float(weights[k]), float(lengths[k]), float(sizes[k] / total)) for k in shown
    )
