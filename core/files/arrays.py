"""Named arrays in a .npz or .safetensors file that somebody else wrote.

Knows the two formats and their number types; no names, ops or models. Nothing is unpickled, no
size is believed before the bytes are there, and numbers are read only when asked for.
Source of the layout: the description of the NPY format in NumPy.
"""

import ast
import io
import math
import re
import struct
import weakref
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from core.errors import ModelFileError
from core.files import safetensors
from core.files.filebytes import mistaken_for
from core.files.numbers import bfloat16

MOST_ARRAYS, LARGEST_TABLE, LARGEST_HEADER, LARGEST = 1 << 12, 1 << 19, 10_000, 1 << 40
LONGEST_TEXT, MOST_TEXT = 1 << 20, 1 << 23  # bytes of one text, and of all: metadata are short
DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, RuntimeError)
DAMAGE += (struct.error, MemoryError)
NUMPY = {"F64": "f8", "F32": "f4", "F16": "f2", "BF16": "u2", "BOOL": "b1"}
NUMPY |= {f"{kind}{8 * n}": f"{kind.lower()}{n}" for kind in "IU" for n in (1, 2, 4, 8)}
NAMES = {"f8": "float64", "f4": "float32", "f2": "float16", "V2": "bfloat16"}


@dataclass(frozen=True)
class Entry:
    """One array. kind: "float32", "float16", "bfloat16", "float64" or "whole". read: its numbers,
    in a type that NumPy has; ModelFileError where they are damaged.
    """

    kind: str
    shape: tuple[int, ...]
    read: Callable[[], np.ndarray]


@dataclass(frozen=True)
class ArrayFile:
    """The arrays of a file by name, and what it says about them.

    In a .npz file, arrays that hold one text are metadata. refused: names of what cannot be read,
    and why.
    """

    path: Path
    metadata: dict[str, str]
    entries: dict[str, Entry]
    refused: dict[str, str]


def read(path) -> ArrayFile:
    """The table of a .npz or .safetensors file. Raises ModelFileError("bad_values")."""
    path = Path(path)
    if not path.is_file():  # a pipe would keep us waiting
        raise _bad(path, "it is no file" if path.exists() else "it does not exist")
    try:
        with open(path, "rb") as file:
            start = file.read(64)
    except OSError as error:
        raise _bad(path, error.strerror) from None
    if start[:4] == b"PK\x03\x04":
        return _read_npz(path)
    if start[:1] == b"\x93":
        raise _bad(path, "it is a single .npy array; numpy.savez writes many, with names")
    if start[8:9] != b"{" and (reason := mistaken_for(start)):
        raise _bad(path, reason)
    return _read_safetensors(path)


def _bad(path, reason):
    return ModelFileError("bad_values", path=str(path), reason=reason)


# ---- .safetensors ----------------------------------------------------------------------------


def _read_safetensors(path):
    try:
        file = safetensors.read(path)
    except ModelFileError as error:
        reason = error.params.get("reason", "it is cut short")
        where = error.params.get("place", "the file")
        raise _bad(path, f"it is no whole .safetensors file ({where}: {reason})") from None
    entries, refused = {}, {}
    for t in file.tensors.values():
        if t.dtype in NUMPY:
            kind = "bfloat16" if t.dtype == "BF16" else NAMES.get(NUMPY[t.dtype], "whole")
            entries[t.name] = Entry(kind, t.shape, _tensor_reader(file.data, t))
        else:
            refused[t.name] = f"its number type {t.dtype} is not read here"
    return ArrayFile(path, file.metadata, entries, refused)


def _tensor_reader(data, t):
    def read():
        array = np.frombuffer(data[t.offset : t.offset + t.nbytes], "<" + NUMPY[t.dtype])
        return (bfloat16(array) if t.dtype == "BF16" else array).reshape(t.shape)

    return read


# ---- .npz ------------------------------------------------------------------------------------


