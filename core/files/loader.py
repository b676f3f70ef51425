"""Finds the weights of a model in an opened file or folder, checks their names and shapes, and
brings their numbers into our order and form.

Knows how GGUF and safetensors lay weights out, by the table of families; no file's bytes.
"""

import math
import threading

import numpy as np

from core.errors import ModelFileError
from core.files import joint, names
from core.files.families import FAMILIES
from core.files.shapes import TOP, shapes

HEAD = ("head", None)  # the output matrix
MOST_THREADS = 4  # that read at the same time
HEADS = {"attn_q": "n_heads", "attn_k": "n_kv_heads"}


def unpermute(weight, n_heads: int):  # [head*head_dim, ...] -> the same shape
    """Undo the row order that GGUF files of the llama type give to Q and K.

    Inside each head the file interleaves the two halves (0, 32, 1, 33, ... for head_dim 64), for an
    engine that rotates neighbours; we rotate half-split, as the model was trained. Source:
    llama.cpp's conversion of Llama.
    """
    head_dim = len(weight) // n_heads
    halves = weight.reshape(n_heads, head_dim // 2, 2, -1)
    return halves.swapaxes(1, 2).reshape(weight.shape)


class Loader:
    """One file or folder under way: which tensor holds which weights, checks, and reading.

    A weight goes by (name, layer), layer None for those outside the blocks.
    """

    def __init__(self, file, config):
        self.file, self.config, self.wanted = file, config, shapes(config)
        self.family = FAMILIES[config.architecture]
        self.rooms, self.lock = {}, threading.Lock()
        self.places = {}  # {the file's name of a tensor: our weights in it, from the top}
        for name, gguf_name in file.gguf_names(self.family).items():
            held = names.weights_in(gguf_name, self.family) if gguf_name else ()
            if not held:
                raise self.unread(name)
            self.places[name] = held

    def unread(self, name):
        """A tensor that nothing reads means another computation than ours."""
        reason = f"its tensor {name[:80]} belongs to a computation that is not done here"
        return self.unsupported(reason, "the tensors that its architecture usually has")

    def unsupported(self, reason, supported):
        path = str(self.file.path)
        return ModelFileError("unsupported", path=path, reason=reason, supported=supported)

    def broken(self, name, reason):
        path, place = str(self.file.path), f"tensor {name[:80]}"
        return ModelFileError("broken", path=path, place=place, reason=reason)

    def check_complete(self):
        """Every weight of the config is there once, and no other."""
        found = {}
        for name, held in self.places.items():
            for key in held:
                if key in found:
                    raise self.broken(name, f"tensor {found[key][:80]} holds the same")
                found[key] = name
        head, needed = {HEAD}, self.needed()
        if missing := needed - found.keys() - (head if self.file.tied else set()):
            raise self.broken(self.name_for(*min(missing, key=str), found), "it is not in the file")
        if extra := found.keys() - needed - head:
            raise self.unread(min(found[key] for key in extra))

    def needed(self):
        """Every weight that the config asks for."""
        layers = range(self.config.n_layers)
        keys = {(name, n) for name in self.wanted.keys() - TOP for n in layers}
        return keys | {(name, None) for name in self.wanted.keys() & TOP}

    def name_for(self, weight, layer, found):
        """What the file would call a weight: as in another block, or else as GGUF does."""
        for (name, other), stored in found.items():
            if name == weight and layer is not None:
                return stored.replace(f".{other}.", f".{layer}.", 1)
        own = names.name_of(weight, layer, self.family)
        return own if self.file.format == "gguf" else f"{own}, as GGUF calls it"

    def check_shapes(self):
        """A tensor has the rows of all the weights it holds."""
        for name, held in self.places.items():
            parts = [self.wanted[weight] for weight, _ in held]
            shape = (sum(part[0] for part in parts), *parts[0][1:])
            shape = shape[::-1] if self.is_turned(held) else shape
            if (found := self.file.tensors[name].shape) != shape:
                raise self.broken(name, f"its shape is {found}, not {shape}")

    def check_types(self):
        """Every tensor is stored in numbers that can be read."""
        for name in self.places:
            if not self.file.has_numbers(tensor := self.file.tensors[name]):
                reason = f"tensor {name[:80]} is stored as {tensor.dtype}"
                raise self.unsupported(reason, self.file.readable)

    def drop_copy(self):
        """Files may keep a tied output matrix once more: the same bytes are not read twice."""
        top = {held[0][0]: self.file.tensors[name] for name, held in self.places.items()}
        embed, head = top["embed"], top.get("head")
        if head and head.dtype == embed.dtype and self.same_bytes(embed, head):
            del self.places[head.name]

    def same_bytes(self, one, other, step=1 << 22):
        a, b = self.file.stored(one), self.file.stored(other)
        parts = (slice(at, at + step) for at in range(0, len(a), step))
        return all(np.array_equal(a[part], b[part]) for part in parts)

    def is_turned(self, held):
        """Whether a matrix stands [in, out] in the file: those in GPT-2's own blocks."""
        own = self.family.conv1d and self.file.format == "safetensors"
        return own and held[0][1] is not None

    def bytes_needed(self, without=None):
        """Of all weights but one in float32, and of the matrix that each thread is turning."""
        needed = (key for held in self.places.values() for key in held if key != without)
        sizes = [math.prod(self.wanted[name]) for name, _ in needed]
        return 4 * (sum(sizes) + sum(sorted(sizes)[-MOST_THREADS:]))

    def read(self, name):
        """{our weight: its numbers} of one tensor, in our order and form, frozen."""
        held, tensor = self.places[name], self.file.tensors[name]
        array = self.file.numbers(tensor).reshape(tensor.shape)
        if self.file.format == "safetensors":
            array = self.from_transformers(array, held)
        ends = np.cumsum([self.wanted[weight][0] for weight, _ in held])[:-1]
        parts = zip(held, np.split(array, ends), strict=True)
        return {key: self.kept(key, self.in_order(key[0], part)) for key, part in parts}

    def kept(self, key, array):
        """The numbers as read-only float32 in memory of our own."""
        name, layer = key
        kept = joint.empty(array.shape) if layer is None else self.room(layer)[name]
        kept[...] = array
        kept.flags.writeable = False
        return kept

    def room(self, layer):
        """The memory for the weights of a block; that of all is taken when the first is read."""
        with self.lock:  # several tensors are read at a time
            if not self.rooms:
                inside = {name: shape for name, shape in self.wanted.items() if name not in TOP}
                self.rooms = joint.rooms(inside, self.config.n_layers)
            return self.rooms[layer]

    def from_transformers(self, array, held):
        """Undo what a checkpoint of transformers may do: turned matrices, norms less 1, and Q, K
        and V head by head.
        """
        c, first = self.config, held[0][0]
        if self.is_turned(held):
            array = array.T
        if self.family.norm_offset and first.endswith("norm"):
            with np.errstate(all="ignore"):  # a damaged number stays one; the pass finds it
                array = array + np.float32(1)
        if self.family.fused_qkv == "heads" and len(held) == 3:
            rows = array.reshape(c.n_heads, 3, c.head_dim, -1)
            array = rows.swapaxes(0, 1).reshape(array.shape)
        return array

    def in_order(self, weight, array):
        """Undo what a GGUF file of the llama type does to the rows of Q and K."""
        name = weight.removesuffix("_bias")
        if self.file.format != "gguf" or not self.family.interleaved or name not in HEADS:
            return array
        return unpermute(array, getattr(self.config, HEADS[name]))
