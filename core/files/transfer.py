"""Loads one file from the Hub: goes on where an earlier try ended, and keeps only what is verified.

Knows bytes, ranges and hashes; knows neither models nor what is shown meanwhile.
"""

import os
import time
from pathlib import Path

from core.files import client
from core.files.receipt import HubFile
from core.files.registry import OnHub

REPORT_SECONDS = 0.1
PARTIAL, NOT_THERE = 206, 416  # HTTP's answers to a range


def part_of(file: HubFile, folder: Path) -> Path:
    """Where the file's bytes lie until all are there. The digest is in the name: what has arrived
    of another version does not go with this one.
    """
    return folder / f".{file.name}.{file.digest.rpartition(':')[2][:16]}.part"


def arrived(file: HubFile, folder: Path) -> int:
    """How many of its bytes are there."""
    part = part_of(file, folder)
    return part.stat().st_size if part.exists() else 0


def load(entry: OnHub, commit: str, file: HubFile, folder: Path, tell, stop) -> None:
    """Put the whole, verified file into `folder`. tell(arrived bytes) is called as they come.

    Raises ModelFileError("hub_wrong_hash"), client.Stopped, client.ERRORS, OSError.
    """
    part = part_of(file, folder)
    _drop_others(part, file, folder)
    if arrived(file, folder) > file.nbytes:
        part.unlink()

    def go_on():
        _append(entry, commit, file, part, tell, stop)

    client.insist(go_on, lambda: arrived(file, folder), stop)
    _put_in_place(entry, file, part, folder)


def _append(entry, commit, file, part, tell, stop):
    """Ask for the bytes that are missing, and write them as they come."""
    first = part.stat().st_size if part.exists() else 0
    tell(first)
    if first == file.nbytes > 0:
        return
    with client.stream(entry, commit, file.path, first) as answer:
        if answer.status_code == NOT_THERE:
            part.unlink(missing_ok=True)  # the next try begins again
        client.check(answer)
        goes_on = answer.status_code == PARTIAL  # a server may also begin again
        with part.open("ab" if goes_on else "wb") as target:
            _write(answer, target, file.nbytes, tell, stop)
    if part.stat().st_size < file.nbytes:
        raise client.Cut("it ended before the file did")


def _write(answer, target, nbytes, tell, stop):
    told = 0.0
    for block in answer.iter_bytes():  # as they come: a broken connection loses none
        if stop():
            raise client.Stopped
        target.write(block)
        target.flush()  # whoever ends us now leaves all that arrived
        if time.monotonic() > told + REPORT_SECONDS:
            told = time.monotonic()
            tell(min(target.tell(), nbytes))
        if target.tell() > nbytes:  # not this file: its hash will say so
            return


def _put_in_place(entry, file, part, folder):
    if not file.is_whole(part):
        part.unlink()
        raise client.sentence("hub_wrong_hash", entry, file_name=file.path)
    with part.open("rb+") as written:
        os.fsync(written.fileno())
    os.replace(part, folder / file.name)


def _drop_others(part, file, folder):
    """What an earlier fetch left of another version of this file."""
    for other in folder.glob(f".{file.name}.*.part"):
        if other != part:
            other.unlink()
