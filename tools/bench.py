"""Measure the engine beside others on the same weights; print a table, write bench.json.

Ours runs always; transformers, TransformerLens and llama.cpp where `make bench-others` has
installed them. Every engine lives in a process of its own with all cores, and they take turns,
one figure each: ratios are those of figures taken within seconds of each other.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench_others import ENGINES
from bench_ours import CORES, MODEL
from bench_table import judge, report

ROOT = Path(__file__).parents[1]
HERE = Path(__file__).parent
sys.path.insert(1, str(ROOT))

from core.files import registry  # noqa: E402

MEASURES = [("prefill", 32), ("prefill", 128), ("prefill", 512), ("decode", 32), ("decode", 512)]
PROMPTS = [32, 128, 512]
PROFILES = [("decode", 32), ("decode", 512), ("prefill", 128), ("prefill", 512)]
AGREE = {"transformers": 1e-4, "transformer-lens": 1e-4, "llama.cpp": 0.2}  # of the largest score
OTHERS = ("transformers", "transformer-lens", "llama.cpp")
INSTALL = {
    "transformers": "make bench-others",
    "transformer-lens": "make bench-others",
    "llama.cpp": "{python} -m pip install llama-cpp-python==0.3.36 (compiles for minutes)",
}
BEGIN = time.perf_counter()
PAUSE = 0.05  # seconds in which the threads of the engine before stop waiting for work


class Worker:
    """An engine in a process of its own (see bench_worker), and what it said on opening."""

    def __init__(self, name, python, place, log):
        command = [str(python), str(HERE / "bench_worker.py"), name, str(place)]
        self.name, self.log = name, log
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, env=environment()
        )
        self.opened = self._answer()

    def ask(self, do, **arguments):
        """The answer to a question, after a pause."""
        time.sleep(PAUSE)
        self.process.stdin.write(json.dumps({"do": do, **arguments}).encode() + b"\n")
        self.process.stdin.flush()
        return self._answer()

    def _answer(self):
        if line := self.process.stdout.readline():
            return json.loads(line)
        self.log.seek(0)
        raise SystemExit(
            f"{self.name} ended:\n{self.log.read()[-2000:].decode('utf-8', 'replace')}"
        )

    def close(self):
        """End the process."""
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()


def environment():
    """This one, with all cores for every library and no choice of kernel imposed."""
    imposed = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
    threads = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
    kept = {name: value for name, value in os.environ.items() if name not in imposed}
    return kept | dict.fromkeys(threads, str(CORES)) | {"TQDM_DISABLE": "1"}


def main():
    """Measure everything, print it, write bench.json."""
    options = arguments()
    load = os.getloadavg()[0]
    pythons = installed(options.others)
    with tempfile.TemporaryDirectory() as folder, open(Path(folder) / "log", "w+b") as log:
        bench = Bench(pythons, Path(folder) / "model", log)
        results = {"machine": machine(load), "rounds_timed": options.rounds}
        results |= bench.measure(options.rounds)
    results["bench_seconds"] = time.perf_counter() - BEGIN
    judge(results)
    (ROOT / "bench.json").write_text(json.dumps(results, indent=2) + "\n")
    report(results)


def arguments():
    """What can be said on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7, help="rounds that count (default 7)")
    parser.add_argument(
        "--others",
        type=Path,
        default=ROOT / ".venv-bench" / "bin" / "python",
        help="the Python that has the other engines (default .venv-bench/bin/python)",
    )
    return parser.parse_args()


def installed(others):
    """Engine -> the Python it runs in. Says in one line each which are left out, and why."""
    pythons = {"tokenwalk": sys.executable, "limits": sys.executable}
    for name in OTHERS:
        has = [python for python in (others, sys.executable) if has_modules(python, name)]
        if has:
            pythons[name] = has[0]
        else:
            print(f"Without {name}. To install: {INSTALL[name].format(python=others)}")
    return pythons


def has_modules(python, name):
    """Whether what an engine needs is installed there."""
    find = (
        "import importlib.util, sys; sys.exit(not all(map(importlib.util.find_spec, sys.argv[1:])))"
    )
    try:
        return not subprocess.run([python, "-c", find, *ENGINES[name].needs]).returncode
    except OSError:  # no such Python
        return False


