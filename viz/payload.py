"""One bytes object that carries a picture's words and arrays to the browser.

Knows the byte layout, and its inverse for tests; `pages/canvas/common.js` holds the other inverse.
Knows no figure.

    u32 little-endian, length of the header
    header: UTF-8 JSON, filled with spaces to a multiple of 4
    arrays: little-endian, each filled to a multiple of 4

The header is {"meta": {...}, "arrays": {name: {"dtype", "shape", "offset"}}}; an offset counts from
the first byte of the first array.
"""

import json
import struct

import numpy as np

DTYPES = ("uint8", "uint16", "int32", "uint32", "float32")


def pack(meta: dict, **arrays: np.ndarray) -> bytes:
    """The payload. `meta` is JSON without NaN or infinity (ValueError); arrays see DTYPES."""
    entries, buffers, offset = {}, [], 0
    for name, array in arrays.items():
        _check(name, array)
        data = np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes()
        entries[name] = {"dtype": array.dtype.name, "shape": list(array.shape), "offset": offset}
        buffers.append(data + bytes(-len(data) % 4))
        offset += len(buffers[-1])
    words = {"meta": meta, "arrays": entries}
    header = json.dumps(words, allow_nan=False, ensure_ascii=False).encode()
    header += b" " * (-len(header) % 4)
    return struct.pack("<I", len(header)) + header + b"".join(buffers)


def unpack(payload: bytes) -> tuple[dict, dict[str, np.ndarray]]:
    """(meta, arrays by name) of a payload; the arrays are read-only views of its bytes."""
    (length,) = struct.unpack_from("<I", payload)
    header = json.loads(payload[4 : 4 + length])
    arrays = {
        name: np.frombuffer(
            payload,
            np.dtype(entry["dtype"]).newbyteorder("<"),
            count=int(np.prod(entry["shape"])),
            offset=4 + length + entry["offset"],
        ).reshape(entry["shape"])
        for name, entry in header["arrays"].items()
    }
    return header["meta"], arrays


def _check(name: str, array: np.ndarray) -> None:
    if array.dtype.name not in DTYPES:
        raise TypeError(f"array {name!r} is {array.dtype.name}, wanted one of {DTYPES}")
