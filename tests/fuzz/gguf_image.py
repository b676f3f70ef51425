"""GGUF files byte by byte, for tests that need wrong ones: nothing here is checked or corrected.

Knows the layout of the format, written here a second time; nothing of core and no meaning of keys.
"""

import math
import struct
from dataclasses import dataclass, field

U32, F32, BOOL, TEXT, ARRAY, U64 = 4, 6, 7, 8, 9, 10
FORMS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", U32: "<I", 5: "<i", F32: "<f", BOOL: "<B"}
FORMS |= {U64: "<Q", 11: "<q", 12: "<d"}
TYPES = {"float32": 0, "float16": 1}  # of tensors


def text(value) -> bytes:
    """A string: its length, its bytes."""
    value = value if isinstance(value, bytes) else value.encode("utf-8", "surrogatepass")
    return struct.pack("<Q", len(value)) + value


def number(kind: int, value) -> bytes:
    """A scalar; a whole number that is too large wraps, a float becomes infinite."""
    form = FORMS[kind]
    if form[1] in "fd":
        try:
            return struct.pack(form, value)
        except OverflowError:
            return struct.pack(form, math.inf)
    size = struct.calcsize(form)
    return (int(value) % (1 << 8 * size)).to_bytes(size, "little")


def array(kind: int, count: int, payload: bytes = b"") -> bytes:
    """The value of an array that claims so many entries."""
    return struct.pack("<IQ", kind % 2**32, count % 2**64) + payload


def entry(key, kind: int, payload: bytes) -> bytes:
    """One key with its value."""
    return text(key) + struct.pack("<I", kind % 2**32) + payload


def tensor(name="t", dims=(32,), kind=0, offset=0, n_dims=None) -> bytes:
    """One entry of the tensor table."""
    n_dims = len(dims) if n_dims is None else n_dims
    numbers = b"".join(struct.pack("<Q", n % 2**64) for n in dims)
    head = text(name) + struct.pack("<I", n_dims % 2**32) + numbers
    return head + struct.pack("<IQ", kind % 2**32, offset % 2**64)


def header(entries=(), tensors=None, version=3, n_tensors=None, n_keys=None, data=b"\0" * 128):
    """A whole small file; the counts are right unless they are given."""
    tensors = [tensor()] if tensors is None else tensors
    n_tensors = len(tensors) if n_tensors is None else n_tensors
    n_keys = len(entries) if n_keys is None else n_keys
    start = b"GGUF" + struct.pack("<IQQ", version % 2**32, n_tensors % 2**64, n_keys % 2**64)
    head = start + b"".join(entries) + b"".join(tensors)
    return head + b"\0" * (-len(head) % 32) + data


def value(found) -> tuple[int, bytes]:
    """Kind and bytes of a Python value, as converters choose them; a tuple is such a pair."""
    if isinstance(found, tuple):
        return found
    if isinstance(found, list):
        kind = kind_of(found[0]) if found else U32
        each = text if kind == TEXT else lambda one: number(kind, one)
        return ARRAY, array(kind, len(found), b"".join(map(each, found)))
    kind = kind_of(found)
    return kind, text(found) if kind == TEXT else number(kind, found)


def kind_of(found) -> int:
    """The type of a Python scalar in GGUF."""
    return {bool: BOOL, int: U32, float: F32, str: TEXT}[type(found)]


@dataclass
class Image:
    """A GGUF file in its parts. tensors: lists [name, dims, kind, offset, raw bytes]; offset None
    is where the tensor really lies.
    """

    metadata: dict
    tensors: list
    more: list[bytes] = field(default_factory=list)  # entries as bytes
    version: int = 3
    n_tensors: int | None = None
    n_keys: int | None = None

    def entries(self) -> list[bytes]:
        """All keys with their values."""
        return [entry(key, *value(found)) for key, found in self.metadata.items()] + self.more

    def pack(self) -> bytes:
        """The bytes of the file."""
        table, data = [], b""
        for name, dims, kind, offset, raw in self.tensors:
            table.append(tensor(name, dims, kind, len(data) if offset is None else offset))
            data += raw + b"\0" * (-len(raw) % 32)
        counts = {"n_tensors": self.n_tensors, "n_keys": self.n_keys}
        return header(self.entries(), table, self.version, data=data, **counts)


def image(architecture: str, metadata: dict, arrays: dict) -> Image:
    """The parts of a valid file with these arrays (float32 or float16)."""
    whole = {"general.architecture": architecture} | metadata
    tensors = [
        [name, list(a.shape[::-1]), TYPES[a.dtype.name], None, a.tobytes()]
        for name, a in arrays.items()
    ]
    return Image({key: found for key, found in whole.items() if found is not ...}, tensors)
