"""The Hugging Face Hub's own client, set up our way, and what its errors mean to a reader.

Imported only while a model is fetched. It sends no telemetry, a token of the reader only to the Hub
itself, and loads over plain HTTP everywhere: unlike the Hub's other protocol that can be resumed.
"""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

import httpx2
from huggingface_hub import HfApi, constants, get_session
from huggingface_hub.errors import (
    DisabledRepoError,
    GatedRepoError,
    HfHubHTTPError,
    OfflineModeIsEnabled,
    OIDCError,
    RepositoryNotFoundError,
)
from huggingface_hub.utils import WeakFileLock, build_hf_headers, hf_raise_for_status

from core.errors import ModelFileError
from core.files.registry import OnHub

TIMEOUT_SECONDS = 10
PAUSES = (1, 2, 4)  # seconds before each further try
PASSING = (408, 429, 500, 502, 503, 504)  # statuses that may be another one in a moment
LOCK_SECONDS = 0.2  # between two tries for a lock

constants.HF_HUB_DISABLE_TELEMETRY = True  # also where others imported it before us


class Stopped(Exception):
    """The reader asked the fetch to end."""


class Cut(httpx2.RemoteProtocolError):
    """An answer ended before the file did."""


def host() -> str:
    """The address of the Hub: HF_ENDPOINT as it is now, or the public one."""
    return (os.environ.get("HF_ENDPOINT") or constants.ENDPOINT).rstrip("/")


def model_info(entry: OnHub):
    """What the Hub says of the entry's repository: commit, licence, files with sizes and hashes."""
    api = HfApi(endpoint=host())
    return api.model_info(entry.source, files_metadata=True, timeout=TIMEOUT_SECONDS)


def stream(entry: OnHub, commit: str, path: str, first: int):
    """The answer to a request for the bytes of one file from number `first` on, not yet read."""
    url = f"{host()}/{entry.source}/resolve/{commit}/{quote(path)}"
    wanted = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={first}-"} if first else {})
    headers = build_hf_headers() | wanted
    return get_session().stream("GET", url, headers=headers, timeout=TIMEOUT_SECONDS)


def check(answer) -> None:
    """Raises the client's own error where the answer is one."""
    hf_raise_for_status(answer)


def insist(action: Callable[[], None], moved: Callable[[], int], stop: Callable[[], bool]) -> None:
    """Call `action()` again after a failure that may pass.

    Raises its error once as many further tries as PAUSES have not brought moved() forward.
    """
    tries, best = 0, moved()
    while True:
        try:
            return action()
        except (httpx2.TransportError, HfHubHTTPError) as error:
            tries, best = (0, moved()) if moved() > best else (tries, best)
            if tries == len(PAUSES) or not _may_pass(error):
                raise
            wait(PAUSES[tries], stop)
            tries += 1


def wait(seconds: float, stop: Callable[[], bool]) -> None:
    """Raises Stopped as soon as `stop()` is true."""
    end = time.monotonic() + seconds
    while not stop():
        if time.monotonic() >= end:
            return
        time.sleep(min(0.1, seconds))
    raise Stopped


@contextmanager
def alone(lock: Path, stop: Callable[[], bool]) -> Iterator[None]:
    """Waits until nobody else holds `lock`, in this process or another; holds it inside."""
    with ExitStack() as stack:
        while True:
            wait(0, stop)
            with suppress(TimeoutError):
                stack.enter_context(WeakFileLock(lock, timeout=LOCK_SECONDS))
                break
        yield


def _may_pass(error) -> bool:
    if isinstance(error, HfHubHTTPError):
        return error.response.status_code in PASSING
    return not isinstance(error, httpx2.UnsupportedProtocol)


# What the client raises. HfHubHTTPError is an OSError, too: it has to be caught before those.
ERRORS = (httpx2.HTTPError, httpx2.InvalidURL, OfflineModeIsEnabled, OIDCError, UnicodeEncodeError)


def failure(error: Exception, entry: OnHub) -> ModelFileError:
    """The sentence for one of ERRORS."""
    if isinstance(error, HfHubHTTPError):
        return _refusal(error, entry)
    if isinstance(error, (OIDCError, UnicodeEncodeError)):  # a token that cannot even be sent
        return sentence("hub_token", entry)
    offline = isinstance(error, OfflineModeIsEnabled)
    reason = "HF_HUB_OFFLINE is set" if offline else str(error) or type(error).__name__
    return sentence("hub_offline", entry, reason=reason)


def _refusal(error: HfHubHTTPError, entry: OnHub) -> ModelFileError:
    status = error.response.status_code
    if isinstance(error, GatedRepoError):
        return sentence("hub_gated", entry)
    if isinstance(error, RepositoryNotFoundError):
        return sentence("hub_not_found", entry)
    disabled = isinstance(error, DisabledRepoError)
    if status in (401, 403) and not disabled and "authorization" in build_hf_headers():
        return sentence("hub_token", entry)
    phrase = httpx2.codes.get_reason_phrase(status)  # ours: a server may send any text as its own
    return sentence("hub_failed", entry, reason=f"HTTP {status} {phrase}".strip())


def sentence(code: str, entry: OnHub, **params) -> ModelFileError:
    """An error about the entry, with all that the hub_... sentences name of it."""
    page = f"{host()}/{entry.source}"
    return ModelFileError(
        code, name=entry.name, repo=entry.source, host=host(), page=page, **params
    )
