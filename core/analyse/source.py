"""The code of a function as it stands in its file, for pages that show it. Knows no figures."""

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Source:
    """The text of some functions. file: where they stand, from the project's folder on."""

    source: str
    file: str


def joined(*parts) -> Source:
    """The code of several parts as one: ops of the catalogue, or other sources."""
    files = dict.fromkeys(part.file for part in parts)
    return Source("\n\n".join(part.source for part in parts), ", ".join(files))


@functools.cache  # finding a function in its file takes milliseconds
def of(*functions: Callable) -> Source:
    """The code of one function or several of one file."""
    file = Path(inspect.getsourcefile(functions[0])).relative_to(ROOT)
    return Source("\n\n".join(map(inspect.getsource, functions)), file.as_posix())
