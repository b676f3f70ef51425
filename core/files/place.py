"""Where a matrix lies in the files of a model: its bytes, row by row, and how they become numbers.

A row is read when it is asked for, a few hundred bytes at a time, and only while the file is the
one that the model was read from. Knows bytes and number types; no weights, no pages.
Sources: ggml's block Q8_0 (ggml-common.h); IEEE 754 for the floats.
"""

import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType

from core.errors import ModelFileError
from core.files import numbers
from core.files.filebytes import FileBytes

FLOATS = {"F64": "<d", "F32": "<f", "F16": "<e"}
SCALE = 2  # bytes at the start of a block of Q8_0: a float16; one signed byte per number follows
NEIGHBOURS = 8  # numbers shown together where each stands by itself


@dataclass(frozen=True)
class Place:
    """A matrix in a file. Its rows are stored one after the other, each in whole blocks.

    Attributes:
        path: the file. tensor: what the file calls it. dtype: the file's name of the number type.
        shape: rows, and numbers in a row. offset: bytes before it in the file.
        per_block, block_bytes: numbers and bytes of a block; 1 number where each stands by itself.
        state: size and time of change of the file when the model was read.
    """

    path: Path
    format: str
    tensor: str
    dtype: str
    shape: tuple[int, int]
    offset: int
    per_block: int
    block_bytes: int
    state: tuple[int, int]

    @property
    def row_bytes(self) -> int:
        """Bytes of a row."""
        return self.shape[1] // self.per_block * self.block_bytes

    def row_offset(self, row: int) -> int:
        """Bytes of the file before a row."""
        return self.offset + row * self.row_bytes


@dataclass(frozen=True)
class Stored:
    """One number of a row, and bytes around it.

    Attributes:
        offset: bytes of the file before these. raw: the bytes, of its block or of a few numbers.
        parts: what is multiplied: the scale of its block and a whole number, or one number alone.
        spans: which bytes each part is stored in, first and stop; none where the library took the
            block apart and no byte is the number's own.
        value: the product, as float32 holds it.
    """

    offset: int
    raw: bytes
    parts: tuple[float, ...]
    spans: tuple[tuple[int, int], ...]
    value: float


def of(loader, weight: str) -> Place:
    """Where a weight outside the blocks lies, of a checked file or folder (see `loader.Loader`)."""
    name = next(name for name, held in loader.places.items() if held == ((weight, None),))
    file, tensor = loader.file, loader.file.tensors[name]
    bytes_of = file.stored(tensor)
    block = (
        GGML_QUANT_SIZES[tensor.type]
        if file.format == "gguf"
        else (1, numbers.FLOATS[tensor.dtype][0])
    )
    path, state = Path(bytes_of.data.path), bytes_of.data.state
    return Place(path, file.format, name, tensor.dtype, tensor.shape, tensor.offset, *block, state)


def read_row(place: Place, row: int) -> bytes:
    """The bytes of a row, read from the file now.

    Raises IndexError for a row that there is not; ModelFileError: the file is gone, cannot be read,
    or was changed since the model was read from it.
    """
    if not 0 <= row < place.shape[0]:
        raise IndexError(f"row {row} is not one of 0 to {place.shape[0] - 1}")
    file, start = FileBytes(place.path), place.row_offset(row)
    if file.state != place.state:
        raise ModelFileError("changed", path=str(place.path))
    return file[start : start + place.row_bytes]


def stored(place: Place, row: int, column: int) -> Stored:
    """One number, computed from the bytes that are in the file now. Raises as `read_row`, and
    IndexError for a column that there is not.
    """
    if not 0 <= column < place.shape[1]:
        raise IndexError(f"column {column} is not one of 0 to {place.shape[1] - 1}")
    together = place.per_block if place.per_block > 1 else NEIGHBOURS
    group, number = divmod(column, together)
    start = group * together // place.per_block * place.block_bytes
    stop = start + together // place.per_block * place.block_bytes
    raw = read_row(place, row)[start:stop]
    parts, spans = take_apart(place, raw, number)
    with np.errstate(all="ignore"):
        value = float(np.float32(np.prod(parts)))
    return Stored(place.row_offset(row) + start, raw, parts, spans, value)


def take_apart(place: Place, raw: bytes, number: int):
    """The parts of a number and where they stand in some bytes: by arithmetic of our own where the
    type is simple, else by the library, without a place of its own.
    """
    if place.dtype == "Q8_0":
        spans = (0, SCALE), (SCALE + number, SCALE + number + 1)
        return (_as("<e", raw, spans[0]), float(_as("<b", raw, spans[1]))), spans
    span = number * place.block_bytes, (number + 1) * place.block_bytes
    if place.dtype == "BF16":  # the upper half of a float32
        return struct.unpack("<f", b"\0\0" + raw[slice(*span)]), (span,)
    if place.dtype in FLOATS:
        return (_as(FLOATS[place.dtype], raw, span),), (span,)
    return (float(by_library(place, raw)[number]),), ()


def _as(kind, raw, span):
    """What some bytes stand for."""
    return struct.unpack(kind, raw[slice(*span)])[0]


def by_library(place: Place, raw: bytes) -> np.ndarray:  # [numbers]
    """The numbers of some whole blocks, as the reader of the weights makes them."""
    array = np.frombuffer(raw, np.uint8)
    if place.format == "gguf":
        return numbers.from_blocks(array, GGMLQuantizationType[place.dtype])
    return numbers.from_floats(array, place.dtype)
