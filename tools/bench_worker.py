"""One engine in one process, asked over pipes: a line of JSON in, a line of JSON out.

    bench_worker.py ENGINE PLACE

The first line out says how long the import and the opening took; then one answer per question
`{"do": METHOD, ...arguments}`. Between questions it sleeps. Knows nothing of what is measured.
"""

import json
import os
import sys
import time
from pathlib import Path

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # everything is on disk
sys.path.insert(1, str(Path(__file__).parents[1]))

from bench_others import ENGINES  # noqa: E402

ASKED = {"prefill", "decode", "logits", "memory", "work", "profile", "save"}


def main(name, place):
    """Open the engine, then answer until the input ends."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a library prints is no answer
    print(json.dumps(opened(engine := ENGINES[name](place))), file=answers, flush=True)
    for line in sys.stdin:
        print(json.dumps(answer(engine, **json.loads(line))), file=answers, flush=True)


def opened(engine):
    """Load and open; seconds of each."""
    start = time.perf_counter()
    version = engine.load()
    loaded = time.perf_counter()
    engine.open()
    return {
        "version": version,
        "import": loaded - start,
        "open": time.perf_counter() - loaded,
    }


def answer(engine, do, **arguments):
    """The answer to one question; to one about memory also the most this process ever held."""
    if do not in ASKED:
        raise ValueError(f"no question {do!r}")
    value = getattr(engine, do)(**arguments)
    return {**value, "peak": peak()} if do == "memory" else value


def peak():
    """Bytes of memory this process held at most, those of mapped files included."""
    try:
        status = Path("/proc/self/status").read_text()
        return int(status.split("VmHWM:")[1].split()[0]) << 10
    except OSError:  # macOS, which counts in bytes
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    main(*sys.argv[1:])
