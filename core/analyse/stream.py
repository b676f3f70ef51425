"""The residual stream through all layers: how long each row is, what attention and MLP add to it,
where it grows most and who wrote that. Reads a trace; no figures, no sentences.
"""

import itertools
from dataclasses import dataclass, replace

import numpy as np

from core.model.tap import Edit
from core.run import run

from . import heads
from .derived import kept
from .shares import columns, hidden_op
from .vectors import cosine, length, quotient


@dataclass(frozen=True)
class Stream:
    """Every layer of a run at a glance: float64, read-only. Norms are Euclidean lengths of rows.

    Attributes:
        norms: [layer + 1, seq], of the stream into each layer, then out of the last.
        attention, mlp: [layer, seq], of what each adds; update: of both together.
        share: [layer, seq], how far attention's part goes along the update: its projection on it,
            as a share of the update's length; the MLP's part goes the rest of the way.
        cosine: [layer, seq], of a layer's output with its input.
    """

    norms: np.ndarray
    attention: np.ndarray
    mlp: np.ndarray
    update: np.ndarray
    share: np.ndarray
    cosine: np.ndarray

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self.norms.nbytes + 5 * self.cosine.nbytes


@dataclass(frozen=True)
class Leap:
    """Where a row of the stream grows most within one layer, and the largest part of what is added.

    Attributes:
        before, after: its norm. op: what added most along the update, "attn" or "mlp".
        number: the head, or neuron, that wrote the longest part of it, of length `part`.
        activation: what the neuron held, None for a head. dim, value: the largest number in it.
    """

    layer: int
    position: int
    before: float
    after: float
    op: str
    number: int
    part: float
    activation: float | None
    dim: int
    value: float

    @property
    def factor(self) -> float:
        """How many times as long the row becomes."""
        return self.after / self.before if self.before else float("inf")


@dataclass(frozen=True)
class SwitchedOff:
    """A run and the same run with one head or neuron held at zero.

    Attributes:
        norms: of the row that leapt, after its layer, in both runs.
        sinks: heads in the layers behind that give the first token more than half of the last
            token's attention, in both; n_heads: how many heads stand there.
        tops: id of the most probable next token, in both. probs: of the first run's, in both.
    """

    norms: tuple[float, float]
    sinks: tuple[int, int]
    n_heads: int
    tops: tuple[int, int]
    probs: tuple[float, float]


def stream(trace) -> Stream:
    """The summary of a run. Each layer is run again once."""
    return kept(trace, ("stream",), lambda: _summary(trace))


def _summary(trace):
    rows, block = trace.stream, trace.catalogue.blocks[0]
    deltas = tuple(block[total].inputs[1] for total in ("resid_mid", "resid_post"))
    added = [measured(*map(values.get, deltas)) for values in trace.each_block(*deltas)]
    parts = [np.stack(each) for each in zip(*added, strict=True)]
    made = length(rows), *parts, np.stack([cosine(*pair) for pair in itertools.pairwise(rows)])
    for array in made:
        array.flags.writeable = False
    return Stream(*made)


def measured(attention, mlp):  # [seq, embedding] twice -> four times [seq]
    """What two parts add to a stream: their lengths, that of their sum, and how much of the sum is
    the first one's.
    """
    attention, mlp = attention.astype(np.float64), mlp.astype(np.float64)
    update = attention + mlp
    share = quotient(np.vecdot(attention, update), np.vecdot(update, update))
    return length(attention), length(mlp), length(update), share


def leap(trace) -> Leap:
    """The place where the norm of a row grows most within one layer, and who wrote it."""
    s = stream(trace)
    layer, position = np.unravel_index(np.argmax(np.diff(s.norms, axis=0)), s.update.shape)
    by_attention = s.share[layer, position] > 0.5
    find = _head if by_attention else _neuron
    before, after = s.norms[layer : layer + 2, position].tolist()
    op = "attn" if by_attention else "mlp"
    return Leap(int(layer), int(position), before, after, op, *find(trace, layer, position))


def _neuron(trace, layer, position):
    """The neuron whose column of the last matrix, times what it holds, is longest."""
    hidden = trace.read(hidden_op(trace, layer), layer)[position].astype(np.float64)
    matrix = trace.model.weights.layers[layer].mlp_out
    lengths = np.abs(hidden) * columns(matrix)
    number = int(np.argmax(lengths))
    written = hidden[number] * matrix[:, number].astype(np.float64)
    return number, float(lengths[number]), float(hidden[number]), *_largest(written)


def _head(trace, layer, position):
    """The head whose part of the output projection is longest."""
    mixed = trace.read("attn.mix", layer)[position].astype(np.float64)
    matrix = trace.model.weights.layers[layer].attn_out.astype(np.float64)
    parts = np.einsum("hd,ehd->he", mixed, matrix.reshape(len(matrix), *mixed.shape))
    lengths = length(parts)
    number = int(np.argmax(lengths))
    return number, float(lengths[number]), None, *_largest(parts[number])


def _largest(row):
    dim = int(np.argmax(np.abs(row)))
    return dim, float(row[dim])


def switched_off(trace, found: Leap) -> SwitchedOff:
    """The run once more with the head or neuron of a leap held at zero, for every token."""
    layer, number = found.layer, found.number
    if found.op == "mlp":
        edit = Edit(hidden_op(trace, layer), layer=layer, index=number)
    else:
        edit = Edit("attn.mix", layer=layer, head=number)
    without = run(replace(trace.spec, edits=(*trace.spec.edits, edit)))
    both = trace, without
    row = (layer + 1, found.position)
    last = [heads.attention(each).last[layer + 1 :] for each in both]
    probs = [each.probs() for each in both]
    tops = tuple(int(np.argmax(each)) for each in probs)
    return SwitchedOff(
        tuple(float(length(each.stream[row])) for each in both),
        tuple(map(heads.n_sinks, last)),
        int(np.prod(last[0].shape[:2])),
        tops,
        tuple(float(each[tops[0]]) for each in probs),
    )
