"""Measure the engine on this machine: print medians and write them to bench.json.

Knows the public names of core. Also measures the memory bandwidth of the machine in the same run,
because decoding reads every weight once per token: its speed is a share of that limit.
"""

import json
import platform
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from core import RunSpec, generate, open_model, run  # noqa: E402
from core.run import TRACES  # noqa: E402

MODEL = "smollm2-135m-instruct"
OPEN = f"""
import time
start = time.perf_counter()
from core import open_model
imported = time.perf_counter()
open_model({MODEL!r})
print(imported - start, time.perf_counter() - imported)
"""


def main():
    """Measure everything, print it, write bench.json."""
    import_s, open_s = opening()
    model = open_model(MODEL)
    gb_s = bandwidth()
    results = {
        "machine": platform.machine(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "import_s": import_s,
        "open_s": open_s,
        **{f"prefill_{n}_tokens_per_s": n / prefill(n) for n in (32, 128, 512)},
        "decode_after_5_tokens_per_s": 1 / decode(5),
        "decode_after_512_tokens_per_s": 1 / decode(512),
        "trace_512_bytes": run(spec(512)).nbytes,
        "weights_bytes": model.weights.nbytes,
        "bandwidth_gb_per_s": gb_s,
    }
    limit = gb_s * 1e9 / model.weights.nbytes  # every weight is read once per token
    results["decode_limit_tokens_per_s"] = limit
    for n in (5, 512):
        results[f"decode_after_{n}_share_of_limit"] = (
            results[f"decode_after_{n}_tokens_per_s"] / limit
        )
    report(results)


def median_of(measure, times):
    """The median of several measurements, the first left out: it fills caches."""
    return statistics.median([measure() for _ in range(times + 1)][1:])


def opening(times=3):
    """Seconds for the import and for opening the model, each time in a fresh process."""

    def once():
        line = [sys.executable, "-c", OPEN]
        return subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=True).stdout

    measured = [tuple(map(float, once().split())) for _ in range(times + 1)][1:]
    return tuple(map(statistics.median, zip(*measured, strict=True)))


def spec(n, **settings):
    """A run over n tokens, greedy."""
    return RunSpec(MODEL, ids=range(1000, 1000 + n), **settings)


def prefill(n, times=5):
    """Seconds of a traced run over n tokens."""

    def once():
        TRACES.clear()
        return run(spec(n)).seconds

    return median_of(once, times)


def decode(n, steps=24):
    """Seconds per token after a prompt of n tokens; the prefill is not counted."""
    events = list(generate(spec(n, max_new_tokens=steps + 1)))
    if len(events) < steps // 2:
        raise SystemExit(f"An end token after {len(events)} tokens: too few to measure.")
    return statistics.median(event.seconds for event in events[1:])


def bandwidth(times=9):
    """Bytes per second, in GB, of a matrix-vector product too large for any cache (512 MB)."""
    matrix = np.ones((1 << 15, 1 << 12), np.float32)
    vector = np.ones(1 << 12, np.float32)

    def once():
        start = time.perf_counter()
        matrix @ vector
        return time.perf_counter() - start

    return matrix.nbytes / median_of(once, times) / 1e9


def report(results):
    """Print a table and write the file."""
    for name, value in results.items():
        print(
            f"{name:32} {value:>16,.3f}" if isinstance(value, float) else f"{name:32} {value!s:>16}"
        )
    (ROOT / "bench.json").write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
