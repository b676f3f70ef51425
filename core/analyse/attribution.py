"""Who wrote a logit: how much the embedding, every head and every MLP added to the score of one
token, or to the difference of two.

Reads a trace and computes in float64; no figures, no sentences. The last norm divides the whole
stream by one number; with that number as it was in the run, a logit is a sum over everything that
was ever written into the stream ("direct logit attribution", Elhage et al. 2021; nostalgebraist
2020 for reading the stream in the vocabulary).
"""

from dataclasses import dataclass

import numpy as np

from .inside import inside


@dataclass(frozen=True, eq=False)
class Attribution:
    """What was added to one logit, or to the difference of two, at one position.

    Attributes:
        token, against: the ids; against is None for the logit of one token.
        embedding: by what entered the first block. heads: by each head, float64 [layer, head].
        biases: by the bias of each output projection, float64 [layer]; 0.0 where there is none.
        mlps: by each MLP, float64 [layer]. norm: by the bias of the last norm; 0.0 without one.
        recorded: the logit, or the difference of two, as the pass computed it, before any cap.
    """

    token: int
    against: int | None
    embedding: float
    heads: np.ndarray
    biases: np.ndarray
    mlps: np.ndarray
    norm: float
    recorded: float

    @property
    def total(self) -> float:
        """The sum of all parts."""
        written = self.heads.sum() + self.biases.sum() + self.mlps.sum()
        return float(self.embedding + written + self.norm)

    @property
    def remainder(self) -> float:
        """What the parts do not explain: rounding."""
        return self.recorded - self.total


def attribution(trace, token: int, against: int | None = None, position: int = -1) -> Attribution:
    """How the logit of `token` after a position came about; with `against`, how the difference
    logit of token - logit of against did.
    """
    position %= len(trace.ids)
    toward, constant = direction(trace, token, against, position)
    found, stream = inside(trace), trace.stream[:, position].astype(np.float64)
    mids = found.mid[:, position].astype(np.float64)
    written = [
        _heads(trace, layer, found.mix[layer, position], toward)
        for layer in range(trace.config.n_layers)
    ]
    heads, biases = (np.stack(each) for each in zip(*written, strict=True))
    logits = trace.output("logits", position)
    recorded = float(logits[token]) - (0.0 if against is None else float(logits[against]))
    mlps = (stream[1:] - mids) @ toward
    return Attribution(
        token, against, float(stream[0] @ toward), heads, biases, mlps, constant, recorded
    )


def direction(trace, token, against, position):
    """The vector [embedding] whose dot product with anything written at a position is what that
    adds to the logit (or the difference), and what the last norm's own bias adds.
    """
    w, c = trace.model.weights, trace.config
    row = w.head[token].astype(np.float64)
    if against is not None:
        row = row - w.head[against]
    bias = 0.0 if w.final_norm_bias is None else float(w.final_norm_bias @ row)
    return through_norm(trace.stream[-1, position], w.final_norm, row, c), bias


def through_norm(x, weight, toward, config):  # [embedding] three times -> [embedding]
    """A direction behind a norm as one before it, with the statistics of the row x held fixed:
    norm(x) · toward = x · result (but for the norm's bias).
    """
    x = x.astype(np.float64)
    if config.norm == "layer":
        x = x - x.mean()
    scaled = weight * toward / np.sqrt(np.mean(x * x) + config.norm_eps)
    return scaled - scaled.mean() if config.norm == "layer" else scaled


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
