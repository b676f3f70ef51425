"""Fetches a model from the Hugging Face Hub, into a folder with a receipt.

Each file appears in the folder only when it is whole and verified, and the receipt last. What has
arrived when a fetch ends early is kept, and the next one goes on from there.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from core.files import client, disk, listing, receipt, transfer
from core.files.registry import OnHub, folder_of, path_of, receipt_of


def fetch(entry: OnHub, progress, stop) -> Path:
    """Bring the files of `entry` onto this computer; returns their path. What is there is verified
    and kept, without the network where it is all. Arguments and errors as of
    `core.files.fetch.fetch`.
    """
    needed = 0
    try:
        if not _is_whole(entry):
            found = listing.look_up(entry)
            needed = sum(file.nbytes for file in found.files)
            with _folder(entry, stop) as folder:
                _bring(entry, found, folder, progress, stop)
    except (KeyboardInterrupt, client.Stopped):
        raise client.sentence("hub_stopped", entry) from None
    except client.ERRORS as error:
        raise client.failure(error, entry) from error
    except OSError as error:
        raise disk.failure(error, entry.name, needed) from error
    return path_of(entry.name)


def _is_whole(entry) -> bool:
    there, folder = receipt_of(entry), folder_of(entry)
    return there is not None and all(f.is_whole(folder / f.name) for f in there.files)


@contextmanager
def _folder(entry, stop) -> Iterator[Path]:
    """The entry's folder, for us alone. It goes again where nothing came into it."""
    folder = folder_of(entry)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with client.alone(folder.parent / f".{folder.name}.lock", stop):
        folder.mkdir(exist_ok=True)
        try:
            yield folder
        finally:
            with suppress(OSError):  # it is not empty
                folder.rmdir()


def _bring(entry, found, folder, progress, stop):
    """The files that are missing, small ones first; then the receipt."""
    missing = [f for f in found.files if not f.is_whole(folder / f.name)]
    _check_space(entry, missing, folder)
    if missing:
        _forget(folder, found)
    total = sum(file.nbytes for file in found.files)
    done = total - sum(file.nbytes for file in missing)
    for file in sorted(missing, key=lambda file: file.nbytes):

        def tell(n, before=done):
            progress(before + n, total)

        transfer.load(entry, found.commit, file, folder, tell, stop)
        done += file.nbytes
    progress(done, total)
    receipt.write(folder, _receipt(entry, found))


def _check_space(entry, missing, folder):
    coming = sum(file.nbytes - transfer.arrived(file, folder) for file in missing)
    if disk.free_bytes() < coming:
        raise disk.full(entry.name, coming)


def _forget(folder, found):
    """An earlier receipt says no more what is here; files that only it knows of go with it."""
    old, names = receipt.read(folder), {file.name for file in found.files}
    (folder / receipt.FILE).unlink(missing_ok=True)
    for file in old.files if old else ():
        if file.name not in names:
            (folder / file.name).unlink(missing_ok=True)


def _receipt(entry, found):
    licence = entry.licence or found.licence
    return receipt.Receipt(
        entry.full_name, found.commit, licence, found.n_parameters, tuple(found.files)
    )
