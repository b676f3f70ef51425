"""Opens a Hugging Face folder: config.json, and safetensors in one file or in several.

Knows the files of such a folder and what may be wrong with them; no family and no numbers. Files
are opened by plain names inside the folder, whatever an index says. Pickles are never opened.
"""

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from core.errors import ModelFileError
from core.files import names, numbers, safetensors, spelling
from core.files.filebytes import FileBytes, Stretch, mistaken_for
from core.files.safetensors import SafetensorsFile, Tensor

CONFIG, SINGLE, INDEX = "config.json", "model.safetensors", "model.safetensors.index.json"
LARGEST_CONFIG, LARGEST_INDEX, LARGEST_HEADERS, MOST_SHARDS = 1 << 20, 1 << 21, 1 << 22, 256
PLAIN_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}\.safetensors")
SHARD_NAME = re.compile(r".+-\d{5}-of-\d{5}\.safetensors")
SAFE = "folders with .safetensors files, and .gguf files"


@dataclass(frozen=True)
class Folder:
    """An opened folder: config.json as it is, and the tables of all its tensors."""

    path: Path
    config: dict
    files: tuple[SafetensorsFile, ...]
    tensors: dict[str, Tensor]

    format, readable = "safetensors", ", ".join(numbers.FLOATS)

    @property
    def config_path(self) -> Path:
        """Where its settings stand."""
        return self.path / CONFIG

    @property
    def paths(self) -> list[Path]:
        """The files that make up the model, in the order of their names."""
        return [self.config_path, *(file.path for file in self.files)]

    @property
    def opened(self) -> list[FileBytes]:
        """The bytes of its safetensors files."""
        return [file.data for file in self.files]

    @property
    def tied(self) -> bool:
        """Whether the output matrix may be missing."""
        return spelling.tied(self)

    def gguf_names(self, family) -> dict[str, str | None]:
        """{a tensor's name: its name in GGUF}, without those that hold no weights."""
        wanted = (name for name in self.tensors if not names.is_beside(name, family))
        return {name: names.gguf_name(name, family) for name in wanted}

    def has_numbers(self, tensor: Tensor) -> bool:
        """Whether `numbers` can read its type."""
        return tensor.dtype in numbers.FLOATS

    def numbers(self, tensor: Tensor) -> np.ndarray:
        """The numbers of a tensor, float32 in one row."""
        return numbers.from_floats(self.stored(tensor), tensor.dtype)

    def stored(self, tensor: Tensor) -> Stretch:
        """The bytes of a tensor as they lie in the file."""
        file = next(f for f in self.files if tensor.name in f.tensors)
        return Stretch(file.data, tensor.offset, tensor.nbytes)


def read(path) -> Folder:
    """Open a folder, or the folder of the config.json or .safetensors file that is given.

    Raises ModelFileError: no model in it, pickles only, a part missing, damage, or not readable.
    """
    try:
        return _read(Path(path))
    except OSError as error:  # what may not be looked at, say
        raise ModelFileError("cannot_read", path=str(path), reason=str(error.strerror)) from None


def _read(path):
    folder = path if path.is_dir() else path.parent
    if not (folder / CONFIG).is_file():
        others = sorted(file.name[:80] for file in folder.iterdir() if file.suffix == ".gguf")
        reason = f"the folder {folder.name} has no {CONFIG}"
        reason += f", but there is {', '.join(others[:3])}" if others else ""
        raise ModelFileError("not_a_model", path=str(path), reason=reason)
    config = read_json(folder / CONFIG, LARGEST_CONFIG)
    own = path.suffix == ".safetensors" and not SHARD_NAME.fullmatch(path.name)
    files = _files(folder, path.name if own and path.is_file() else SINGLE)
    tensors = {name: t for file in files for name, t in file.tensors.items()}
    return Folder(folder, config, tuple(files), tensors)


def read_json(path: Path, most: int) -> dict:
    """A table in a JSON file of at most `most` bytes. Raises ModelFileError naming the file."""

    def fail(reason, line=1):
        return ModelFileError("broken", path=str(path), place=f"line {line}", reason=reason)

    try:
        with open(path, "rb") as file:  # no more than it has: some files of a system have no end
            text = file.read(min(os.fstat(file.fileno()).st_size, most + 1))
    except OSError as error:
        raise ModelFileError("cannot_read", path=str(path), reason=str(error.strerror)) from None
    if reason := mistaken_for(text[:64]):
        raise ModelFileError("not_a_model", path=str(path), reason=reason)
    if len(text) > most:
        raise fail(f"it has more than {most} bytes")
    try:
        table = json.loads(text.decode(), object_pairs_hook=safetensors.unique)
    except json.JSONDecodeError as error:
        raise fail(f"it is no JSON table ({error.msg[:80]})", error.lineno) from None
    except ValueError as error:
        raise fail(f"it is no JSON table ({str(error)[:80]})") from None
    except RecursionError:
        raise fail("it is nested too deep") from None
    if not isinstance(table, dict):
        raise fail("it is no JSON table")
    return table


def _files(folder, single):
    """The opened safetensors files of a folder."""
    if (folder / single).is_file():
        return [safetensors.read(folder / single)]
    if (folder / INDEX).is_file():
        return _shards(folder)
    there = sorted(path.name for path in folder.iterdir())
    if any(SHARD_NAME.fullmatch(name) for name in there):
        raise _missing(folder, INDEX)
    for name in there:
        if name.endswith((".bin", ".pt", ".pth", ".ckpt", ".pkl")):
            reason = f"{name} is a pickle, which is never opened because it can run code"
            raise ModelFileError("unsupported", path=str(folder), reason=reason, supported=SAFE)
    raise _missing(folder, SINGLE)


def _missing(folder, name):
    return ModelFileError("missing_part", path=str(folder), part=name)


def _shards(folder):
    """All files that the index names; what it says of each tensor must be so."""
    table = read_json(folder / INDEX, LARGEST_INDEX).get("weight_map")
    if not isinstance(table, dict) or not table:
        raise _wrong(folder, "it has no weight_map")
    shards = sorted({_plain(folder, name) for name in table.values()})
    if len(shards) > MOST_SHARDS:
        raise _wrong(folder, f"{len(shards)} files are more than {MOST_SHARDS}")
    for name in shards:
        if not (folder / name).is_file():
            raise _missing(folder, name)
    files, room = {}, LARGEST_HEADERS
    for name in shards:
        files[name] = _shard(folder, name, table)
        room -= files[name].data_offset
        if room < 0:
            raise _wrong(folder, f"the tables of its files exceed {LARGEST_HEADERS} bytes")
    for tensor, name in table.items():
        if tensor not in files[name].tensors:
            raise _wrong(folder, f"{name} does not hold {tensor[:80]!r}")
    return list(files.values())


def _plain(folder, name):
    """The name of a file in the folder itself: no path from an index is followed."""
    if not isinstance(name, str) or not PLAIN_NAME.fullmatch(name):
        raise _wrong(folder, f"{str(name)[:80]!r} is not the plain name of a .safetensors file")
    return name


def _shard(folder, name, table):
    """One opened file; the index must say of each of its tensors that it is in there."""
    file = safetensors.read(folder / name)
    for tensor in file.tensors:
        if table.get(tensor) != name:
            raise _wrong(folder, f"{name} holds {tensor[:80]!r}, which it does not say")
    return file


def _wrong(folder, reason):
    return ModelFileError("broken", path=str(folder), place=INDEX, reason=reason)
