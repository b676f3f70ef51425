"""The logit lens: what the model would guess if it stopped after each layer. Reads a trace; no
figures.

Source: nostalgebraist 2020, "interpreting GPT: the logit lens". The norm is recomputed from each
layer's own stream.
"""

from dataclasses import dataclass

import numpy as np

from core.decode.sampling import log_softmax
from core.model import forward


@dataclass(frozen=True)
class Lens:
    """One token at one position through the layers: rank (1 = first) and probability after each,
    [layer].
    """

    token: int
    ranks: np.ndarray
    probs: np.ndarray

    @property
    def first_layer(self) -> int:
        """The layer from which on the token is first without a break; the last one where it never
        is.
        """
        behind = np.flatnonzero(self.ranks != 1)
        return min(int(behind[-1]) + 1, len(self.ranks) - 1) if behind.size else 0


def lens(trace, token: int, position: int = -1) -> Lens:
    """Rank and probability of a token if the stream were unembedded after each layer.

    The last entry is the model's own answer.
    """
    rows = trace.stream[1:, position]
    scores = forward.unembed(rows, trace.model.weights, trace.config, forward.no_tap)
    ranks = 1 + (scores > scores[:, token, None]).sum(axis=1)
    probs = np.exp([log_softmax(row.astype(np.float64))[token] for row in scores])
    return Lens(token, ranks, probs)
