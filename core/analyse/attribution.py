"""Who wrote a logit: how much the embedding, every head and every MLP added to the score of one
token, or to the difference of two.

Reads a trace and computes in float64; no figures, no sentences. The last norm divides the whole
stream by one number; with that number as it was in the run, a logit is a sum over everything that
was ever written into the stream ("direct logit attribution", Elhage et al. 2021; nostalgebraist
2020 for reading the stream in the vocabulary).
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from core.store import ByteStore

from .agreement import Agreement, compare, rounding
from .finite import check_scores
from .through import through

AVERAGE = "average"  # against the mean logit of the vocabulary
MEANS = ByteStore(1 << 20)


@dataclass(frozen=True)
class Part:
    """What one part of the model added. kind: "embedding", "head", "bias" (of the output projection
    of a layer's attention), "mlp" or "norm" (the bias of the last norm). layer, head: None where
    the part has none.
    """

    kind: str
    layer: int | None
    head: int | None
    value: float


@dataclass(frozen=True, eq=False)
class Attribution:
    """What was added to one logit, or to the difference of two, at one position.

    Attributes:
        token: the id. against: that of the token whose logit is taken away, AVERAGE for the mean
            logit of the vocabulary, None for nothing.
        embedding: by what entered the first block. heads: by each head, float64 [layer, head].
        biases: by the bias of each output projection, float64 [layer]; 0.0 where there is none.
        mlps: by each MLP, float64 [layer]. norm: by the bias of the last norm; 0.0 without one.
        recorded: the logit, or the difference, as the pass computed it, before any cap.
        divisor: what the last norm divided the row by.
    """

    token: int
    against: int | str | None
    embedding: float
    heads: np.ndarray
    biases: np.ndarray
    mlps: np.ndarray
    norm: float
    recorded: float
    divisor: float

    @property
    def total(self) -> float:
        """The sum of all parts."""
        return self.embedding + float(self.layers.sum()) + self.norm

    @property
    def remainder(self) -> float:
        """What the parts do not explain: rounding."""
        return self.recorded - self.total

    @property
    def agreement(self) -> Agreement:
        """The sum beside the record. Rounding goes by the sizes of the parts."""
        return compare(self.total, self.recorded, rounding(sum(abs(p.value) for p in self.parts)))

    @property
    def layers(self) -> np.ndarray:
        """What attention, with its bias, and the MLP of each layer added: float64 [layer, 2]."""
        return np.stack([self.heads.sum(axis=1) + self.biases, self.mlps], axis=1)

    @property
    def picture(self) -> np.ndarray:
        """Heads and, in the last row, MLPs: float64 [head + 1, layer]."""
        return np.vstack([self.heads.T, self.mlps])

    @property
    def so_far(self) -> np.ndarray:
        """The sum when the stream enters the first block, then after attention and MLP of each
        layer, the bias of the last norm included from the beginning: float64 [1 + 2 * layer].
        """
        return np.cumsum(self.steps)

    @property
    def steps(self) -> np.ndarray:
        """What each of these added, float64 [1 + 2 * layer]."""
        return np.array([self.norm + self.embedding, *self.layers.reshape(-1)])

    @property
    def sums(self) -> dict[str, float]:
        """What the parts of each kind added together, in the order of `total`."""
        several = {name: float(getattr(self, name).sum()) for name in ("heads", "biases", "mlps")}
        return {"embedding": self.embedding} | several | {"norm": self.norm}

    @cached_property
    def parts(self) -> list[Part]:
        """Every part, in the order of the pass; biases that are 0 are left out."""
        found = [Part("embedding", None, None, self.embedding)]
        for layer, row in enumerate(self.heads.tolist()):
            found += [Part("head", layer, head, value) for head, value in enumerate(row)]
            found.append(Part("bias", layer, None, float(self.biases[layer])))
            found.append(Part("mlp", layer, None, float(self.mlps[layer])))
        found.append(Part("norm", None, None, self.norm))
        return [part for part in found if part.value or part.kind not in ("bias", "norm")]

    def part(self, kind: str, layer: int | None = None, head: int | None = None) -> Part:
        """One of `parts`. StopIteration where there is none like it."""
        wanted = kind, layer, head
        return next(p for p in self.parts if (p.kind, p.layer, p.head) == wanted)

    def largest(self, n: int) -> list[Part]:
        """The parts of largest magnitude, the largest first."""
        return sorted(self.parts, key=lambda part: -abs(part.value))[:n]

    def largest_head(self, layer: int | None = None) -> Part:
        """The head of largest magnitude, of one layer or of all."""
        heads = [p for p in self.parts if p.kind == "head" and layer in (None, p.layer)]
        return max(heads, key=lambda part: abs(part.value))


def attribution(
    trace, token: int, against: int | str | None = None, position: int = -1
) -> Attribution:
    """How the logit of `token` after a position came about; with `against`, how its difference from
    that of another token, or from the mean logit, did. Raises TokenwalkError where the scores are
    not finite numbers.
    """
    position %= len(trace.ids)
    recorded = _recorded(trace, token, against, position)
    toward, constant = direction(trace, token, against, position)
    way, stream = through(trace, position), trace.stream[:, position].astype(np.float64)
    written = [_heads(trace, layer, mix, toward) for layer, mix in enumerate(way.mix)]
    heads, biases = (np.stack(each) for each in zip(*written, strict=True))
    return Attribution(
        token=token,
        against=against,
        embedding=float(stream[0] @ toward),
        heads=heads,
        biases=biases,
        mlps=(stream[1:] - way.mid) @ toward,
        norm=constant,
        recorded=recorded,
        divisor=divisor(stream[-1], trace.config),
    )


def direction(trace, token, against, position):
    """The vector [embedding] whose dot product with anything written at a position is what that
    adds to the logit (or the difference), and what the last norm's own bias adds.
    """
    w, c = trace.model.weights, trace.config
    row = w.head[token].astype(np.float64)
    if against == AVERAGE:
        row = row - _mean_row(trace.model)
    elif against is not None:
        row = row - w.head[against]
    bias = 0.0 if w.final_norm_bias is None else float(w.final_norm_bias @ row)
    return through_norm(trace.stream[-1, position], w.final_norm, row, c), bias


def through_norm(x, weight, toward, config):  # [embedding] three times -> [embedding]
    """A direction behind a norm as one before it, with the statistics of the row x held fixed:
    norm(x) · toward = x · result (but for the norm's bias).
    """
    scaled = weight * toward / divisor(x, config)
    return scaled - scaled.mean() if config.norm == "layer" else scaled


def divisor(x, config) -> float:  # [embedding]
    """What the family's norm divides a row by: its root mean square, of LayerNorm its standard
    deviation, with epsilon under the root.
    """
    x = x.astype(np.float64)
    if config.norm == "layer":
        x = x - x.mean()
    return float(np.sqrt(np.mean(x * x) + config.norm_eps))


def _heads(trace, layer, mix, toward):
    """What each head of a layer adds [head], and the bias of the output projection."""
    w, c = trace.model.weights.layers[layer], trace.config
    mix = mix.astype(np.float64)  # [head, head_dim]
    bias = np.zeros(c.width) if w.attn_out_bias is None else w.attn_out_bias
    if c.norm_place != "before":
        out = w.attn_out @ mix.reshape(-1) + bias
        toward = through_norm(out, w.attn_post_norm, toward, c)
    back = (toward @ w.attn_out).reshape(mix.shape)
    return np.vecdot(mix, back), float(bias @ toward)


def _recorded(trace, token, against, position):
    logits = trace.output("logits", position).astype(np.float64)
    check_scores(trace, position, logits)
    if against == AVERAGE:
        return float(logits[token] - logits.mean())
    return float(logits[token] - (0.0 if against is None else logits[against]))


def _mean_row(model):
    """The mean of all rows of the output matrix, float64 [embedding]: its logit is the mean of all
    logits.
    """
    head = model.weights.head
    key = model.source.sha256, head.shape
    return MEANS.get(key, lambda: head.mean(axis=0, dtype=np.float64), lambda row: row.nbytes)