def _read_npz(path):
    try:
        file = _Archive(io.FileIO(path))
        archive = zipfile.ZipFile(file)
        weakref.finalize(archive, file.close)
        file.most, members = LARGEST, archive.infolist()
    except DAMAGE as error:
        raise _bad(path, f"it is no whole .npz file ({error})") from None
    if len(members) > MOST_ARRAYS:
        raise _bad(path, f"{len(members)} arrays are too many")
    if len({member.filename for member in members}) < len(members):
        raise _bad(path, "the name of an array stands in it twice")
    if any(member.filename.endswith(".pkl") for member in members):
        raise _bad(path, "it holds a pickle, which is never opened because it can run code")
    out, texts = ArrayFile(path, {}, {}, {}), 0
    for member in members:
        texts += _add_member(archive, member, out)
        if texts > MOST_TEXT:
            raise _bad(path, f"its texts are longer than {MOST_TEXT} bytes")
    return out


class _Archive(io.BufferedReader):
    """A file of which no more than `most` bytes are read at once: a table of contents comes whole,
    and with millions of entries it would take gigabytes.
    """

    most = LARGEST_TABLE

    def read(self, n=-1):
        """The next n bytes."""
        if n is not None and n > self.most:
            raise ValueError(f"its table of contents is longer than {self.most} bytes")
        return super().read(n)


def _add_member(archive, member, out):
    """Put an array under its name: among the entries, or the texts, or what is refused. Returns how
    many bytes of texts were read.
    """
    name = member.filename.removesuffix(".npy")
    try:
        dtype, fortran, shape, start = _npy_header(archive, member)
        read = _member_reader(archive, member, out.path, dtype, fortran, shape, start)
        if dtype.kind != "U":
            out.entries[name] = Entry(NAMES.get(dtype.str[1:], "whole"), shape, read)
        elif shape == () and dtype.itemsize <= LONGEST_TEXT:
            order = "be" if dtype.str[0] == ">" else "le"
            text = read().tobytes().decode(f"utf-32-{order}", "replace")  # no str(): it may crash
            out.metadata[name] = text.rstrip("\0")
            return dtype.itemsize
        else:
            out.refused[name] = "it holds texts"
    except DAMAGE as error:
        out.refused[name] = str(error)[:100]
    return 0


def _npy_header(archive, member):
    """Number type, whether columns come first, shape, and where the numbers begin."""
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError("it is compressed in a way that NumPy does not write")
    with archive.open(member) as file:
        start = file.read(8)
        if start[:6] != b"\x93NUMPY" or len(start) < 8:
            raise ValueError("it is no NPY array")
        width = 2 if start[6] == 1 else 4
        n = int.from_bytes(file.read(width), "little")
        if n > LARGEST_HEADER:
            raise ValueError("its header is too long")
        dtype, fortran, shape = _described(file.read(n).decode("utf-8", "replace"))
    begins = 8 + width + n
    if begins + math.prod(shape) * dtype.itemsize > member.file_size:
        raise ValueError("it is shorter than its shape says")
    return dtype, fortran, shape, begins


def _described(text):
    """Type, order and shape from the header's table, which is written as Python."""
    try:
        table = ast.literal_eval(text.strip())
        descr, fortran, shape = (table[key] for key in ("descr", "fortran_order", "shape"))
    except (ValueError, SyntaxError, TypeError, KeyError, MemoryError, RecursionError):
        raise ValueError("its header cannot be read") from None
    if str(descr).endswith("O"):
        raise ValueError("it holds Python objects (a pickle), which are never opened")
    if not isinstance(descr, str) or not re.fullmatch(
        r"[<>|=]?(f[248]|[iu][1248]|b1|V2|U\d{1,7})", descr
    ):
        raise ValueError("its number type is not read here")
    sizes = isinstance(shape, tuple) and len(shape) <= 8
    if not sizes or not all(type(n) is int and 0 <= n <= LARGEST for n in shape):
        raise ValueError("its shape is no list of sizes")
    return np.dtype(descr), fortran is True, shape


def _member_reader(archive, member, path, dtype, fortran, shape, start):
    def read():
        n = math.prod(shape) * dtype.itemsize
        try:
            with archive.open(member) as file:
                file.read(start)
                data = file.read(n)
            if len(data) < n:
                raise EOFError("it is cut short")
        except DAMAGE as error:
            raise _bad(path, f"{member.filename[:80]!r}: {error}") from None
        array = np.frombuffer(data, dtype) if n else np.zeros(math.prod(shape), dtype)
        if dtype.str[1:] == "V2":  # how NumPy writes a bfloat16 array of the package ml_dtypes
            array = bfloat16(array.view("<u2"))
        return array.reshape(shape[::-1]).T if fortran else array.reshape(shape)

    return read
