"""What is found from runs and asked for again at every click: one store for all of it, so that one
number bounds its memory. Knows nothing of what it holds but the size.
"""

from operator import attrgetter

from core.store import ByteStore

DERIVED = ByteStore(224 << 20)  # the mean maps of 1,000 tokens in 48 layers fit


def kept(trace, what: tuple, make, size=attrgetter("nbytes")):
    """What make() finds from a trace; made again when newer finds have taken its place.

    what: its name, and all that it depends on besides the run. size(value) -> bytes. The value must
    be read-only: everybody gets the same one.
    """
    return DERIVED.get((trace.key, *what), make, size)
