"""How much memory this process may still take, and the refusal of what would not fit.

Knows the operating system's own figures. Does not know what the memory is for.
"""

import ctypes
import os
import sys
from pathlib import Path

from core.errors import ModelFileError

MB = 1_000_000
UNLIMITED = 1 << 60  # a control group of version 1 writes "no limit" as a number near 2^63


def available() -> int | None:
    """Bytes this process may still take: the least of what is free on the machine, in its control
    groups and under its address limit. None where the system says nothing.
    """
    known = [n for n in (_of_machine(), _of_groups(), _of_address_space()) if n is not None]
    return max(min(known), 0) if known else None


def check(path, needed: int) -> None:
    """Raises ModelFileError("too_large") where `needed` bytes are more than is available."""
    free = available()
    if free is not None and needed > free:
        sizes = {"needed_mb": -(-needed // MB), "available_mb": free // MB}
        raise ModelFileError("too_large", path=str(path), **sizes)


def _of_machine() -> int | None:
    if sys.platform == "win32":
        return _of_windows()
    free = _of_linux(Path("/proc"))
    return _of_unix() if free is None else free


def _of_linux(proc: Path) -> int | None:
    """MemAvailable: free pages and those that the kernel would give back."""
    for line in _text(proc / "meminfo").splitlines():
        name, _, amount = line.partition(":")
        if name == "MemAvailable":
            return int(amount.split()[0]) * 1024
    return None


def _of_unix() -> int | None:
    """All the memory there is: macOS does not say simply how much of it is free."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def _of_windows() -> int | None:
    """ullAvailPhys of GlobalMemoryStatusEx: a length, a load, then seven counts of bytes."""
    status = (ctypes.c_uint64 * 8)(ctypes.sizeof(ctypes.c_uint64 * 8))
    done = ctypes.windll.kernel32.GlobalMemoryStatusEx(ctypes.byref(status))
    return status[2] if done else None


def _of_groups(proc: Path = Path("/proc"), root: Path = Path("/sys/fs/cgroup")) -> int | None:
    """The least room in the control groups of this process and in those above them."""
    rooms = []
    for line in _text(proc / "self" / "cgroup").splitlines():
        number, controllers, place = line.split(":", 2)
        if number == "0":
            rooms += _rooms(root, place, "memory.max", "memory.current", "inactive_file")
        elif "memory" in controllers.split(","):
            files = "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"
            rooms += _rooms(root / "memory", place, *files)
    return min(rooms, default=None)


def _rooms(root, place, limit_file, usage_file, cache_key):
    """Limit minus usage of each group from `place` up to the root; file caches can be given back.

    In a container the group's own folder may be mounted as the root, so that is asked, too.
    """
    steps = [part for part in place.split("/") if part not in ("", "..")]
    for depth in range(len(steps), -1, -1):
        group = root.joinpath(*steps[:depth])
        limit, usage = _number(group / limit_file), _number(group / usage_file)
        if limit is not None and usage is not None and limit < UNLIMITED:
            cache = dict(line.split() for line in _text(group / "memory.stat").splitlines())
            yield limit - usage + int(cache.get(cache_key, 0))


def _of_address_space() -> int | None:
    """What RLIMIT_AS leaves (`ulimit -v`)."""
    try:
        import resource  # not on Windows
    except ImportError:
        return None
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    pages = _text(Path("/proc/self/statm")).split()
    if limit == resource.RLIM_INFINITY or not pages:
        return None
    return limit - int(pages[0]) * resource.getpagesize()


def _number(path: Path) -> int | None:
    text = _text(path).strip()
    return int(text) if text.isdecimal() else None  # "max" is no limit


def _text(path: Path) -> str:
    try:
        return path.read_text("ascii", "replace")
    except OSError:
        return ""
