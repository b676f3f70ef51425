"""What `make bench` asks of an engine, and the two that need nothing else: ours, and the machine.

Knows how to run and time our own engine, and the same amount of work without it. A library is
imported when its engine is loaded: each worker process has its own. Nothing is printed here.
"""

import os
import statistics
import time

MODEL = "smollm2-135m-instruct"
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
STEPS = 24  # tokens decoded for one figure


def ids_of(n):
    """The prompt of n tokens that every engine runs."""
    return list(range(1000, 1000 + n))


def seconds_of(function, *args):
    """How long a call takes."""
    start = time.perf_counter()
    function(*args)
    return time.perf_counter() - start


class Engine:
    """What the driver asks of every engine. One object lives in one process.

    Attributes:
        needs: modules that must be installed. place: the file or folder it opens.
    """

    needs = ()

    def __init__(self, place):
        self.place = place

    def load(self):
        """Import the library; return name and version."""

    def open(self):
        """Make the model ready to run."""

    def start(self, n):
        """Make ready for one prefill of n tokens; not timed."""

    def run(self, n):
        """Prefill n tokens, up to the scores of the last position, which are returned."""

    def prefill(self, n):
        """Seconds of one prefill; the median of some where it is short."""
        measured = []
        for _ in range(max(1, 128 // n)):
            self.start(n)
            measured.append(seconds_of(self.run, n))
        return statistics.median(measured)

    def logits(self, n):
        """The scores after n tokens, as a list."""
        self.start(n)
        return [float(x) for x in self.run(n)]


class Tokenwalk(Engine):
    """Ours: a prefill is a traced run (the checkpoints are recorded)."""

    needs = ("numpy", "gguf", "tokenizers")

    def load(self):
        import numpy

        import core
        from core.run import TRACES

        self.core, self.traces = core, TRACES
        return f"this folder (numpy {numpy.__version__})"

    def open(self):
        self.model = self.core.open_model(MODEL)

    def start(self, n):
        self.traces.clear()

    def run(self, n):
        return self.core.run(self.spec(n)).logits()

    def spec(self, n, **settings):
        return self.core.RunSpec(MODEL, ids=ids_of(n), **settings)

    def decode(self, n):
        """Seconds per token after a prompt of n tokens; the prefill is not counted."""
        events = list(self.core.generate(self.spec(n, max_new_tokens=STEPS + 1)))
        if len(events) < STEPS // 2:
            raise RuntimeError(f"an end token after {len(events)} tokens: too few to measure")
        return statistics.median(event.seconds for event in events[1:])

    def memory(self, n):
        """Run n tokens and read every op of every layer once; bytes of the trace and of all that
        was read.
        """
        from core.model.axes import VOCAB_OPS

        trace, start = self.core.run(self.spec(n)), time.perf_counter()
        outside = (*trace.catalogue.before, *trace.catalogue.after)
        pairs = [(op, None) for op in outside if op not in VOCAB_OPS]
        pairs += [(op, i) for i, block in enumerate(trace.catalogue.blocks) for op in block]
        read = sum(trace.read(*pair).nbytes for pair in pairs) + trace.logits().nbytes
        return {"trace": trace.nbytes, "read": read, "seconds": time.perf_counter() - start}

    def work(self, prompts):
        """What one pass cannot do without: bytes of weights per decoded token, and multiplications
        and additions per prompt (causal attention, scores of the last position only).
        """
        c, w = self.model.config, self.model.weights
        inside = sum(a.size for a in w.arrays() if a.ndim == 2) - w.embed.size
        inside -= 0 if w.tied else w.head.size
        pair = 4 * c.n_layers * c.n_heads * c.head_dim  # one query and one key: score and mix
        flops = {n: 2 * (inside * n + w.head.size) + pair * n * (n + 1) // 2 for n in prompts}
        return {"bytes": 4 * (inside + w.head.size), "flops": flops}

    def profile(self, kind, n):
        """Seconds of a prefill or of decoding a token, op by op (see bench_profile)."""
        import bench_profile

        return bench_profile.profile(self, kind, n)


class Limits(Engine):
    """The machine itself, by NumPy's BLAS: what the same work would take at its best rates."""

    needs = ("numpy",)

    def load(self):
        import numpy as np

        self.matrix = np.ones((1 << 15, 1 << 12), np.float32)  # 512 MB: no cache holds it
        self.vector = np.ones(1 << 12, np.float32)
        self.square = np.ones((1 << 11, 1 << 11), np.float32)
        return f"numpy {np.__version__}"

    def prefill(self, flops):
        """Seconds for this many operations at the rate of a large matrix-matrix product."""
        seconds = statistics.median(
            seconds_of(self.square.__matmul__, self.square) for _ in range(3)
        )
        return flops * seconds / (2 * len(self.square) ** 3)

    def decode(self, n_bytes):
        """Seconds for reading this many bytes at the rate of a large matrix-vector product."""
        seconds = statistics.median(
            seconds_of(self.matrix.__matmul__, self.vector) for _ in range(5)
        )
        return n_bytes * seconds / self.matrix.nbytes
