"""Which files a path to a model stands for, and what tells them apart: sizes, times, hashes.

Knows how the files of a model are named; reads nothing of their contents but for the hash.
"""

import hashlib
from pathlib import Path

from core.errors import ModelFileError
from core.files.filebytes import FileBytes
from core.files.folder import CONFIG
from core.files.split import PART_NAME

STEP = 1 << 20  # bytes hashed at a time


def is_gguf(path: Path) -> bool:
    """Whether a path is read as a GGUF file: a file that does not belong to a folder's model."""
    return path.is_file() and path.suffix != ".safetensors" and path.name != CONFIG


def stamp(path: Path) -> tuple:
    """Names, sizes and times of change of all files that may belong to the model: another one as
    soon as one of them changes. Raises ModelFileError("cannot_read").
    """
    try:
        stats = [(file.name, file.stat()) for file in _files(path)]
    except OSError as error:
        raise ModelFileError("cannot_read", path=str(path), reason=str(error.strerror)) from None
    return str(path), *((name, s.st_size, s.st_mtime_ns) for name, s in stats)


def _files(path):
    folder = path if path.is_dir() else path.parent
    if not is_gguf(path):
        return sorted(file for file in folder.iterdir() if file.is_file())
    part = PART_NAME.fullmatch(path.name)
    if not part:
        return [path]
    others = (PART_NAME.fullmatch(file.name) for file in folder.iterdir())
    return sorted(folder / other[0] for other in others if other and other[1] == part[1])


def sha256(opened: list[FileBytes]) -> str:
    """Of the file; of several, the sha256 of the list that `sha256sum` prints for them."""
    digests = {Path(data.path).name: _digest(data) for data in opened}
    if len(digests) == 1:
        return digests.popitem()[1]
    lines = "".join(f"{digest}  {name}\n" for name, digest in digests.items())
    return hashlib.sha256(lines.encode()).hexdigest()


def _digest(data):
    digest = hashlib.sha256()
    for at in range(0, len(data), STEP):
        digest.update(data[at : at + STEP])
    return digest.hexdigest()
