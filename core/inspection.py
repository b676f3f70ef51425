"""What `python -m core inspect` prints: settings and tensors of a file or folder, as stored.

Knows how files are read; runs and checks nothing. The words of the command line live here.
"""

import os
from pathlib import Path

from core.files import folder, registry, safetensors, split

LONGEST = 100  # characters of a value, and of a name


def lines(path: str) -> list[str]:
    """The description of a GGUF file (of all its parts), a .safetensors file, a model's folder, or
    a model called by its name.

    Raises ModelFileError as their readers do, and as `registry.find`.
    """
    path = _located(path)
    if Path(path).is_dir():
        return _folder(folder.read(path))
    if path.lower().endswith(".safetensors"):
        file = safetensors.read(path)
        return [_head(file, "safetensors"), *_settings(file.metadata), *_tensors([file])]
    file = split.read(path)
    parts = file.parts or (file,)
    return [_head(file, _kind(file)), *_settings(file.metadata), *_tensors(parts)]


def _located(name):
    """What a name stands for, as for every command. A path stays as it was typed: a link may lead
    to a file whose own name has no ending.
    """
    found = registry.find(name)
    is_path = name not in registry.MODELS and os.path.exists(name)
    return name if is_path else str(found)


def _kind(file):
    parts = f" in {len(file.parts)} parts" if file.parts else ""
    return f"GGUF version {file.version}{parts}"


def _head(file, kind):
    start = "" if getattr(file, "parts", ()) else f", data at {file.data_offset}"
    return f"{file.path}: {kind}, {len(file.tensors)} tensors{start}"


def _folder(opened):
    names = ", ".join(path.name for path in opened.paths)
    head = f"{opened.path}: safetensors, {len(opened.tensors)} tensors, in {names}"
    return [head, *_settings(opened.config), *_tensors(opened.files)]


def _settings(table):
    return [f"  {_plain(key)} = {_short(value)}" for key, value in table.items()]


def _tensors(files):
    """One line for each tensor; with several files, a line for each of them before its tensors."""
    for file in files:
        if len(files) > 1:
            yield f"{file.path.name}: {len(file.tensors)} tensors, data at {file.data_offset}"
        for t in file.tensors.values():
            shape = " x ".join(map(str, t.shape)) or "one number"
            yield f"  {_plain(t.name)}  {t.dtype}  {shape}  at {t.offset}  {t.nbytes} bytes"


def _plain(name):
    """A name from a file, as it is unless it would steer the terminal."""
    return _cut(name if name.isprintable() else repr(name))


def _short(value):
    few = value[:4] if isinstance(value, list) else value
    more = isinstance(value, list) and len(value) > 4
    try:
        shown = repr(few)[:-1] + ", ...]" if more else repr(few)
    except RecursionError:
        shown = "nested too deep to show"
    return _cut(shown) + (f" ({len(value)} items)" if isinstance(value, list) else "")


def _cut(text):
    return text if len(text) <= LONGEST else text[:LONGEST] + "..."
