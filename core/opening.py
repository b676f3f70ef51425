"""Opens a model: a name or a path becomes config, tokenizer and weights, once for everybody.

`Model`, `Source`, `open_model`. Knows files and text; no runs.
"""

import hashlib
import re
import threading
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from core.files import config, folder, memory, registry, split, weights
from core.heap import keep_freed_memory
from core.model.config import ModelConfig
from core.store import ByteStore
from core.text import tokenizer
from core.text.tokenizer import Tokenizer

MODELS = ByteStore(max(6 << 30, (memory.available() or 0) // 2))
PART = re.compile(r"-\d{5}-of-\d{5}\.gguf$")
keep_freed_memory()


@dataclass(frozen=True)
class Source:
    """Where a model came from.

    Attributes:
        path: its .gguf file (any part of a split one) or its folder. format: "gguf" or
            "safetensors".
        sha256: of the file with the weights; of several, the sha256 of the list that `sha256sum`
            prints for them.
        stored: how many tensors are stored as each type of number, ((type, count), ...), the most
            frequent first.
        licence, name: as the file says, or None.
        key: what changes when a file of the model changes.
    """

    path: Path
    format: str
    sha256: str
    stored: tuple[tuple[str, int], ...]
    licence: str | None
    name: str | None
    key: tuple


@dataclass(frozen=True, eq=False)
class Model:
    """A model that is ready to run; everything in it is read-only and shared."""

    config: ModelConfig
    tokenizer: Tokenizer
    weights: weights.Weights
    source: Source


def open_model(name: str) -> Model:
    """A registry name, a path to a .gguf file, or a Hugging Face folder becomes a Model.

    Raises ModelFileError. Memoised by resolved path, size and time of change, in a store bounded in
    bytes.
    """
    path = registry.find(name)
    key = _key(path)
    return MODELS.get(key, lambda: _load(path, key), lambda model: model.weights.nbytes)


def _key(path):
    """Names, sizes and times of change of all files that may belong to the model."""
    stats = ((file, file.stat()) for file in _files(path))
    return str(path), *((file.name, s.st_size, s.st_mtime_ns) for file, s in stats)


def _files(path):
    if path.is_file() and path.suffix != ".safetensors" and path.name != folder.CONFIG:
        parts = path.parent.glob(PART.sub("-*.gguf", path.name)) if PART.search(path.name) else ()
        return sorted({path, *(part for part in parts if PART.search(part.name))})
    home = path if path.is_dir() else path.parent
    return sorted(file for file in home.iterdir() if file.is_file())


def _load(path, key):
    is_gguf = path.is_file() and path.suffix != ".safetensors" and path.name != folder.CONFIG
    read, describe, words = READERS["gguf" if is_gguf else "safetensors"]
    file = read(path)
    described = describe(file)
    digest = _InThread(lambda: _sha256(file))  # while the numbers are read
    vocabulary = words(file, described.vocab)
    arrays = weights.load(file, described)
    source = Source(path, file.format, digest.result(), _stored(file), *_titles(file), key)
    return Model(described, vocabulary, arrays, source)


READERS = {
    "gguf": (split.read, config.from_gguf, tokenizer.from_gguf),
    "safetensors": (
        folder.read,
        config.from_folder,
        lambda opened, n: tokenizer.from_folder(opened.path, n),
    ),
}


def _stored(file):
    """((type, count), ...) of all tensors."""
    return tuple(Counter(tensor.dtype for tensor in file.tensors.values()).most_common())


def _titles(file):
    """Licence and name, where the file says them as texts."""
    metadata = file.metadata if file.format == "gguf" else {}
    found = (metadata.get(f"general.{key}") for key in ("license", "name"))
    return [value if isinstance(value, str) else None for value in found]


def _sha256(file):
    digests = {}
    for path in file.paths:
        if path.name != folder.CONFIG:
            with open(path, "rb") as data:
                digests[path.name] = hashlib.file_digest(data, "sha256").hexdigest()
    if len(digests) == 1:
        return digests.popitem()[1]
    lines = "".join(f"{digest}  {name}\n" for name, digest in digests.items())
    return hashlib.sha256(lines.encode()).hexdigest()


class _InThread:
    """A function under way in a thread of its own; `result` waits for it and raises its error."""

    def __init__(self, function):
        self._value, self._error = None, None
        self._thread = threading.Thread(target=self._run, args=(function,), daemon=True)
        self._thread.start()

    def _run(self, function):
        try:
            self._value = function()
        except Exception as error:
            self._error = error

    def result(self):
        self._thread.join()
        if self._error is not None:
            raise self._error
        return self._value
