"""Fetches in threads of their own: at most one per model, shared by everybody who asks for it.

Knows `fetch` and threads. Does not know who watches, or how progress is shown.
"""

import atexit
import threading

from core.errors import ModelFileError
from core.files.fetch import fetch

_UNDER_WAY: dict[str, "Download"] = {}
_LOCK = threading.Lock()


class Download:
    """One fetch. progress: (done, total) in bytes, or None before the first byte; error: why it
    failed, or None.
    """

    def __init__(self, name: str):
        self.name, self.progress, self.error = name, None, None
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Ask it to end; it does so in a moment, with the error fetch_stopped."""
        self._stopped.set()

    def join(self, seconds: float) -> None:
        """Wait until it has ended, not longer than this."""
        self._thread.join(seconds)

    def _run(self):
        try:
            fetch(self.name, self._note, self._stopped.is_set)
        except ModelFileError as error:
            self.error = error
        finally:
            with _LOCK:
                del _UNDER_WAY[self.name]

    def _note(self, done, total):
        self.progress = (done, total) if done else None


def start(name: str) -> Download:
    """The fetch of this model: the one under way, or a new one."""
    with _LOCK:  # a thread that ends at once waits for it, too
        if name not in _UNDER_WAY:
            _UNDER_WAY[name] = Download(name)
        return _UNDER_WAY[name]


def under_way(name: str) -> Download | None:
    """The fetch of this model that has not ended, or None."""
    return _UNDER_WAY.get(name)


@atexit.register
def stop_all() -> None:
    """A program that ends takes its pip and its half-fetched files with it."""
    for download in list(_UNDER_WAY.values()):
        download.stop()
        download.join(seconds=5)
