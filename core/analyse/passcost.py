"""What one pass over new tokens has to compute and to move: FLOPs and bytes, by formula from the
sizes and bytes of the arrays.

FLOPs are those of matrix products, 2 for each multiplication with its addition: every matrix of the
blocks for each new token, the output matrix for the last one only, and attention's scores and sums,
which the code computes for hidden pairs, too. Norms, softmax, activations, biases and additions are
left out (core.analyse.work counts them op by op).

Bytes are those that must come from memory or go there however clever the code: all weights once per
pass, one row of each table per token, the keys and values of all positions so far once per pass
(here a layer with a window reads all of them, too), and those of the new ones on their way in. What
one op hands to the next (activations) is left out: of one token that is a few KB, which stay in the
processor's caches; of a long prompt it is more, and a pass is slower than predicted.
"""

from dataclasses import dataclass, fields

import numpy as np

from core.model import forward
from core.opening import Model

from .cachesize import cache_size


@dataclass(frozen=True)
class Cost:
    """Of one pass, or of the passes that a long prompt is cut into.

    Attributes:
        flops: of all matrix products. hidden_flops: those among them that the mask throws away.
        weight_bytes: of all weights that are read whole. row_bytes: of embedding and position
            rows looked up. read_bytes, written_bytes: of keys and values.
    """

    flops: int
    hidden_flops: int
    weight_bytes: int
    row_bytes: int
    read_bytes: int
    written_bytes: int

    @property
    def n_bytes(self) -> int:
        """All bytes moved."""
        return self.weight_bytes + self.row_bytes + self.read_bytes + self.written_bytes

    @property
    def intensity(self) -> float:
        """Arithmetic intensity: FLOPs per byte moved."""
        return self.flops / self.n_bytes


def cost(model: Model, n_new: int, n_cached: int = 0) -> Cost:
    """Of running n_new tokens after n_cached ones, up to the scores after the last."""
    c, w, size = model.config, model.weights, cache_size(model.config)
    passes = [(n_cached + a, n_cached + b) for a, b in forward.chunks(n_new)]
    stop, n_blocks = n_cached + n_new, matrix_weights(model)
    cells = c.n_layers * sum((b - a) * b for a, b in passes)
    per_pair = 4 * c.n_heads * c.head_dim  # a product and a sum for the score, and for the mix
    return Cost(
        flops=2 * (n_new * n_blocks + w.head.size) + per_pair * cells,
        hidden_flops=per_pair * (cells - _visible(c.windows, n_cached, stop)),
        weight_bytes=len(passes) * _block_bytes(w) + _output_bytes(w),
        row_bytes=n_new * sum(table[:1].nbytes for table in (w.embed, w.pos_embed) if _is(table)),
        read_bytes=size.of(sum(b for _, b in passes)),
        written_bytes=size.of(n_new),
    )


def matrix_weights(model: Model) -> int:
    """How many weights the matrices of all blocks have: each is used once per token."""
    arrays = (array for layer in model.weights.layers for array in _arrays(layer))
    return sum(array.size for array in arrays if array.ndim == 2)


def _visible(windows, first, stop):
    """Pairs of query and key that the masks of all layers leave."""
    n_keys = np.arange(first + 1, stop + 1)
    return sum(int(np.minimum(n_keys, window or stop).sum()) for window in windows)


def _block_bytes(weights):
    return sum(array.nbytes for layer in weights.layers for array in _arrays(layer))


def _output_bytes(weights):
    """The last norm and the output matrix, also where that is the embedding table."""
    arrays = weights.final_norm, weights.final_norm_bias, weights.head
    return sum(array.nbytes for array in arrays if _is(array))


def _arrays(layer):
    """The weights of a block, each once."""
    return [array for f in fields(layer) if _is(array := getattr(layer, f.name))]


def _is(array):
    return array is not None
