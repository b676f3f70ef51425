"""Maps a file into memory, and recognises what people have by mistake in the place of a model.

Knows a few famous first bytes; knows neither GGUF nor safetensors.
"""

import mmap
import os

from core.errors import ModelFileError


def map_file(path) -> mmap.mmap:
    """The bytes of a file, read-only, without loading them.

    Raises ModelFileError: no_such_file, or not_a_model for a folder, an empty file and the like.
    """
    if os.path.exists(path) and not os.path.isfile(path):  # a pipe would be waited for
        raise ModelFileError("not_a_model", path=str(path), reason="it is a folder or a device")
    try:
        with open(path, "rb") as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except FileNotFoundError:
        raise ModelFileError("no_such_file", path=str(path)) from None
    except (OSError, ValueError) as error:  # ValueError: an empty file cannot be mapped
        reason = "it is empty" if isinstance(error, ValueError) else str(error.strerror)
        raise ModelFileError("not_a_model", path=str(path), reason=reason) from None


def mistaken_for(data) -> str | None:
    """What a file is that is no model, by its first bytes: half a sentence, or None."""
    start = bytes(data[:64])
    if start.lstrip().lower().startswith((b"<!doctype", b"<html")):
        return "it is a web page"
    if start.startswith(b"version https://git-lfs"):
        return "it is a Git LFS pointer, the model itself was not downloaded"
    if start.startswith((b"PK", b"\x80")):
        return "it is a pickle or zip archive, which is never opened because it can run code"
    return None
