"""The sizes of a model: frozen, known before any weight is read. Knows no file format and no
arrays.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class ModelConfig:
    """Sizes and constants of a llama-type decoder, as its file states them.

    Attributes:
        n_layers: blocks, one after the other.
        width: numbers in a residual-stream row (axis `embedding`).
        n_heads, n_kv_heads: query heads, and key/value heads; query head h reads h // group.
        head_dim: numbers in one query, key or value.
        neurons: hidden units of one MLP.
        vocab: tokens the model can name.
        context: the longest sequence it was made for, in tokens.
        rope_theta: base of the rotation wavelengths.
        norm_eps: added to the mean square inside RMSNorm.
    """

    architecture: str
    n_layers: int
    width: int
    n_heads: int
    n_kv_heads: int
    head_dim: int
    neurons: int
    vocab: int
    context: int
    rope_theta: float
    norm_eps: float

    @property
    def group(self) -> int:
        """How many query heads share one key/value head."""
        return self.n_heads // self.n_kv_heads

    @property
    def score_scale(self) -> float:
        """What q·k is multiplied by: 1/sqrt(head_dim)."""
        return self.head_dim**-0.5

    def axis_sizes(self, n_tokens: int) -> dict[str, int]:
        """The size of every axis, for a text of n_tokens."""
        return {
            **dict.fromkeys(("seq", "query", "key"), n_tokens),
            "embedding": self.width,
            "head": self.n_heads,
            "kv_head": self.n_kv_heads,
            "head_dim": self.head_dim,
            "neurons": self.neurons,
            "vocab": self.vocab,
        }
