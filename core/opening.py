"""Opens a model: a name or a path becomes config, tokenizer and weights, once for everybody.

`Model`, `Source`, `open_model`. Knows files and text; no runs.
"""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from core.files import config, folder, identity, memory, place, registry, split, weights
from core.files.place import Place
from core.heap import keep_freed_memory
from core.model.config import ModelConfig
from core.store import ByteStore
from core.text import tokenizer
from core.text.tokenizer import Tokenizer

MODELS = ByteStore(max(6 << 30, (memory.available() or 0) // 2))
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
        embed: where the embedding table lies.
        key: what changes when a file of the model changes.
    """

    path: Path
    format: str
    sha256: str
    stored: tuple[tuple[str, int], ...]
    licence: str | None
    name: str | None
    embed: Place
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
    key = identity.stamp(path)
    return MODELS.get(key, lambda: _load(path, key), lambda model: model.weights.nbytes)


def _load(path, key):
    read, describe, words = READERS["gguf" if identity.is_gguf(path) else "safetensors"]
    file = read(path)
    described = describe(file)
    loader = weights.check(file, described)  # before a large vocabulary is made
    vocabulary, embed = words(file, described.vocab), place.of(loader, "embed")
    with ThreadPoolExecutor(1) as other:
        digest = other.submit(identity.sha256, file.opened)  # while the numbers are read
        arrays = weights.read(loader)
        digest = digest.result()
    for data in file.opened:
        data.check_same()
    source = Source(path, file.format, digest, _stored(file), *_titles(file), embed, key)
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
