"""Opens many damaged files of one format in a process of its own, and says what came of each.

Usage: python -m tests.fuzz.worker FORMAT FOLDER FIRST STOP. Prints one JSON object. An error that
is no TokenwalkError, too much time or too much memory is an offence; the number of the case under
way stands in FOLDER/at, for whoever finds this process dead.
"""

import gc
import json
import os
import random
import resource
import sys
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path

os.environ["OPENBLAS_NUM_THREADS"] = "1"
ADDRESS_SPACE, SECONDS, MEMORY = 3 << 30, 2.0, 200 << 20
SEEDS = 18  # valid models that the cases of one process are made of


def peak() -> int:
    """The most memory this process has had, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


class Worker:
    """One format under way."""

    def __init__(self, name, folder):
        from core.errors import ModelFileError, TokenwalkError
        from tests.fuzz.formats import FORMATS

        self.refusal, self.error = ModelFileError, TokenwalkError
        self.folder, self.make, self.name = folder, FORMATS[name], name
        self.came, self.offences = Counter(), []
        self.slowest, self.memory = (0.0, None), 0

    def seed(self, n):
        """A valid model, written; it must open and run, or the cases made of it mean nothing."""
        args = (self.folder, n) if self.name.startswith("values") else (n,)
        seed, path = self.make(*args), self.folder / f"seed{n}"
        path.mkdir()
        for name, data in seed.files.items():
            (path / name).write_bytes(data)
        seed.use(str(path / seed.opened))
        self.forget()
        return seed, path

    def case(self, number, seed, path):
        """One damaged file: a model, or one TokenwalkError, in bounded time and memory."""
        rng = random.Random(f"{self.name} {number}")
        changed = seed.damage(rng)
        for name, data in changed.items():
            (path / name).write_bytes(data)
        start = time.process_time()
        try:
            came = self.opened(seed, path)
        except BaseException:
            came = "offence"
            self.offences.append([number, traceback.format_exc(limit=-6)])
        seconds = time.process_time() - start
        self.came[came] += 1
        self.slowest = max(self.slowest, (seconds, number))
        if seconds > SECONDS:
            self.offences.append([number, f"took {seconds:.1f} s"])
        self.forget()
        for name in changed:
            if name in seed.files:
                (path / name).write_bytes(seed.files[name])
            else:
                (path / name).unlink()

    def opened(self, seed, path):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                return seed.use(str(path / seed.opened))
        except self.error as error:
            text = str(error)
            assert text.isprintable() and len(text) < 1000, ascii(text[:3000])
            return error.code

    def forget(self):
        """Models and runs are kept for reuse; here none is used again."""
        from core.record.trace import LAYERS
        from core.run import MODELS, TRACES

        for store in (MODELS, TRACES, LAYERS):
            store.clear()

    def run(self, first, stop):
        n = min(SEEDS, stop - first)
        seeds = [self.seed(k) for k in range(n)]
        gc.collect()
        before = peak()
        with open(self.folder / "at", "wb", 0) as at:
            for number in range(first, stop):
                os.pwrite(at.fileno(), f"{number:8}".encode(), 0)
                self.case(number, *seeds[number % n])
                if peak() - before > MEMORY and not self.memory:
                    self.offences.append([number, f"memory grew by {peak() - before >> 20} MB"])
                    self.memory = 1
        return {
            "cases": stop - first,
            "came": dict(self.came),
            "slowest": self.slowest,
            "memory_mb": (peak() - before) / 1e6,
            "offences": self.offences[:20],
            "n_offences": len(self.offences),
        }


def main():
    """Run the cases that the command line asks for."""
    name, folder, first, stop = sys.argv[1:]
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    print(json.dumps(Worker(name, Path(folder)).run(int(first), int(stop))))


if __name__ == "__main__":
    main()
