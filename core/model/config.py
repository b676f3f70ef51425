"""What a model is, as data: sizes, constants and the choices that its family made. Frozen, known
before any weight is read. Knows no file format and no arrays.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Scaling:
    """How a model stretches its rotations for texts longer than it was first trained on.

    Attributes:
        kind: "linear", "dynamic", "yarn", "llama3", "longrope", or "factors" (each frequency is
            divided by its own factor, `short`, as GGUF files store llama3 scaling).
        factor: how many times longer. original: tokens of the first training; for "dynamic" the
            length from which the base grows.
        low, high: llama3's low_freq_factor and high_freq_factor. slow, fast: yarn's beta_slow and
            beta_fast. truncate: whether yarn rounds its two borders to whole pairs.
        amplitude: what cosines and sines are multiplied by; None leaves it to the rule of the kind.
        short, long: one divisor per pair, for texts up to `original` tokens and for longer ones.
    """

    kind: str
    factor: float = 1.0
    original: int = 0
    low: float = 1.0
    high: float = 4.0
    slow: float = 1.0
    fast: float = 32.0
    truncate: bool = True
    amplitude: float | None = None
    short: tuple[float, ...] = ()
    long: tuple[float, ...] = ()


@dataclass(frozen=True)
class Rope:
    """How a layer rotates queries and keys: the first `dim` numbers of a head, base `theta`."""

    dim: int
    theta: float
    scaling: Scaling | None = None


@dataclass(frozen=True)
class ModelConfig:
    """Sizes, constants and choices of a decoder, as its file states them.

    Attributes:
        architecture: the family's name, as GGUF spells it.
        n_layers: blocks, one after the other.
        width: numbers in a residual-stream row (axis `embedding`).
        n_heads, n_kv_heads: query heads, and key/value heads; query head h reads h // group.
        head_dim: numbers in one query, key or value.
        neurons: hidden units of one MLP.
        vocab: tokens the model can name (rows of the embedding matrix).
        context: the longest sequence it was made for, in tokens.
        norm_eps: added under the root of every norm.
        score_scale: what q·k is multiplied by.
        ropes: one per layer; None for a layer that does not rotate.
        windows: one per layer; how many positions a query sees, itself included; None for all.
        norm: "rms" or "layer". norm_place: "before" the sublayer, "after" it, or "both".
        qk_norm: None, "head" (each head's query and key by itself) or "width" (all heads at once).
        activation: "silu", "gelu_tanh" or "gelu_erf". gated: whether it multiplies another product.
        parallel: whether the MLP reads the stream that attention read, not the one it wrote.
        embed_scale: what embedding rows are multiplied by. learned_positions: whether a row per
            position is added to them.
        attn_softcap, logit_softcap: c of c · tanh(x / c), or None.
        biases: names of the weights (as in LayerWeights) that a bias stands beside.
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
    norm_eps: float
    score_scale: float
    ropes: tuple[Rope | None, ...]
    windows: tuple[int | None, ...]
    norm: str = "rms"
    norm_place: str = "before"
    qk_norm: str | None = None
    activation: str = "silu"
    gated: bool = True
    parallel: bool = False
    embed_scale: float | None = None
    learned_positions: bool = False
    attn_softcap: float | None = None
    logit_softcap: float | None = None
    biases: frozenset[str] = frozenset()

    @property
    def group(self) -> int:
        """How many query heads share one key/value head."""
        return self.n_heads // self.n_kv_heads

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
