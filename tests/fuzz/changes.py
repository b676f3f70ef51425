"""Files that are cut, replaced, removed or rewritten after their header was read.

Usage: python -m tests.fuzz.changes FOLDER. Prints one JSON object: "format change" -> what came of
it. In a process of its own: a reader that maps files is ended by the system here.
"""

import json
import os
import sys
from pathlib import Path

import numpy as np

from core.errors import TokenwalkError
from core.files import config, folder, split, weights
from tests import families
from tests.fuzz.measure import limit_address_space

FORMATS = {
    "gguf": (lambda path: families.build_gguf(path / "m.gguf", "llama"), "m.gguf"),
    "safetensors": (lambda path: families.build_folder(path, "llama"), "model.safetensors"),
}


def cut(path):
    os.truncate(path, path.stat().st_size // 2)


def emptied(path):
    path.write_bytes(b"")


def replaced(path):
    other = path.with_suffix(".new")
    other.write_bytes(bytes(path.stat().st_size))
    other.replace(path)


def removed(path):
    path.unlink()


def zeroed(path):
    """Other bytes in the same file, and a time of change that says so."""
    size, time = path.stat().st_size, path.stat().st_mtime_ns + 1_000_000
    with open(path, "r+b") as file:
        file.write(bytes(size))
    os.utime(path, ns=(time, time))


CHANGES = (cut, emptied, replaced, removed, zeroed)


def outcome(kind, change, path):
    """What comes of reading the numbers after the change."""
    path.mkdir()
    make, name = FORMATS[kind]
    opened = (split.read if kind == "gguf" else folder.read)(make(path))
    described = (config.from_gguf if kind == "gguf" else config.from_folder)(opened)
    whole = weights.load(opened, described)
    change(path / name)
    try:
        found = weights.load(opened, described)
        for data in opened.opened:
            data.check_same()
    except TokenwalkError as error:
        return f"{error.code}: {error}"
    pairs = zip(whole.arrays(), found.arrays(), strict=True)
    return "the same" if all(np.array_equal(a, b) for a, b in pairs) else "other numbers"


def main(path: Path):
    """All changes of all formats."""
    return {
        f"{kind} {change.__name__}": outcome(kind, change, path / f"{kind}-{change.__name__}")
        for kind in FORMATS
        for change in CHANGES
    }


if __name__ == "__main__":
    limit_address_space()
    print(json.dumps(main(Path(sys.argv[1]))))
