"""Read the header of a .safetensors file: metadata and a table of tensors. Our own bounded parser.

Knows the layout (a length, a JSON table, one buffer) and nothing about models. Every byte of the
buffer must belong to exactly one tensor; anything else ends in one ModelFileError.
Source: the description of the format in the README of the safetensors library.
"""

import json
import math
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from core.errors import ModelFileError
from core.files.filebytes import FileBytes, mistaken_for

# the format allows 100 MB, to read which takes gigabytes; a table of 16,000 tensors has 2
LARGEST_HEADER, LARGEST_SIZE, MOST_DIMS = 1 << 21, (1 << 63) - 1, 64
BITS = {f"{kind}{bits}": bits for kind in "IU" for bits in (8, 16, 32, 64)} | {"BOOL": 8, "F4": 4}
BITS |= {f"F8_{kind}": 8 for kind in ("E5M2", "E4M3", "E8M0", "E4M3FNUZ", "E5M2FNUZ")}
BITS |= {"F64": 64, "C64": 64, "F32": 32, "F16": 16, "BF16": 16, "F6_E2M3": 6, "F6_E3M2": 6}


@dataclass(frozen=True)
class Tensor:
    """One entry. shape: slowest axis first, as NumPy counts; offset: from the file's start."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    offset: int
    nbytes: int


@dataclass(frozen=True)
class SafetensorsFile:
    """A parsed header over an open file; tensors in the order of their bytes."""

    path: Path
    metadata: dict[str, str]
    tensors: dict[str, Tensor]
    data_offset: int
    data: FileBytes


def read(path) -> SafetensorsFile:
    """Open a file and parse its header.

    Raises ModelFileError: not a safetensors file (and what it looks like), incomplete, or damaged.
    """
    path, data = Path(path), FileBytes(path)
    fail = partial(ModelFileError, path=str(path))
    start = _data_offset(data, fail)
    table = _table(data[8:start], fail)
    metadata = table.pop("__metadata__", {})
    if not isinstance(metadata, dict) or not all(isinstance(v, str) for v in metadata.values()):
        raise fail("broken", place="__metadata__", reason="it is not a table of texts")
    tensors = [_tensor(name, entry, start, fail) for name, entry in table.items()]
    tensors.sort(key=lambda t: (t.offset, t.nbytes))
    _check_cover(tensors, start, len(data), fail)
    return SafetensorsFile(path, metadata, {t.name: t for t in tensors}, start, data)


def _data_offset(data, fail):
    """Where the buffer begins: after the table's length (a u64) and the table."""
    n, has = int.from_bytes(data[:8], "little"), len(data)
    if data[8:9] not in (b"{", b"") and (reason := mistaken_for(data[:64])):
        raise fail("not_a_model", reason=reason)
    if n > LARGEST_HEADER:
        raise fail("broken", place="the header", reason=f"{n} bytes exceed {LARGEST_HEADER}")
    if has < 8 + n:
        raise fail("incomplete", place="the header", needs=8 + n, has=has)
    return 8 + n


def _table(text, fail):
    try:
        if text[:1] != b"{":
            raise ValueError("it does not begin with a brace")
        return json.loads(text.decode(), object_pairs_hook=unique)
    except RecursionError:
        raise fail("broken", place="the header", reason="it is nested too deep") from None
    except ValueError as error:
        raise fail("broken", place="the header", reason=f"it is no JSON table: {error}") from None


def unique(pairs) -> dict:
    """A JSON table in which no name stands twice; ValueError otherwise."""
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a name stands twice in it")
    return dict(pairs)


def _tensor(name, entry, start, fail):
    fail = partial(fail, "broken", place=f"tensor {name[:80]!r}")
    entry = entry if isinstance(entry, dict) else {}
    dtype, shape, ends = (entry.get(key) for key in ("dtype", "shape", "data_offsets"))
    if str(dtype) not in BITS:
        raise fail(reason=f"the number type {str(dtype)[:20]!r} does not exist")
    if not _sizes(shape, MOST_DIMS) or not _sizes(ends, 2) or len(ends) < 2:
        raise fail(reason="its shape and its two offsets are not lists of sizes")
    bits = math.prod(shape) * BITS[dtype]
    if 8 * (ends[1] - ends[0]) != bits:
        raise fail(reason=f"its numbers do not fill the bytes from {ends[0]} to {ends[1]}")
    return Tensor(name, dtype, tuple(shape), start + ends[0], bits // 8)


def _sizes(value, most):
    """Whether this is a short list of whole numbers from 0 (JSON's true is none)."""
    short = isinstance(value, list) and len(value) <= most
    return short and all(type(n) is int and 0 <= n <= LARGEST_SIZE for n in value)


def _check_cover(tensors, at, has, fail):
    for t in tensors:
        if t.offset != at:
            what = "there is a gap" if t.offset > at else "there is an overlap"
            raise fail("broken", place=f"tensor {t.name[:80]!r}", reason=f"{what} before it")
        at += t.nbytes
    if has < at:
        raise fail("incomplete", place="the data", needs=at, has=has)
    if at < has:
        raise fail("broken", place="the end", reason=f"{has - at} bytes belong to no tensor")
