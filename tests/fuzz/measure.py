"""How much processor time and memory a piece of work takes, and the limits there are. Knows the
operating system only.
"""

import contextlib
import ctypes
import os
import resource
import sys
import time

SECONDS, MEMORY, ADDRESS_SPACE = 2.0, 200 << 20, 3 << 30  # of one file; of a process
CLEAR = "/proc/self/clear_refs"  # of Linux: writing 5 makes the peak what is in use now


def peak() -> int:
    """The most memory this process has had since `forget_peak`, or ever, in bytes."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def give_back():
    """Give what was freed and is still kept back to the system, where the C library can."""
    with contextlib.suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)


def forget_peak():
    """Let the peak be what is in use now, where the system can do that."""
    if os.path.exists(CLEAR):
        file = os.open(CLEAR, os.O_WRONLY)
        os.write(file, b"5")
        os.close(file)


def limit_address_space():
    """Let this process have no more than ADDRESS_SPACE, where the system can do that."""
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))


class Measured:
    """What a `with` block took: `seconds` of processor time, `memory` in bytes above the start."""

    def __enter__(self):
        forget_peak()
        self._before, self._start = peak(), time.process_time()
        return self

    def __exit__(self, *error):
        self.seconds = time.process_time() - self._start
        self.memory = peak() - self._before
