"""Four ways to stretch a rotation for longer texts, on the base and head size of one model.

Each way is a Rope that the engine would run, so what is drawn of it is what the pass would turn by.
Knows rotations; no weights, no sentences, no figures.

Sources: linear (position interpolation, Chen et al. 2023), NTK-aware (a larger base, bloc97 2023),
YaRN (Peng et al. 2023), llama3 (the Llama 3.1 model card).
"""

from dataclasses import dataclass, replace

import numpy as np

from core.model.config import Rope, Scaling
from core.model.rope import amplitude, frequencies

METHODS = ("linear", "ntk", "yarn", "llama3")
FACTORS = (2, 4, 8, 16)
CLOSE = 1e-9  # by which share two times of slowing may differ, and are one
SETTINGS = Scaling("")  # slow and fast of YaRN, low and high of llama3, as both published them


@dataclass(frozen=True)
class Stretch:
    """What a way to stretch makes of each pair. Arrays are float64 [pair].

    Attributes:
        name: one of METHODS, "plain", or "own" for what the model itself does.
        rope: what the engine would run. factor: how many times longer the text may become.
        wavelengths: tokens per turn. slowed: how many times slower than without stretching.
        amplitude: what cosines and sines are multiplied by.
    """

    name: str
    rope: Rope
    factor: float
    wavelengths: np.ndarray
    slowed: np.ndarray
    amplitude: float

    @property
    def n_kept(self) -> int:
        """How many pairs turn exactly as before."""
        return self._count(1)

    @property
    def n_full(self) -> int:
        """How many pairs turn exactly `factor` times slower; none where no factor is stated."""
        return self._count(self.factor) if self.factor > 1 else 0

    @property
    def n_between(self) -> int:
        """How many pairs turn neither as before nor exactly `factor` times slower."""
        return len(self.slowed) - self.n_kept - self.n_full

    def n_new(self, length: int, factor: float) -> int:
        """How many pairs come to angles in factor × length tokens that they never met in `length`
        tokens: those that did not go round there, and are slowed by less than the factor.
        """
        part = self.wavelengths / self.slowed > length
        return int((part & (self.slowed < factor * (1 - CLOSE))).sum())

    def _count(self, times):
        return int(np.isclose(self.slowed, times, rtol=CLOSE, atol=0).sum())


def first_length(config, layer: int) -> int:
    """The text length to stretch from, in tokens: that of the first training, where the model
    states one beside a scaling of its own, else the context.
    """
    own = config.ropes[layer].scaling
    return own.original if own and own.original else config.context


def stretched(rope: Rope, method: str, factor: float, length: int) -> Rope:
    """The rotation without a scaling of its own, stretched from `length` to factor × length tokens.
    ValueError for another method.
    """
    if method not in METHODS:
        raise ValueError(f"method is {method!r}, wanted one of {METHODS}")
    if method == "ntk":
        return Rope(rope.dim, larger_base(rope, factor))
    return Rope(rope.dim, rope.theta, Scaling(method, float(factor), length))


def larger_base(rope: Rope, factor: float) -> float:
    """The base with which the first pair stays and the last turns `factor` times slower:
    theta · factor^(dim / (dim - 2)). A single pair does not depend on the base.
    """
    return rope.theta * factor ** (rope.dim / (rope.dim - 2)) if rope.dim > 2 else rope.theta


def stretches(config, layer: int, factor: float) -> list[Stretch]:
    """The plain rotation of a layer, the four ways to stretch it, and last its own scaling, if it
    has one, as that is at the full context.
    """
    rope, length = config.ropes[layer], first_length(config, layer)
    ways = [("plain", replace(rope, scaling=None), 1)]
    ways += [(method, stretched(rope, method, factor, length), factor) for method in METHODS]
    ways += [("own", rope, rope.scaling.factor)] if rope.scaling else []
    return [_stretch(*way, frequencies(ways[0][1]), config.context) for way in ways]


def _stretch(name, rope, factor, plain, length):
    found = frequencies(rope, length)
    return Stretch(name, rope, factor, 2 * np.pi / found, plain / found, amplitude(rope))
