"""Read the header of a GGUF file: metadata and a table of tensors. A bounded parser of our own.

Knows the GGUF layout (versions 2 and 3, little-endian) and nothing about models. Every count and
size is checked against the bytes that are left before anything is read, so a damaged or hostile
file ends in one ModelFileError.
Source: the GGUF specification (ggml, docs/gguf.md).
"""

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType

from core.errors import ModelFileError
from core.files.filebytes import FileBytes, Stretch, mistaken_for
from core.files.names import ROPE_TENSORS
from core.files.numbers import from_blocks, has_blocks
from core.files.reader import MOST_VALUES, Reader

MOST_ENTRIES = 1 << 14  # of keys, and of tensors: far more than any model of ours
LONGEST_KEY, LONGEST_NAME, MOST_DIMS, LARGEST_ALIGNMENT = 65_535, 64, 4, 1 << 16
SMALLEST_ENTRY, SMALLEST_TENSOR = 8 + 1 + 4 + 1, 8 + 1 + 4 + 8 + 4 + 8


@dataclass(frozen=True)
class Tensor:
    """One entry of the tensor table. shape: slowest axis first, as NumPy counts; offset: from the
    file's start.
    """

    name: str
    shape: tuple[int, ...]
    type: GGMLQuantizationType
    offset: int
    nbytes: int

    @property
    def dtype(self) -> str:
        """The format's name of the number type."""
        return self.type.name


@dataclass(frozen=True)
class GGUFFile:
    """A parsed header over an open file; over all its parts if it was split (see `split`)."""

    path: Path
    version: int
    metadata: dict
    tensors: dict[str, Tensor]
    data_offset: int
    data: FileBytes
    parts: tuple["GGUFFile", ...] = ()

    format, readable = "gguf", "F32, F16, BF16 and the usual quantized types"

    @property
    def paths(self) -> list[Path]:
        """The files that make up the model, in their order."""
        return [part.path for part in self.parts or (self,)]

    @property
    def opened(self) -> list[FileBytes]:
        """The bytes of these files."""
        return [part.data for part in self.parts or (self,)]

    @property
    def tied(self) -> bool:
        """Whether the output matrix may be missing: it is left out where it is the embedding."""
        return True

    def gguf_names(self, family) -> dict[str, str]:
        """{a tensor's name: the same}, without those that say how positions are rotated."""
        return {name: name for name in self.tensors if name not in ROPE_TENSORS}

    def get(self, key: str, kind=None):
        """A metadata value; a missing key or another type is a ModelFileError that names it."""
        if key not in self.metadata:
            raise Reader(b"", self.path).fail(f"key {key}", "the file does not have it")
        value = self.metadata[key]
        if kind is not None and (
            not isinstance(value, kind) or isinstance(value, bool) != (kind is bool)
        ):
            raise Reader(b"", self.path).fail(f"key {key}", f"it holds a {type(value).__name__}")
        return value

    def tensor(self, name: str) -> Tensor:
        """An entry of the tensor table by the file's name."""
        if name not in self.tensors:
            raise Reader(b"", self.path).fail(f"tensor {name}", "the file does not have it")
        return self.tensors[name]

    def has_numbers(self, tensor: Tensor) -> bool:
        """Whether `numbers` can read its type."""
        return has_blocks(tensor.type)

    def numbers(self, tensor: Tensor) -> np.ndarray:
        """The numbers of a tensor, float32 in one row."""
        return from_blocks(self.stored(tensor), tensor.type)

    def stored(self, tensor: Tensor) -> Stretch:
        """The bytes of a tensor as they lie in the file."""
        holder = next((part for part in self.parts if tensor.name in part.tensors), self)
        return Stretch(holder.data, tensor.offset, tensor.nbytes)


