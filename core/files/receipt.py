"""The receipt of a model fetched from the Hub: which files belong to it, their sizes and hashes.

It is written last, so a folder with a receipt is a whole model. Knows folders and JSON; does not
know who listed the files, or how they came here.
"""

import hashlib
import json
import os
import re
from dataclasses import asdict, dataclass
from pathlib import Path

FILE = "fetched.json"
MOST_BYTES = 1 << 20
PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,199}")  # a file's name, in the folder itself
LICENCE = re.compile(r"[A-Za-z0-9._+ -]{1,40}")


@dataclass(frozen=True)
class HubFile:
    """A file as the Hub lists it. path: in the repository; digest: "sha256:..." of a large file,
    "git:..." (the name git gives its content) of a small one, "" where none was listed.
    """

    path: str
    nbytes: int
    digest: str

    @property
    def name(self) -> str:
        """What it is called on this computer: folders of the repository are left out."""
        return self.path.rpartition("/")[2]

    def is_whole(self, path: Path) -> bool:
        """Whether the file at `path` is this one: all bytes are read."""
        return self.has_size(path) and self.digest in ("", self._digest_of(path))

    def has_size(self, path: Path) -> bool:
        """Whether a file of this size is at `path`."""
        try:
            return path.is_file() and path.stat().st_size == self.nbytes
        except OSError:
            return False

    def _digest_of(self, path: Path) -> str:
        kind = self.digest.partition(":")[0]
        state = hashlib.sha256() if kind == "sha256" else hashlib.sha1(b"blob %d\0" % self.nbytes)
        with path.open("rb") as file:
            return f"{kind}:{hashlib.file_digest(file, lambda: state).hexdigest()}"


@dataclass(frozen=True)
class Receipt:
    """What was fetched: the name on the Hub, the commit, what its page says, and the files."""

    name: str
    commit: str
    licence: str | None
    n_parameters: int | None
    files: tuple[HubFile, ...]

    @property
    def nbytes(self) -> int:
        """Of all files."""
        return sum(file.nbytes for file in self.files)


def read(folder: Path) -> Receipt | None:
    """The receipt in `folder`; None where there is none, or a file that is not ours."""
    try:
        with (folder / FILE).open("rb") as file:
            text = file.read(MOST_BYTES + 1)
        return _receipt(json.loads(text)) if len(text) <= MOST_BYTES else None
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None


def write(folder: Path, receipt: Receipt) -> None:
    """Put the receipt into `folder`: whole, or not at all."""
    new = folder / f".{FILE}"
    with new.open("w", encoding="ascii") as file:
        json.dump(asdict(receipt), file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    os.replace(new, folder / FILE)


def _receipt(table) -> Receipt:
    files = tuple(_file(**entry) for entry in table["files"])
    licence, n_parameters = licence_of(table["licence"]), count_of(table["n_parameters"])
    if not files:
        raise ValueError("no files")
    return Receipt(str(table["name"]), str(table["commit"]), licence, n_parameters, files)


def _file(path, nbytes, digest) -> HubFile:
    file = HubFile(str(path), nbytes, str(digest))
    if count_of(nbytes) is None or not PLAIN.fullmatch(file.name):
        raise ValueError(file.path)
    return file


def licence_of(value) -> str | None:
    """A licence's name as somebody else wrote it, where it is a plain short one."""
    return value if isinstance(value, str) and LICENCE.fullmatch(value) else None


def count_of(value) -> int | None:
    """A whole number that may count bytes or parameters, or None."""
    return value if type(value) is int and 0 <= value < 1 << 50 else None
