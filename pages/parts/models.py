"""Which models the pages may open: registry names on disk, and paths given when the server was
started.

Knows names; a link can neither open a path nor start a download.
"""

import os
from pathlib import Path

import lessons
from core.files import registry

DEFAULT = registry.DEFAULT.name
NANO = registry.NANO.name


def available() -> dict[str, str]:
    """Names to offer, in order, with what `open_model` takes for each. First the one that opens
    where a link names none: the default; where that is not on disk the first path that was given
    and is there, or else Nano, which comes with the program.

    TOKENWALK_MODELS holds further paths, separated as in PATH; a file is offered under its name
    without ending, a folder under its name.
    """
    here = {name: name for name in registry.MODELS if registry.on_disk(name)}
    here |= {name: name for name in registry.fetched()}
    given = _given()
    there = [name for name, path in given.items() if _exists(path)]
    openable = {*here, *there}
    first = next((n for n in (DEFAULT, *there, NANO, *here) if n in openable), DEFAULT)
    return {name: name for name in (first, DEFAULT, NANO)} | here | given


def _given():
    paths = filter(None, os.environ.get("TOKENWALK_MODELS", "").split(os.pathsep))
    return {_called(path): path for path in paths}


def _exists(path: str) -> bool:
    return os.path.exists(os.path.expanduser(path))


def _called(path: str) -> str:
    """A folder by its name, a file by its name without ending."""
    return Path(path).name if Path(path).is_dir() else Path(path).stem


def opened_as(name: str | None) -> str:
    """What `open_model` takes for a name on offer; the default where it is none."""
    given = _given()
    if name in given:
        return given[name]
    if name in (None, DEFAULT, NANO):  # asked for by every link on a page: without a look at
        return name or DEFAULT  # what else is on disk
    return available().get(name, DEFAULT)


def presets(name: str | None) -> tuple[lessons.Preset, ...]:
    """The prompts to offer for a model: Nano's own for Nano and the steps of its training, since
    they know no other world.
    """
    return lessons.presets("nano" if _of_nano(opened_as(name)) else "smollm2")


def _of_nano(name: str) -> bool:
    return name == NANO or registry.of_nano(Path(name))


def can_be_fetched(name: str) -> bool:
    """Whether a page may offer to download the model: only the one that comes as a package."""
    return isinstance(registry.MODELS.get(name), registry.Packaged)


def title(name: str) -> str:
    """What a model is called on the page."""
    entry = registry.MODELS.get(name)
    return entry.title if entry else name


def short(name: str) -> str:
    """The same in a narrow place: SmolLM2 for SmolLM2-135M-Instruct."""
    return title(name).partition("-")[0]


def downloads_allowed() -> bool:
    """Whether the page may offer a download: not where TOKENWALK_NO_DOWNLOAD is set."""
    return not os.environ.get("TOKENWALK_NO_DOWNLOAD")
