"""How many bytes a KV cache takes: 2 x layers x KV heads x head_dim x bytes of a number, per token.

Knows sizes; no arrays but those of a cache it is compared with, no weights, no sentences.
"""

from dataclasses import dataclass, replace

from core.model.cache import KVCache
from core.model.config import ModelConfig

from .agreement import Agreement, compare

KINDS = 2  # a key and a value
BYTES = {"float32": 4, "float16": 2}  # of one number


@dataclass(frozen=True)
class CacheSize:
    """The factors of a KV cache's size.

    Attributes:
        n_layers, n_kv_heads, head_dim: as in ModelConfig. n_bytes: of one number.
        windows: one per layer, as in ModelConfig; they count in `windowed` only.
    """

    n_layers: int
    n_kv_heads: int
    head_dim: int
    n_bytes: int
    windows: tuple[int | None, ...]

    @property
    def factors(self) -> tuple[tuple[str, int], ...]:
        """(name, size) of every factor of `per_token`, in the order of the formula."""
        sizes = KINDS, self.n_layers, self.n_kv_heads, self.head_dim, self.n_bytes
        return tuple(zip(("kinds", "layers", "kv_heads", "head_dim", "bytes"), sizes, strict=True))

    @property
    def per_layer(self) -> int:
        """Bytes of one token in one layer."""
        return KINDS * self.n_kv_heads * self.head_dim * self.n_bytes

    @property
    def per_token(self) -> int:
        """Bytes of one token in all layers."""
        return self.n_layers * self.per_layer

    def of(self, n_tokens: int) -> int:
        """Bytes of n tokens: what the arrays here hold, every position of every layer, also those
        that have left a layer's window and are masked.
        """
        return n_tokens * self.per_token

    def windowed(self, n_tokens: int) -> int:
        """Bytes that the last of n tokens can read: a layer with a window of w positions needs the
        last w rows and could write over older ones. Without windows the same as `of`.
        """
        rows = (min(n_tokens, window or n_tokens) for window in self.windows)
        return sum(rows) * self.per_layer


def cache_size(config: ModelConfig) -> CacheSize:
    """Of the KV cache here, which is float32."""
    c = config
    return CacheSize(c.n_layers, c.n_kv_heads, c.head_dim, BYTES["float32"], c.windows)


def sizes(config: ModelConfig) -> dict[str, CacheSize]:
    """By name: the cache "here"; in "float16"; and had every query head its own key and value
    ("all_heads"; Shazeer 2019 and Ainslie et al. 2023 share them).
    """
    here = cache_size(config)
    return {
        "here": here,
        "float16": replace(here, n_bytes=BYTES["float16"]),
        "all_heads": replace(here, n_kv_heads=config.n_heads),
    }


def as_held(size: CacheSize, cache: KVCache) -> Agreement:
    """The formula beside the bytes of a cache's filled rows: exactly equal or wrong."""
    return compare(size.of(cache.length), cache.nbytes)
