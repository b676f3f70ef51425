"""The roofline (Williams, Waterman & Patterson 2009): a pass takes at least as long as its
arithmetic, and at least as long as its bytes take from memory. FLOPs per byte say which of the two.

Both limits are measured, with the products that a pass calls. Knows costs and a clock; no run.
"""

import statistics
import time
from dataclasses import dataclass

import numpy as np

from core.files.joint import empty
from core.model.parts import product
from core.opening import Model

from .passcost import Cost, cost
from .withcache import Pass

ROWS, WIDTH, HEIGHT = 512, 1024, 2048  # the product for arithmetic: [seq, in] by [out, in]
READ_BYTES = 256 << 20  # the matrix for memory: far larger than a processor's caches
BUDGET = 0.3  # seconds for each limit, beside making its arrays
FEWEST, MOST = 3, 25  # times each is measured
FLOAT32 = 4.0  # bytes per number, of everything that runs here


@dataclass(frozen=True)
class Limits:
    """What this machine can do with the library and the threads of a pass.

    Attributes:
        products: FLOPs per second of one large matrix product, ROWS tokens at once, each time it
            was measured. reads: bytes per second of one token times a matrix of READ_BYTES, in
            the layout of the weights.
        seconds: how long measuring took.
    """

    products: tuple[float, ...]
    reads: tuple[float, ...]
    seconds: float

    @property
    def flops_per_second(self) -> float:
        """The limit by arithmetic: the median."""
        return statistics.median(self.products)

    @property
    def bytes_per_second(self) -> float:
        """The limit by memory: the median."""
        return statistics.median(self.reads)

    @property
    def ridge(self) -> float:
        """FLOPs per byte where both limits meet: below it memory holds a pass back."""
        return self.flops_per_second / self.bytes_per_second

    def rate(self, intensity: float) -> float:
        """The roof: FLOPs per second that can be reached at an intensity."""
        return min(self.flops_per_second, intensity * self.bytes_per_second)


@dataclass(frozen=True)
class Point:
    """A pass on the roofline.

    Attributes:
        name: which. flops, n_bytes: what it computes and moves. seconds: as measured; None of a
            pass that did not run. texts: that it serves at once.
    """

    name: str
    flops: int
    n_bytes: int
    seconds: float | None = None
    texts: int = 1

    @property
    def calculated(self) -> bool:
        """Whether this pass did not run: nothing of it is measured."""
        return self.seconds is None

    @property
    def intensity(self) -> float:
        """FLOPs per byte."""
        return self.flops / self.n_bytes

    @property
    def rate(self) -> float | None:
        """FLOPs per second, where it ran."""
        return self.flops / self.seconds if self.seconds else None

    def bound(self, limits: Limits) -> str:
        """What holds it back: "memory" or "arithmetic"."""
        return "memory" if self.intensity < limits.ridge else "arithmetic"

    def predicted(self, limits: Limits) -> float:
        """Seconds that it takes at least: the longer of both."""
        return max(self.flops / limits.flops_per_second, self.n_bytes / limits.bytes_per_second)

    def reached(self, limits: Limits) -> float | None:
        """Which part of the roof above it a pass reaches, where it ran. It may be a little over 1:
        the limits are medians, and small weights may still lie in the processor's caches.
        """
        return self.predicted(limits) / self.seconds if self.seconds else None


@dataclass(frozen=True)
class Variant:
    """A way to decode otherwise. texts: that are continued at once, each with its own cache.
    weight_bytes, cache_bytes: per number of the weights and of keys and values.
    """

    texts: int = 1
    weight_bytes: float = FLOAT32
    cache_bytes: float = FLOAT32


# bits as llama.cpp's Q8_0 and Q4_0: blocks of 32 weights with one 2-byte scale
VARIANTS = {
    "batch_8": Variant(texts=8),
    "batch_64": Variant(texts=64),
    "float16": Variant(weight_bytes=2.0, cache_bytes=2.0),
    "bits_8": Variant(weight_bytes=34 / 32),
    "bits_4": Variant(weight_bytes=18 / 32),
}


def measure() -> Limits:
    """Measure both limits, in about a second: each product once to warm up, then several times.

    Products run as in a pass, so with as many threads (core.model.parts).
    """
    start = time.perf_counter()
    x, weight = np.ones((ROWS, WIDTH), np.float32), _ones(HEIGHT, WIDTH)
    products = _rates(x, weight, 2 * ROWS * weight.size)
    weight = _ones(READ_BYTES // (4 * WIDTH), WIDTH)
    reads = _rates(x[:1], weight, weight.nbytes)
    return Limits(products, reads, time.perf_counter() - start)


def _ones(height, width):
    """A matrix in the layout of weights. Every page is written, or it would not lie in memory."""
    weight = empty((height, width))
    weight.fill(1)
    return weight


def _rates(x, weight, amount):
    """How much of an amount a product does in a second, each time."""
    took, begin = [], time.perf_counter()
    while len(took) <= FEWEST or (time.perf_counter() - begin < BUDGET and len(took) <= MOST):
        start = time.perf_counter()
        product(x, weight)
        took.append(time.perf_counter() - start)
    return tuple(amount / seconds for seconds in took[1:])


def measured(name: str, done: Pass) -> Point:
    """A pass that ran."""
    return Point(name, done.cost.flops, done.cost.n_bytes, done.seconds)


def calculated(model: Model, n_cached: int) -> list[Point]:
    """One decode step after n_cached tokens, in every one of VARIANTS.

    Unpacking weights of fewer bits counts as no work: a real program pays for that, too.
    """
    step = cost(model, 1, n_cached)
    return [changed(name, step, variant) for name, variant in VARIANTS.items()]


def changed(name: str, step: Cost, variant: Variant) -> Point:
    """A pass as it would be. Weights are read once for all texts; rows, keys and values for each.
    Norms and biases count as the other weights.
    """
    weights, cached = variant.weight_bytes / FLOAT32, variant.cache_bytes / FLOAT32
    own = step.row_bytes * weights + (step.read_bytes + step.written_bytes) * cached
    n_bytes = round(step.weight_bytes * weights + variant.texts * own)
    return Point(name, variant.texts * step.flops, n_bytes, texts=variant.texts)
