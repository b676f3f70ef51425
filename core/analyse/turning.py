"""The angle by which RoPE turns a pair of numbers, from its position. Reads a trace; no figures."""

from dataclasses import dataclass

from core.model import rope


@dataclass(frozen=True)
class Turn:
    """The turn of one pair: position × frequency (radians per position) = angle (radians).
    amplitude: what its cosine and sine are multiplied by, 1 but for some scalings.
    """

    position: int
    pair: int
    frequency: float
    angle: float
    amplitude: float


def turn(trace, layer: int, position: int, dim: int) -> Turn | None:
    """How dimension `dim` of a query or key is turned; None for one behind the pairs."""
    turned = trace.config.ropes[layer]
    frequencies = rope.frequencies(turned, len(trace.ids))
    if dim >= 2 * len(frequencies):
        return None
    pair = dim % len(frequencies)
    each = float(frequencies[pair])
    return Turn(position, pair, each, position * each, rope.amplitude(turned))
