"""The disk that keeps fetched models: what is free on it, and what its errors mean.

Knows the folder of the registry; does not know what is fetched, or from where.
"""

import errno
import hashlib
import shutil
from pathlib import Path

from core.errors import ModelFileError
from core.files.registry import home

MB = 1_000_000


def free_bytes() -> int:
    """Free for us where the models are kept."""
    try:
        return shutil.disk_usage(home()).free
    except OSError:
        return 0


def full(name: str, needed: int) -> ModelFileError:
    """The error of a disk without room for `needed` bytes; sizes in whole MB."""
    sizes = {"needed_mb": -(-needed // MB), "free_mb": free_bytes() // MB}
    return ModelFileError("fetch_disk_full", name=name, path=str(home()), **sizes)


def failure(error: OSError, name: str, needed: int) -> ModelFileError:
    """What it means that a file of `name`, which takes `needed` bytes, could not be written."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return full(name, needed)
    reason = error.strerror or str(error)
    return ModelFileError("fetch_cannot_write", name=name, path=str(home()), reason=reason)


def sha256(path: Path) -> str:
    """The hash of a file's bytes, in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
