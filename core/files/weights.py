"""Named arrays of a model, by our names, from a GGUF file or a Hugging Face folder: float32,
read-only, in the order and form the model was trained with.

Knows what the weights are called; no ops, no text. How files lay them out is the loader's.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields

import numpy as np

from core.files import memory
from core.files.joint import JOINT, joined
from core.files.loader import HEAD, MOST_THREADS, Loader
from core.model.config import ModelConfig

WORTH_THREADS = 1 << 24  # bytes; threads take longer to start than less takes to read


@dataclass(frozen=True)
class LayerWeights:
    """The weights of one block; None for those its family does not have. Matrices are [out, in]: a
    row holds what one output number is made with.

    Those of JOINT are there once more as one array: `attn_qkv`, `mlp_gate_up` and their biases.
    """

    attn_q: np.ndarray  # [head*head_dim, embedding]
    attn_k: np.ndarray  # [kv_head*head_dim, embedding]
    attn_v: np.ndarray  # [kv_head*head_dim, embedding]
    attn_out: np.ndarray  # [embedding, head*head_dim]
    mlp_up: np.ndarray  # [neurons, embedding]
    mlp_out: np.ndarray  # [embedding, neurons]
    attn_norm: np.ndarray | None = None  # [embedding], as every norm but two
    attn_norm_bias: np.ndarray | None = None
    attn_q_bias: np.ndarray | None = None  # [head*head_dim]: a bias is as long as its matrix high
    attn_k_bias: np.ndarray | None = None
    attn_v_bias: np.ndarray | None = None
    attn_q_norm: np.ndarray | None = None  # [head_dim], or [head*head_dim] of all heads at once
    attn_k_norm: np.ndarray | None = None  # [head_dim], or [kv_head*head_dim]
    attn_out_bias: np.ndarray | None = None
    attn_post_norm: np.ndarray | None = None
    mlp_norm: np.ndarray | None = None
    mlp_norm_bias: np.ndarray | None = None
    mlp_gate: np.ndarray | None = None  # [neurons, embedding]
    mlp_gate_bias: np.ndarray | None = None
    mlp_up_bias: np.ndarray | None = None
    mlp_out_bias: np.ndarray | None = None
    mlp_post_norm: np.ndarray | None = None

    def __post_init__(self):
        for name, parts in JOINT.items():
            object.__setattr__(self, name, joined([getattr(self, part) for part in parts]))


@dataclass(frozen=True)
class Weights:
    """All weights. `head` is the same array as `embed` where the file ties them."""

    embed: np.ndarray  # [vocab, embedding]
    layers: tuple[LayerWeights, ...]
    final_norm: np.ndarray  # [embedding]
    head: np.ndarray  # [vocab, embedding]
    pos_embed: np.ndarray | None = None  # [context, embedding]
    final_norm_bias: np.ndarray | None = None

    @property
    def tied(self) -> bool:
        """Whether the output matrix is the embedding matrix read the other way."""
        return self.head is self.embed

    def get(self, name: str, layer: int | None = None) -> np.ndarray | None:
        """A weight by our name: `get("embed")`, `get("attn_q", 3)`."""
        return getattr(self if layer is None else self.layers[layer], name)

    def arrays(self):
        """Every distinct array, once."""
        top = [self.embed, self.pos_embed, self.final_norm, self.final_norm_bias]
        top += [] if self.tied else [self.head]
        blocks = [getattr(layer, f.name) for layer in self.layers for f in fields(layer)]
        yield from (array for array in top + blocks if array is not None)

    @property
    def nbytes(self) -> int:
        """Bytes held in memory."""
        return sum(a.nbytes for a in self.arrays())

    @property
    def n_parameters(self) -> int:
        """How many numbers the file holds; a tied matrix counts once."""
        return sum(a.size for a in self.arrays())


def load(file, config: ModelConfig) -> Weights:
    """All weights of a GGUF file (of all its parts) or an opened folder, frozen float32.

    Raises ModelFileError as `check`, before the first number is read.
    """
    return read(check(file, config))


def check(file, config: ModelConfig) -> Loader:
    """What will read the weights. Raises ModelFileError naming the tensor, unless all weights of
    this config are there, in their shapes and in types that are read, and fit into memory.
    """
    loader = Loader(file, config)
    loader.check_complete()
    loader.check_shapes()
    loader.check_types()
    memory.check(file.path, loader.bytes_needed(without=HEAD))
    return loader


def read(loader: Loader) -> Weights:
    """The weights of a checked file."""
    loader.drop_copy()
    if any(HEAD in held for held in loader.places.values()):  # which needs memory, too
        memory.check(loader.file.path, loader.bytes_needed())
    with ThreadPoolExecutor(min(MOST_THREADS, os.cpu_count() or 1)) as pool:
        each = pool.map if loader.bytes_needed() > WORTH_THREADS else map
        parts = list(each(loader.read, loader.places))
    arrays = {key: array for part in parts for key, array in part.items()}
    return _assemble(arrays, loader.config)


def _assemble(arrays, config):
    """The arrays by (name, layer) as Weights. A head equal to the embedding is the embedding."""
    layers = [{} for _ in range(config.n_layers)]
    top = {}
    for (name, layer), array in arrays.items():
        (top if layer is None else layers[layer])[name] = array
    head = top.get("head")
    if head is None or np.array_equal(head, top["embed"]):
        top["head"] = top["embed"]
    return Weights(layers=tuple(LayerWeights(**layer) for layer in layers), **top)
