"""The bytes of a file, read when they are asked for, and what people have in the place of a model.

Files are read, never mapped: when somebody cuts a mapped file short, the next look at it ends the
whole process; a read that comes back short is one ModelFileError. Knows a few famous first bytes;
knows neither GGUF nor safetensors.
"""

import os
import threading
import weakref

import numpy as np

from core.errors import ModelFileError


class FileBytes:
    """An open file as a row of bytes to cut slices from; safe across threads.

    It stays the same file when its name is given to another one. Raises ModelFileError:
    no_such_file, not_a_model for a folder, an empty file and the like, cannot_read, and later
    `changed` where bytes that were there have gone.

    state: the size and the time of change that the file had when it was opened.
    """

    def __init__(self, path):
        self.path = str(path)
        # a pipe would be waited for
        if os.path.exists(self.path) and not os.path.isfile(self.path):
            raise self._not_a_model("it is a folder or a device")
        try:
            self._file = open(self.path, "rb")
            self.state = self._now()
        except FileNotFoundError:
            raise ModelFileError("no_such_file", path=self.path) from None
        except OSError as error:
            raise self._cannot_read(error) from None
        weakref.finalize(self, self._file.close)
        self._lock = threading.Lock()
        if not len(self):
            raise self._not_a_model("it is empty")

    def __len__(self) -> int:
        return self.state[0]

    def __getitem__(self, part: slice) -> bytes:
        start, stop, _ = part.indices(len(self))
        n = max(stop - start, 0)
        try:
            with self._lock:
                self._file.seek(start)
                data = self._file.read(n)
        except OSError as error:
            raise self._cannot_read(error) from None
        if len(data) < n:
            raise ModelFileError("changed", path=self.path)
        return data

    def check_same(self):
        """Raise unless the file has the size and the time of change that it had at first."""
        if self._now() != self.state:
            raise ModelFileError("changed", path=self.path)

    def _now(self):
        now = os.fstat(self._file.fileno())
        return now.st_size, now.st_mtime_ns

    def _not_a_model(self, reason):
        return ModelFileError("not_a_model", path=self.path, reason=reason)

    def _cannot_read(self, error):
        return ModelFileError("cannot_read", path=self.path, reason=error.strerror or str(error))


class Stretch:
    """Some bytes of a file that are read a part at a time: a slice of it is uint8 [bytes]."""

    def __init__(self, data: FileBytes, offset: int, nbytes: int):
        self.data, self.offset, self.nbytes = data, offset, nbytes

    def __len__(self) -> int:
        return self.nbytes

    def __getitem__(self, part: slice) -> np.ndarray:
        start, stop, _ = part.indices(self.nbytes)
        return np.frombuffer(self.data[self.offset + start : self.offset + stop], np.uint8)


def mistaken_for(start: bytes) -> str | None:
    """What a file is that is no model, by its first 64 bytes: half a sentence, or None."""
    if start.lstrip().lower().startswith((b"<!doctype", b"<html")):
        return "it is a web page"
    if start.startswith(b"version https://git-lfs"):
        return "it is a Git LFS pointer, the model itself was not downloaded"
    if start.startswith((b"PK", b"\x80")):
        return "it is a pickle or zip archive, which is never opened because it can run code"
    return None
