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
    without ending.
    """
    offered = {DEFAULT: DEFAULT}
    offered |= {name: name for name in registry.MODELS if registry.on_disk(name)}
    paths = filter(None, os.environ.get("TOKENWALK_MODELS", "").split(os.pathsep))
    return offered | {Path(path).stem: path for path in paths}


def title(name: str) -> str:
    """What a model is called on the page."""
    entry = registry.MODELS.get(name)
    return entry.title if entry else name


def downloads_allowed() -> bool:
    """Whether the page may offer a download: not where TOKENWALK_NO_DOWNLOAD is set."""
    return not os.environ.get("TOKENWALK_NO_DOWNLOAD")
