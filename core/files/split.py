"""Joins the parts of a GGUF file that was split: any part opens the whole.

Knows how parts are named and what each says of the others; reads no metadata of models.
Source: llama.cpp's gguf-split.
"""

import re
from dataclasses import replace
from pathlib import Path

from core.errors import ModelFileError
from core.files import gguf
from core.files.gguf import GGUFFile

PART_NAME = re.compile(r"(.+)-(\d{5})-of-(\d{5})\.gguf")
MOST_PARTS, MOST_OF_OTHERS = 256, 1000


def read(path) -> GGUFFile:
    """Read a GGUF file, with all its parts if it is one of several.

    Raises ModelFileError as `gguf.read`, and for a part that is missing or belongs elsewhere.
    """
    path = Path(path)
    file = gguf.read(path)
    count = file.get("split.count", int) if "split.count" in file.metadata else 1
    if count <= 1:
        return file
    parts = []
    for number, name in enumerate(_names(file, count)):
        parts.append(file if name == path.name else _part(path.parent, name, number))
        _check_place(parts[-1], number, count)
    return _joined(parts)


def _names(file, count):
    """What the parts of a file are called, in their order."""
    match = PART_NAME.fullmatch(file.path.name)
    if count > MOST_PARTS:
        raise _wrong(file, f"{count} parts are more than {MOST_PARTS}")
    if not match or int(match[3]) != count:
        raise _wrong(file, f"it is one of {count} parts, and its name does not end so")
    return [f"{match[1]}-{n:05}-of-{count:05}.gguf" for n in range(1, count + 1)]


def _part(folder, name, number):
    if not (folder / name).is_file():
        raise ModelFileError("missing_part", path=str(folder), part=name)
    # only the first part holds a vocabulary
    return gguf.read(folder / name, **({"most_values": MOST_OF_OTHERS} if number else {}))


def _check_place(part, number, count):
    said = part.get("split.no", int), part.get("split.count", int)
    if said != (number, count):
        raise _wrong(part, f"it says it is part {said[0]} of {said[1]}, not {number} of {count}")


def _joined(parts):
    """One file: the metadata of the first part, the tensors of all."""
    tensors = {}
    for part in parts:
        if twice := tensors.keys() & part.tensors.keys():
            raise _wrong(part, f"another part holds {min(twice)}, too")
        tensors |= part.tensors
    total = parts[0].metadata.get("split.tensors.count", len(tensors))
    if total != len(tensors):
        raise _wrong(parts[0], f"the parts hold {len(tensors)} tensors, not {total}")
    return replace(parts[0], tensors=tensors, parts=tuple(parts))


def _wrong(file, reason):
    return ModelFileError("broken", path=str(file.path), place="split.count", reason=reason)
