"""Named arrays of a model, by our names, from a GGUF file: float32, read-only, un-permuted once at
load.

Knows which GGUF tensor is which of our weights and which shape it must have; no ops, no text.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields

import numpy as np
from gguf.quants import dequantize

from core.errors import ModelFileError
from core.model.config import ModelConfig


@dataclass(frozen=True)
class LayerWeights:
    """The weights of one block. Matrices are [out, in]: a row holds what one output number is made
    with.
    """

    attn_norm: np.ndarray  # [embedding]
    attn_q: np.ndarray  # [head*head_dim, embedding]
    attn_k: np.ndarray  # [kv_head*head_dim, embedding]
    attn_v: np.ndarray  # [kv_head*head_dim, embedding]
    attn_out: np.ndarray  # [embedding, head*head_dim]
    mlp_norm: np.ndarray  # [embedding]
    mlp_gate: np.ndarray  # [neurons, embedding]
    mlp_up: np.ndarray  # [neurons, embedding]
    mlp_out: np.ndarray  # [embedding, neurons]


@dataclass(frozen=True)
class Weights:
    """All weights. `head` is the same array as `embed` where the file ties them."""

    embed: np.ndarray  # [vocab, embedding]
    layers: tuple[LayerWeights, ...]
    final_norm: np.ndarray  # [embedding]
    head: np.ndarray  # [vocab, embedding]

    @property
    def tied(self) -> bool:
        """Whether the output matrix is the embedding matrix read the other way."""
        return self.head is self.embed

    def get(self, name: str, layer: int | None = None) -> np.ndarray:
        """A weight by our name: `get("embed")`, `get("attn_q", 3)`."""
        return getattr(self if layer is None else self.layers[layer], name)

    def arrays(self):
        """Every distinct array, once."""
        yield self.embed
        yield self.final_norm
        if not self.tied:
            yield self.head
        for layer in self.layers:
            yield from (getattr(layer, f.name) for f in fields(layer))

    @property
    def nbytes(self) -> int:
        """Bytes held in memory."""
        return sum(a.nbytes for a in self.arrays())

    @property
    def n_parameters(self) -> int:
        """How many numbers the file holds; a tied matrix counts once."""
        return sum(a.size for a in self.arrays())


GGUF_NAMES = {
    "embed": "token_embd.weight",
    "final_norm": "output_norm.weight",
    "head": "output.weight",
    "attn_norm": "blk.{}.attn_norm.weight",
    "attn_q": "blk.{}.attn_q.weight",
    "attn_k": "blk.{}.attn_k.weight",
    "attn_v": "blk.{}.attn_v.weight",
    "attn_out": "blk.{}.attn_output.weight",
    "mlp_norm": "blk.{}.ffn_norm.weight",
    "mlp_gate": "blk.{}.ffn_gate.weight",
    "mlp_up": "blk.{}.ffn_up.weight",
    "mlp_out": "blk.{}.ffn_down.weight",
}


def shapes(config: ModelConfig) -> dict[str, tuple[int, ...]]:
    """The shape each weight must have."""
    c = config
    queries, keys = c.n_heads * c.head_dim, c.n_kv_heads * c.head_dim
    return {
        "embed": (c.vocab, c.width),
        "final_norm": (c.width,),
        "head": (c.vocab, c.width),
        "attn_norm": (c.width,),
        "attn_q": (queries, c.width),
        "attn_k": (keys, c.width),
        "attn_v": (keys, c.width),
        "attn_out": (c.width, queries),
        "mlp_norm": (c.width,),
        "mlp_gate": (c.neurons, c.width),
        "mlp_up": (c.neurons, c.width),
        "mlp_out": (c.width, c.neurons),
    }


def unpermute(weight, n_heads: int):  # [head*head_dim, embedding] -> the same shape
    """Undo the row order that GGUF files of the llama type give to Q and K.

    Inside each head the file interleaves the two halves (0, 32, 1, 33, ... for head_dim 64), for an
    engine that rotates neighbours; we rotate half-split, as the model was trained. Source:
    llama.cpp's conversion of Llama.
    """
    head_dim = len(weight) // n_heads
    halves = weight.reshape(n_heads, head_dim // 2, 2, -1)
    return halves.swapaxes(1, 2).reshape(weight.shape)


def load(gguf_file, config: ModelConfig) -> Weights:
    """All weights of a GGUF file, frozen float32. Raises ModelFileError naming the tensor."""
    wanted = shapes(config)
    arrays = {}

    def read(key):
        name, layer = key
        arrays[key] = _read(gguf_file, name, layer, wanted[name], config)

    tied = GGUF_NAMES["head"] not in gguf_file.tensors
    top = [("embed", None), ("final_norm", None)] + [("head", None)] * (not tied)
    blocks = [(f.name, n) for n in range(config.n_layers) for f in fields(LayerWeights)]
    _check_all_read(gguf_file, top + blocks)
    with ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
        list(pool.map(read, top + blocks))
    layers = tuple(
        LayerWeights(**{f.name: arrays[f.name, n] for f in fields(LayerWeights)})
        for n in range(config.n_layers)
    )
    embed = arrays["embed", None]
    head = arrays.get(("head", None), embed)
    return Weights(embed, layers, arrays["final_norm", None], head)


def _check_all_read(gguf_file, keys):
    """A tensor that nothing reads (a bias, say) means another computation than ours."""
    read = {GGUF_NAMES[name].format(layer) for name, layer in keys}
    if unread := gguf_file.tensors.keys() - read:
        path, reason = str(gguf_file.path), f"its tensor {min(unread)} has no place in this pass"
        supported = "a llama decoder without biases"
        raise ModelFileError("unsupported", path=path, reason=reason, supported=supported)


def _numbers(gguf_file, tensor):
    """The numbers of a tensor, whatever they are stored as."""
    try:
        return dequantize(gguf_file.block(tensor), tensor.type)
    except NotImplementedError:
        reason = f"tensor {tensor.name} is stored as {tensor.type.name}"
        supported = "F32, F16, BF16 and the usual quantized types"
        path = str(gguf_file.path)
        raise ModelFileError("unsupported", path=path, reason=reason, supported=supported) from None


def _read(gguf_file, name, layer, shape, config):
    """One tensor as a frozen float32 array of the expected shape."""
    tensor = gguf_file.tensor(GGUF_NAMES[name].format(layer))
    if tensor.shape != shape:
        wrong = f"its shape is {tensor.shape}, not {shape}"
        raise ModelFileError(
            "broken", path=str(gguf_file.path), place=f"tensor {tensor.name}", reason=wrong
        )
    array = _numbers(gguf_file, tensor).reshape(shape)
    if name in ("attn_q", "attn_k"):
        array = unpermute(array, config.n_heads if name == "attn_q" else config.n_kv_heads)
    array = np.array(array, np.float32, order="C")  # our own memory: the file may be unmapped
    array.flags.writeable = False
    return array
