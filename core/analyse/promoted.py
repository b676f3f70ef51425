"""Which neurons wrote a logit, and which tokens a neuron promotes and suppresses.

Reads a trace and computes in float64; no figures, no sentences. An MLP writes the sum of one vector
per neuron, times how active it is (Geva et al. 2022); the vector, read as the last row is read,
raises some tokens of the vocabulary and lowers others.
"""

from dataclasses import dataclass

import numpy as np

from .agreement import Agreement, compare, rounding
from .attribution import direction, divisor, through_norm
from .derived import kept
from .finite import check_scores
from .shares import hidden_op
from .through import through


@dataclass(frozen=True, eq=False)
class Neurons:
    """What every neuron added to a logit, or to a difference, at one position.

    Attributes:
        added: float64 [layer, neuron]. per_unit: what one unit of activation adds there, the same
            shape; added = activation * per_unit. active: the activations, float32, the same shape.
        biases: by the bias of each MLP's last matrix, float64 [layer]; 0.0 where there is none.
        written: by each whole MLP, from what it changed in the stream, float64 [layer]. stream: how
            large all products of the stream behind it with the direction are, float64 [layer]:
            where few large numbers stand beside small changes, rounding goes by these.
    """

    added: np.ndarray
    per_unit: np.ndarray
    active: np.ndarray
    biases: np.ndarray
    written: np.ndarray
    stream: np.ndarray

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return sum(each.nbytes for each in vars(self).values())

    def largest(self, n: int, layer: int | None = None) -> list[tuple[int, int]]:
        """(layer, neuron) of the largest magnitudes, the largest first; of one layer or of all."""
        sizes = np.abs(self.added if layer is None else self.added[layer]).reshape(-1)
        some = np.argpartition(-sizes, min(n, sizes.size - 1))[:n]
        order = some[np.argsort(-sizes[some], kind="stable")]
        width = self.added.shape[1]
        return [(int(i // width) if layer is None else layer, int(i % width)) for i in order]

    def holding(self, share: float) -> int:
        """How many of the largest make up a share of the sum of all magnitudes."""
        so_far = np.cumsum(-np.sort(-np.abs(self.added), axis=None))
        return int((so_far < share * so_far[-1]).sum()) + 1

    def share_holding(self, share: float) -> float:
        """The same as a share of all neurons."""
        return self.holding(share) / self.added.size

    def parted(self, listed, layer: int | None = None) -> tuple[float, float]:
        """What these (layer, neuron) add together, and all others, of one layer or of all."""
        own = float(sum(self.added[place] for place in listed))
        return own, self.total(layer) - own

    def total(self, layer: int | None = None) -> float:
        """What all neurons add together, of one layer or of all; the biases left out."""
        return float((self.added if layer is None else self.added[layer]).sum())

    def agreement(self, layer: int) -> Agreement:
        """The sum over a layer's neurons, and the bias, beside what the MLP changed."""
        total = float(self.added[layer].sum() + self.biases[layer])
        size = float(np.abs(self.added[layer]).sum() + abs(self.biases[layer]) + self.stream[layer])
        return compare(total, self.written[layer], rounding(size))


def neurons(trace, token: int, against=None, position: int = -1) -> Neurons:
    """Every neuron's part of the logit of `token` after a position; against: as in `attribution`.

    The matrices are multiplied with the direction first, not with every activation.
    """
    position %= len(trace.ids)
    asked = token, against, position
    return kept(trace, ("neurons", *asked), lambda: added(trace, *asked))


def added(trace, token, against, position) -> Neurons:
    """As `neurons`, which keeps what this makes."""
    check_scores(trace, position, trace.logits(position))
    toward, _ = direction(trace, token, against, position)
    way, stream = through(trace, position), trace.stream[1:, position].astype(np.float64)
    folded = [_folded(trace, layer, row, toward) for layer, row in enumerate(way.hidden)]
    per_unit, biases = (np.stack(each) for each in zip(*folded, strict=True))
    written, sizes = (stream - way.mid) @ toward, np.abs(stream) @ np.abs(toward)
    made = (way.hidden * per_unit, per_unit, way.hidden, biases, written, sizes)
    for array in made:
        array.flags.writeable = False
    return Neurons(*made)


def _folded(trace, layer, hidden, toward):
    """What a unit of each neuron of a layer adds [neuron], and the bias of the last matrix."""
    w, c = trace.model.weights.layers[layer], trace.config
    bias = np.zeros(c.width) if w.mlp_out_bias is None else w.mlp_out_bias
    if c.norm_place != "before":
        out = w.mlp_out @ hidden.astype(np.float64) + bias
        toward = through_norm(out, w.mlp_post_norm, toward, c)
    return toward @ w.mlp_out, float(bias @ toward)


def recorded(trace, layer: int, neuron: int, position: int) -> float:
    """The activation of a neuron as the run of the whole text has it."""
    return float(trace.read(hidden_op(trace, layer), layer)[position, neuron])


def as_recorded(found: Neurons, trace, layer: int, neuron: int, position: int) -> Agreement:
    """A neuron's activation, run again for one row, beside the record. Its factors are sums over
    the row: rounding goes by the most active neuron of the layer.
    """
    size = float(np.abs(found.active[layer]).max())
    again = float(found.active[layer, neuron])
    return compare(again, recorded(trace, layer, neuron, position), rounding(size))


@dataclass(frozen=True)
class Promoted:
    """The tokens that a neuron raises most and lowers most where its activation is positive:
    (id, score), the strongest first. scores: of the whole vocabulary, float [vocab].
    """

    up: list[tuple[int, float]]
    down: list[tuple[int, float]]
    scores: np.ndarray

    def times(self, strength: float) -> "Promoted":
        """The same with every score multiplied: a negative strength raises what the vector lowers,
        and lowers what it raises.
        """
        both = ([(id, score * strength) for id, score in each] for each in (self.up, self.down))
        up, down = both if strength >= 0 else reversed([*both])
        return Promoted(up, down, self.scores * np.float64(strength))

    @property
    def largest(self) -> float:
        """The largest magnitude of a score."""
        return max(abs(self.up[0][1]), abs(self.down[0][1]))

    def rank(self, id: int) -> int:
        """The place of a token among those that are raised or lowered, as it is; 1 is the first."""
        mine = self.scores[id]
        stronger = self.scores > mine if mine > 0 else self.scores < mine
        return 1 + int(stronger.sum())


def promoted(model, layer: int, neuron: int, n: int = 10) -> Promoted:
    """What a neuron's vector says in the vocabulary. It depends on weights alone: on no text, and
    so without the number that a norm divides by, which is another one for every row.
    """
    w, c = model.weights, model.config
    block = w.layers[layer]
    vector = block.mlp_out[:, neuron]
    if c.norm_place != "before":
        vector = vector * block.mlp_post_norm
    if c.norm == "layer":
        vector = vector - vector.mean()
    scores = w.head @ (w.final_norm * vector)
    order = np.argsort(-scores, kind="stable")
    up, down = order[:n], order[::-1][:n]
    return Promoted(*([(int(i), float(scores[i])) for i in each] for each in (up, down)), scores)


def strength(found: Neurons, trace, layer: int, neuron: int, position: int) -> float:
    """What the scores of `promoted` are multiplied by to be what the neuron adds to logits after a
    position: its activation, divided as the norms behind it divide.
    """
    w, c, active = trace.model.weights.layers[layer], trace.config, found.active[layer]
    scale = divisor(trace.stream[-1, position], c)
    if c.norm_place != "before":
        bias = 0.0 if w.mlp_out_bias is None else w.mlp_out_bias
        scale *= divisor(w.mlp_out @ active.astype(np.float64) + bias, c)
    return float(active[neuron]) / scale
