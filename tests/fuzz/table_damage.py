"""Damage to the structure of .safetensors and .npz files: their tables, names, types and numbers.

Knows the two layouts, written here a second time; nothing of core.
"""

import io
import json
import struct
import warnings
import zipfile

from tests.fuzz.damage import NUMBERS, TEXTS, damaged_bytes, damaged_json

SIZES = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "F8_E4M3": 1, "F8_E5M2": 1, "F8_E8M0": 1}
SIZES |= {"U8": 1, "I8": 1, "I16": 2, "U16": 2, "I32": 4, "U32": 4, "I64": 8, "U64": 8, "BOOL": 1}
SIZES |= {"F8_E4M3FNUZ": 1, "C64": 8}
BITS = [0x7FC00000, 0x7F800000, 0xFF800000, 0x7F7FFFFF, 0, 1, 0x80000000]


def safetensors(tensors: dict, metadata=None, length=None) -> bytes:
    """A file of {name: (dtype, shape, raw bytes)}."""
    table, data = {} if metadata is None else {"__metadata__": metadata}, b""
    for name, (dtype, shape, raw) in tensors.items():
        ends = [len(data), len(data) + len(raw)]
        table[name] = {"dtype": dtype, "shape": shape, "data_offsets": ends}
        data += raw
    return with_table(json.dumps(table).encode("utf-8", "surrogatepass"), data, length)


def with_table(table: bytes, data: bytes, length=None) -> bytes:
    """A file of these bytes of JSON and these numbers."""
    length = len(table) if length is None else length
    return struct.pack("<Q", length % 2**64) + table + data


def damaged_safetensors(tensors: dict, rng, metadata=None) -> bytes:
    """A file like this one with its bytes, its table, or one of its tensors changed."""
    how = rng.random()
    if how < 0.5:
        tensors = dict(tensors)
        for _ in range(rng.choice([1, 1, 2])):
            _change_tensor(tensors, rng)
        return safetensors(tensors, metadata)
    whole = safetensors(tensors, metadata)
    if how < 0.7:
        return damaged_bytes(whole, rng)
    n = struct.unpack("<Q", whole[:8])[0]
    if how < 0.75:
        return with_table(whole[8 : 8 + n], whole[8 + n :], rng.choice([n - 1, n + 1, *NUMBERS]))
    return with_table(damaged_json(whole[8 : 8 + n].decode(), rng), whole[8 + n :])


