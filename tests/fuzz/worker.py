"""Opens many damaged files of one format in a process of its own, and says what came of each.

Usage: python -m tests.fuzz.worker FORMAT FOLDER FIRST STOP. Prints one JSON object. An error that
is no TokenwalkError, too much time or too much memory is an offence; the number of the case under
way stands in FOLDER/at, for whoever finds this process dead.
"""

import json
import os
import random
import sys
import traceback
import warnings
from collections import Counter
from pathlib import Path

os.environ |= {"OPENBLAS_NUM_THREADS": "1", "RUST_BACKTRACE": "0"}

from core.errors import TokenwalkError  # noqa: E402
from core.record.trace import LAYERS  # noqa: E402
from core.run import MODELS, TRACES  # noqa: E402
from tests.fuzz.formats import FORMATS  # noqa: E402
from tests.fuzz.measure import MEMORY, SECONDS, Measured, limit_address_space  # noqa: E402

SEEDS, ONE_SEED = 20, {"gguf types"}  # valid models that the cases of a format are made of


class Worker:
    """One format under way."""

    def __init__(self, name, folder):
        self.folder, self.make, self.name = folder, FORMATS[name], name
        self.came, self.offences = Counter(), []
        self.slowest, self.largest = (0.0, -1), (0.0, -1)

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
        with Measured() as took:
            came = self.outcome(number, seed, path)
        self.came[came] += 1
        self.check_cost(number, took)
        self.forget()
        for name in changed:
            if name in seed.files:
                (path / name).write_bytes(seed.files[name])
            else:
                (path / name).unlink()

    def outcome(self, number, seed, path):
        try:
            return self.opened(seed, path)
        except BaseException:
            self.offences.append([number, traceback.format_exc(limit=-6)])
            return "offence"

    def check_cost(self, number, took):
        self.slowest = max(self.slowest, (took.seconds, number))
        self.largest = max(self.largest, (took.memory / 1e6, number))
        if took.seconds > SECONDS or took.memory > MEMORY:
            cost = f"took {took.seconds:.1f} s and {took.memory >> 20} MB"
            self.offences.append([number, cost])

    def opened(self, seed, path):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                return seed.use(str(path / seed.opened))
        except TokenwalkError as error:
            text = str(error)
            assert text.isprintable() and len(text) < 1000, ascii(text[:3000])
            return error.code

    def forget(self):
        """Models and runs are kept for reuse; here none is used again."""
        if not self.name.startswith("values"):  # these compare with one and the same model
            for store in (MODELS, TRACES, LAYERS):
                store.clear()

    def run(self, first, stop):
        """These cases; what each is does not depend on the others."""
        n, seeds = (1 if self.name in ONE_SEED else SEEDS), {}
        with open(self.folder / "at", "wb", 0) as at:
            for number in range(first, stop):
                os.pwrite(at.fileno(), f"{number:8}".encode(), 0)
                if number % n not in seeds:
                    seeds[number % n] = self.seed(number % n)
                self.case(number, *seeds[number % n])
        return {
            "cases": stop - first,
            "came": dict(self.came),
            "slowest": self.slowest,
            "largest": self.largest,
            "offences": self.offences[:20],
            "n_offences": len(self.offences),
        }


def main():
    """Run the cases that the command line asks for."""
    name, folder, first, stop = sys.argv[1:]
    limit_address_space()
    print(json.dumps(Worker(name, Path(folder)).run(int(first), int(stop))))


if __name__ == "__main__":
    main()
