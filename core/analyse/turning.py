"""What RoPE turns, and by which angle: queries and keys before the rotation, and the turn of a pair
of their numbers at a position. Reads a trace; no figures."""

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


def unturned(block) -> tuple[str, str]:
    """The ops of a block whose values are its queries and keys before the rotation, normed where
    the model does that; where nothing turns, what the scores are made of.
    """
    inputs = block["attn.scores"].inputs
    return tuple(block[op].inputs[0] if op.endswith("_rot") else op for op in inputs)


def turn(trace, layer: int, position: int, dim: int) -> Turn | None:
    """How dimension `dim` of a query or key is turned; None for one behind the pairs."""
    turned = trace.config.ropes[layer]
    frequencies = rope.frequencies(turned, len(trace.ids))
    if dim >= 2 * len(frequencies):
        return None
    pair = dim % len(frequencies)
    each = float(frequencies[pair])
    return Turn(position, pair, each, position * each, rope.amplitude(turned))
