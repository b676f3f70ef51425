"""Read the header of a GGUF file: metadata and a table of tensors. A bounded parser of our own.

Knows the GGUF layout (versions 2 and 3, little-endian) and nothing about models. Every count and
size is checked against the bytes that are left before anything is read, so a damaged or hostile
file ends in one ModelFileError.
Source: the GGUF specification (ggml, docs/gguf.md).
"""

import math
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType

from core.errors import ModelFileError
from core.files.mapped import map_file, mistaken_for

SCALARS = {
    0: "<B",
    1: "<b",
    2: "<H",
    3: "<h",
    4: "<I",
    5: "<i",
    6: "<f",
    7: "<?",
    10: "<Q",
    11: "<q",
    12: "<d",
}
STRING, ARRAY, BOOL = 8, 9, 7
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


class Reader:
    """Reads little-endian values from a buffer and never past its end."""

    def __init__(self, data, path):
        self.data, self.path, self.at = data, str(path), 0

    def fail(self, place, reason):
        """The error for a file that contradicts the format."""
        return ModelFileError("broken", path=self.path, place=place, reason=reason)

    def take(self, n: int, place: str):
        """The next n bytes."""
        if n > len(self.data) - self.at:
            needs, has = self.at + n, len(self.data)
            raise ModelFileError("incomplete", path=self.path, place=place, needs=needs, has=has)
        self.at += n
        return self.data[self.at - n : self.at]

    def number(self, form: str, place: str):
        """One number, as `struct` names its form."""
        return struct.unpack(form, self.take(struct.calcsize(form), place))[0]

    def count(self, form: str, smallest: int, place: str) -> int:
        """A count of things of at least `smallest` bytes each: refused if they cannot fit."""
        n = self.number(form, place)
        if n * smallest > len(self.data) - self.at:
            raise self.fail(place, f"it announces {n} entries, more than the file can hold")
        return n

    def text(self, place: str, longest: int | None = None) -> str:
        """A string: u64 length, then UTF-8 (bytes that are not UTF-8 become the replacement
        character).
        """
        n = self.count("<Q", 1, place)
        if longest is not None and n > longest:
            raise self.fail(place, f"a name of {n} bytes is longer than {longest}")
        return bytes(self.take(n, place)).decode("utf-8", "replace")

    def value(self, kind: int, place: str):
        """One metadata value. Arrays of arrays are refused, as the reference reader does."""
        if kind == STRING:
            return self.text(place)
        if kind == ARRAY:
            return self.array(place)
        if kind not in SCALARS:
            raise self.fail(place, f"value type {kind} does not exist")
        if kind == BOOL:
            return self.boolean(place)
        return self.number(SCALARS[kind], place)

    def boolean(self, place: str) -> bool:
        """A byte that must be 0 or 1."""
        n = self.number("<B", place)
        if n > 1:
            raise self.fail(place, f"a truth value is {n}, not 0 or 1")
        return bool(n)

    def array(self, place: str) -> list:
        """An array of numbers or strings, as a list."""
        kind = self.number("<I", place)
        if kind == STRING:
            return [self.text(place) for _ in range(self.count("<Q", 8, place))]
        if kind not in SCALARS:
            raise self.fail(place, f"an array of type {kind} is not allowed")
        size = struct.calcsize(SCALARS[kind])
        n = self.count("<Q", size, place)
        return np.frombuffer(self.take(n * size, place), SCALARS[kind]).tolist()


@dataclass(frozen=True)
class GGUFFile:
    """A parsed header over a mapped file."""

    path: Path
    version: int
    metadata: dict
    tensors: dict[str, Tensor]
    data_offset: int
    data: object  # the mapped bytes

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

    def block(self, tensor: Tensor) -> np.ndarray:
        """The stored bytes of a tensor, one row of blocks per row: uint8 [rows, bytes]."""
        raw = np.frombuffer(self.data, np.uint8, tensor.nbytes, tensor.offset)
        return raw.reshape(*tensor.shape[:-1], -1)


def read(path) -> GGUFFile:
    """Map a file and parse its header.

    Raises ModelFileError: not a GGUF file (and what it looks like), incomplete, damaged, or of a
    type not supported.
    """
    path = Path(path)
    data = map_file(path)
    reader = Reader(data, path)
    _check_magic(reader)
    version = reader.number("<I", "version")
    if version not in (2, 3):
        raise reader.fail("version", f"version {version} is not 2 or 3")
    n_tensors = reader.count("<Q", SMALLEST_TENSOR, "tensor count")
    if n_tensors == 0:
        raise reader.fail("tensor count", "the file holds no tensors")
    metadata = _metadata(reader, reader.count("<Q", SMALLEST_ENTRY, "key count"))
    alignment = _alignment(reader, metadata)
    infos = _tensor_infos(reader, n_tensors)
    data_offset = -(-reader.at // alignment) * alignment
    tensors = _place(reader, infos, data_offset, alignment)
    return GGUFFile(path, version, metadata, tensors, data_offset, data)


def _check_magic(reader):
    magic = bytes(reader.data[:4])
    if magic == b"GGUF"[: len(magic)]:
        reader.take(4, "the first bytes")
        return
    reason = mistaken_for(reader.data) or "it does not begin with GGUF"
    raise ModelFileError("not_a_model", path=reader.path, reason=reason)


def _metadata(reader, n):
    metadata = {}
    for index in range(n):
        key = reader.text(f"key {index}", LONGEST_KEY)
        if not key or key in metadata:
            raise reader.fail(f"key {index}", f"the key {key!r} is empty or stands twice")
        metadata[key] = reader.value(reader.number("<I", f"key {key}"), f"key {key}")
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
            has = len(reader.data)
            raise ModelFileError("incomplete", path=reader.path, place=place, needs=end, has=has)
        tensors[name] = Tensor(name, tuple(reversed(dims)), kind, start, nbytes)
    return tensors


def _size(reader, place, dims, kind):
    """The type and the bytes of a tensor with these dimensions (fastest first)."""
    try:
        kind = GGMLQuantizationType(kind)
        per_block, block_bytes = GGML_QUANT_SIZES[kind]
    except (ValueError, KeyError):
        raise reader.fail(place, f"the number type {kind} does not exist") from None
    if min(dims) < 1 or dims[0] % per_block:
        raise reader.fail(place, f"its rows of {dims[0]} are not whole blocks of {per_block}")
    return kind, math.prod(dims) // per_block * block_bytes