def _change_tensor(tensors, rng):
    """One tensor in another type or shape, with another name or other numbers, twice or missing."""
    name, how = rng.choice([*tensors] or ["a"]), rng.randrange(8)
    dtype, shape, raw = tensors.get(name, ("F32", [1], bytes(4)))
    n = len(raw) // SIZES[dtype]
    if how == 0:
        kind = rng.choice([*SIZES])
        tensors[name] = kind, shape, rng.randbytes(n * SIZES[kind])
    elif how == 1:
        wide = n // 2 * 2 if n > 1 else n
        shape = rng.choice([shape[::-1], [n], [*shape, 1], [1, *shape], [2, wide // 2], [0]])
        size = SIZES[dtype]
        for k in shape:
            size *= k
        tensors[name] = dtype, shape, (raw * 2)[:size].ljust(size, b"\0")
    elif how == 2:
        tensors.pop(name, None)
    elif how == 3:
        other = rng.choice(
            [*tensors, *TEXTS, name + ".x", name.replace("0", "1"), "lm_head.weight"]
        )
        tensors[other] = dtype, shape, raw
        tensors.pop(name, None) if rng.random() < 0.5 else None
    elif how == 4:
        other = rng.choice([*tensors] or [name])
        tensors[name], tensors[other] = tensors.get(other, (dtype, shape, raw)), (dtype, shape, raw)
    else:
        tensors[name] = dtype, shape, damaged_numbers(raw, rng)


def damaged_numbers(raw: bytes, rng) -> bytes:
    """Numbers that are none, infinite, huge or zero."""
    raw = bytearray(raw)
    for _ in range(rng.choice([1, 4, 100])):
        at = rng.randrange(len(raw) // 4) * 4 if len(raw) >= 4 else 0
        raw[at : at + 4] = struct.pack("<I", rng.choice(BITS))[: len(raw) - at]
    return bytes(raw)


# ---- .npz ----------------------------------------------------------------------------------------


def npy(descr, shape, raw: bytes, version=1, length=None, fortran=False) -> bytes:
    """One array as NumPy writes it."""
    table = f"{{'descr': {descr!r}, 'fortran_order': {fortran!r}, 'shape': {shape!r}, }}"
    return npy_of(table.encode("utf-8", "replace"), raw, version, length)


def npy_of(table: bytes, raw: bytes, version=1, length=None) -> bytes:
    """The bytes around the table of an array."""
    n = len(table) if length is None else length
    width = 2 if version == 1 else 4
    size = (n % (1 << 8 * width)).to_bytes(width, "little")
    return b"\x93NUMPY" + bytes([version % 256, 0]) + size + table + raw


def npz(members: list, compress=False) -> bytes:
    """A file of [(name, bytes), ...]; names may stand twice."""
    file, kind = io.BytesIO(), zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
    with zipfile.ZipFile(file, "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, content in members:  # a ZipInfo: without the time of day
            archive.writestr(zipfile.ZipInfo(name), content, kind)
    return file.getvalue()


def damaged_npz(arrays: dict, rng) -> bytes:
    """A file like {name: (descr, shape, raw bytes)} with arrays, tables or bytes changed."""
    members = {name: npy(*array) for name, array in arrays.items()}
    twice = []
    for _ in range(rng.choice([0, 1, 2, 3])):
        name = rng.choice([*arrays])
        members[name] = _changed_member(*arrays[name], rng)
    if rng.random() < 0.3:
        name = rng.choice([*members])
        other = rng.choice(
            [*members, *filter(None, TEXTS), name + "x", "ids", "precision", "model", "a.pkl"]
        )
        other = other.encode("utf-8", "replace").decode().replace("\0", "0")
        twice.append((other, members[name]))
    if rng.random() < 0.15:
        members.pop(rng.choice([*members]))
    named = [(f"{name}.npy", content) for name, content in members.items()] + twice
    whole = npz(named, compress=rng.random() < 0.3)
    return damaged_bytes(whole, rng) if rng.random() < 0.5 else whole


def _changed_member(descr, shape, raw, rng):
    how = rng.randrange(9)
    if how == 0:
        kinds = ["<f8", ">f4", "<f2", "<i8", "|b1", "|V2", "<U9", "|O", "<f16", "<M8[s]", "x", ""]
        descr = rng.choice([*kinds, [("a", "<f4")], None, 5])
    elif how == 1:
        shape = rng.choice([shape[::-1], (1, *shape), shape[:-1], (*shape, 1), (0,), (), None])
    elif how == 2:
        shape = (rng.choice(NUMBERS), *shape[1:])
    elif how == 3:
        raw = raw[: rng.randrange(len(raw) + 1)] * rng.choice([1, 3])
    elif how == 4:
        return damaged_bytes(npy(descr, shape, raw), rng)
    elif how == 5:
        table = f"{{'descr': {descr!r}, 'fortran_order': False, 'shape': {shape!r}}}".encode()
        return npy_of(damaged_bytes(table, rng), raw)
    elif how == 6:
        return npy(descr, shape, raw, version=rng.choice([0, 2, 3, 9]), length=rng.choice(NUMBERS))
    elif how == 7:
        return npy(descr, shape, raw, fortran=rng.choice([True, 1, "True", None]))
    else:
        raw = damaged_numbers(raw, rng)
    return npy(descr, shape, raw)
