"""Keeps freed memory in the process instead of handing it back to the system at once.

A pass asks NumPy for hundreds of arrays of some megabytes and lets them go again. glibc gives such
blocks back to the system, which clears every page anew on the next request. Knows Linux's C
library; elsewhere nothing changes.
"""

import ctypes

TRIM_THRESHOLD, MMAP_THRESHOLD, ARENA_MAX = -1, -3, -8  # names of mallopt's settings
LARGEST_KEPT, MOST_KEPT = 1 << 26, 1 << 28  # bytes


def keep_freed_memory() -> bool:
    """Reuse freed blocks of up to 64 MB, and keep at most 256 MB of them, for all threads together.

    Returns whether the C library took the settings.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, TypeError, AttributeError):
        return False
    settings = ((MMAP_THRESHOLD, LARGEST_KEPT), (TRIM_THRESHOLD, MOST_KEPT), (ARENA_MAX, 1))
    return all([mallopt(name, value) for name, value in settings])