def machine(load):
    """What the figures depend on."""
    return {
        "machine": platform.machine(),
        "system": platform.system(),
        "python": platform.python_version(),
        "cores": CORES,
        "load_before": load,
    }


class Bench:
    """All measurements of one run."""

    def __init__(self, pythons, folder, log):
        self.pythons, self.log = pythons, log
        self.places = dict.fromkeys(ENGINES, registry.path_of(MODEL).resolve())
        self.places |= dict.fromkeys(("transformers", "transformer-lens"), folder)
        self.opened = {name: [] for name in pythons}

    def start(self, name, python=None):
        """A worker of this engine, fresh."""
        worker = Worker(name, python or self.pythons[name], self.places[name], self.log)
        self.opened.setdefault(name, []).append(worker.opened)
        return worker

    def measure(self, rounds):
        """Everything, in the order that disturbs the figures least."""
        self.save_folder()
        ours = self.memory_of_ours()
        say("opening the engines")
        workers = {name: self.start(name) for name in self.pythons}
        try:
            memory = {"tokenwalk": ours} | memory_of_others(workers)
            measured = {"agreement": agreement(workers), "rounds": self.rounds(workers, rounds)}
            say("where the time of tokenwalk goes")
            ask = workers["tokenwalk"].ask
            profiles = {f"{do}_{n}": ask("profile", kind=do, n=n) for do, n in PROFILES}
        finally:
            for worker in workers.values():
                worker.close()
        return {"opened": self.opened, "memory": memory, **measured, "profiles": profiles}

    def save_folder(self):
        """What transformers reads from the GGUF file, as the folder that its workers open."""
        if "transformers" in self.pythons:
            say("transformers reads the GGUF file and saves it as a folder")
            with self.start("from-gguf", self.pythons["transformers"]) as worker:
                worker.ask("save", folder=str(self.places["transformers"]))

    def memory_of_ours(self):
        """Prompt -> what a fresh process held after running it and reading all of it."""
        held = {}
        for n in (128, 512):
            say(f"memory of tokenwalk, {n} tokens")
            with self.start("tokenwalk") as worker:
                held[n] = worker.ask("memory", n=n)
        return held

    def rounds(self, workers, rounds):
        """Measure -> engine -> seconds of each round; the first round fills caches and is left
        out.
        """
        work = workers["tokenwalk"].ask("work", prompts=PROMPTS)
        seconds = {f"{do}_{n}": {name: [] for name in workers} for do, n in MEASURES}
        for i in range(rounds + 1):
            say(f"round {i} of {rounds}" + " (left out)" * (i == 0))
            for do, n in MEASURES:
                for name, worker in workers.items():
                    if getattr(ENGINES[name], do) is not None:
                        took = worker.ask(do, **question(name, do, n, work))
                        seconds[f"{do}_{n}"][name] += [took] * (i > 0)
        return seconds


def question(name, do, n, work):
    """What an engine is asked: a prompt, or (the machine itself) the same amount of work."""
    if name != "limits":
        return {"n": n}
    return {"flops": work["flops"][str(n)]} if do == "prefill" else {"n_bytes": work["bytes"]}


def memory_of_others(workers):
    """Engine -> prompt -> what it held; asked before anything else, the shorter prompt first."""
    say("memory of the others")
    names = [name for name in workers if name in OTHERS]
    return {name: {n: workers[name].ask("memory", n=n) for n in (128, 512)} for name in names}


def agreement(workers):
    """Engine -> largest difference of a score to ours, relative to the largest score.

    Engines that compute something else are not compared: SystemExit.
    """
    scores = {
        name: worker.ask("logits", n=128) for name, worker in workers.items() if name != "limits"
    }
    ours, found = scores.pop("tokenwalk"), {}
    for name, theirs in scores.items():
        worst = max(abs(a - b) for a, b in zip(ours, theirs, strict=True))
        found[name] = worst / max(map(abs, ours))
        if not found[name] <= AGREE[name]:
            raise SystemExit(f"{name} computes other scores than tokenwalk: {found[name]:.2g} off")
    return found


def say(what):
    """Progress, on the error stream."""
    print(f"{time.perf_counter() - BEGIN:5.0f} s: {what}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