def read(path, most_values: int = MOST_VALUES) -> GGUFFile:
    """Open a file and parse its header. most_values: in the lists of its metadata.

    Raises ModelFileError: not a GGUF file (and what it looks like), incomplete, damaged, or of a
    type not supported.
    """
    path = Path(path)
    data = FileBytes(path)
    reader = Reader(data, path, most_values)
    _check_magic(reader)
    version = reader.number("<I", "the version")
    if version and version % 65536 == 0:
        reason = f"version {version}: it is stored for big-endian machines"
        raise _other_version(path, reason, "little-endian files, as nearly all are")
    if version not in (2, 3):
        raise _other_version(path, f"version {version}", "versions 2 and 3 of GGUF")
    n_tensors = _entries(reader, SMALLEST_TENSOR, "the tensor count")
    metadata = _metadata(reader, _entries(reader, SMALLEST_ENTRY, "the key count"))
    if n_tensors == 0 and "split.count" not in metadata:
        raise reader.fail("the tensor count", "the file holds no tensors")
    alignment = _alignment(reader, metadata)
    infos = _tensor_infos(reader, n_tensors)
    data_offset = -(-reader.at // alignment) * alignment
    tensors = _place(reader, infos, data_offset, alignment)
    return GGUFFile(path, version, metadata, tensors, data_offset, data)


def _other_version(path, reason, supported):
    return ModelFileError("unsupported", path=str(path), reason=reason, supported=supported)


def _entries(reader, smallest, place):
    n = reader.count("<Q", smallest, place)
    if n > MOST_ENTRIES:
        raise reader.fail(place, f"{n} are more than {MOST_ENTRIES}")
    return n


def _check_magic(reader):
    start = reader.data[:64]
    if start[:4] == b"GGUF"[: len(start)]:
        reader.take(4, "the start")
        return
    reason = mistaken_for(start) or "it does not begin with GGUF"
    raise ModelFileError("not_a_model", path=reader.path, reason=reason)


def _metadata(reader, n):
    metadata = {}
    for index in range(n):
        key = reader.text(f"key {index}", LONGEST_KEY)
        if not key or key in metadata:
            raise reader.fail(f"key {index}", f"the key {key[:80]!r} is empty or stands twice")
        place = f"key {key[:80]}"
        metadata[key] = reader.value(reader.number("<I", place), place)
    return metadata


def _alignment(reader, metadata):
    alignment = metadata.get("general.alignment", 32)
    good = isinstance(alignment, int) and 1 <= alignment <= LARGEST_ALIGNMENT
    if not good or alignment & (alignment - 1):
        raise reader.fail("general.alignment", f"{alignment!r} is not a power of two up to 65536")
    return alignment


def _tensor_infos(reader, n):
    infos = []
    for index in range(n):
        name = reader.text(f"tensor {index}", LONGEST_NAME)
        place = f"tensor {name}"
        n_dims = reader.number("<I", place)
        if not 1 <= n_dims <= MOST_DIMS:
            raise reader.fail(place, f"it has {n_dims} dimensions, not 1 to {MOST_DIMS}")
        dims = [reader.number("<Q", place) for _ in range(n_dims)]
        kind, offset = reader.number("<I", place), reader.number("<Q", place)
        infos.append((name, dims, kind, offset))
    return infos


def _place(reader, infos, data_offset, alignment):
    """Check every tensor's type, size and place; no two may overlap."""
    tensors, end = {}, data_offset
    for name, dims, kind, offset in infos:
        place = f"tensor {name}"
        if name in tensors:
            raise reader.fail(place, "the name stands twice")
        kind, nbytes = _size(reader, place, dims, kind)
        start = data_offset + offset
        if offset % alignment or start < end:
            raise reader.fail(place, "its offset is not aligned, or it overlaps the one before")
        end = start + nbytes
        if end > len(reader.data):
            raise reader.incomplete(place, end)
        tensors[name] = Tensor(name, tuple(reversed(dims)), kind, start, nbytes)
    return tensors


def _size(reader, place, dims, kind):
    """The type and the bytes of a tensor with these dimensions (fastest first)."""
    try:
        kind = GGMLQuantizationType(kind)
        per_block, block_bytes = GGML_QUANT_SIZES[kind]
    except (ValueError, KeyError):
        reason = f"the number type {kind} is not known here; a newer one, unless it is damage"
        raise reader.fail(place, reason) from None
    if min(dims) < 1:
        raise reader.fail(place, "one of its dimensions is 0")
    if dims[0] % per_block:
        raise reader.fail(place, f"its rows of {dims[0]} are not whole blocks of {per_block}")
    return kind, math.prod(dims) // per_block * block_bytes
