"""Matrices that read the same input, kept in memory as one: the rows of each under the last's.

One token times one long matrix takes less time than times two or three short ones, which is most of
what decoding does. Knows names and shapes of weights; no file.
"""

import math

import numpy as np

JOINT = {
    "attn_qkv": ("attn_q", "attn_k", "attn_v"),
    "mlp_gate_up": ("mlp_gate", "mlp_up"),
    "attn_qkv_bias": ("attn_q_bias", "attn_k_bias", "attn_v_bias"),
    "mlp_gate_up_bias": ("mlp_gate_bias", "mlp_up_bias"),
}


def room(shapes) -> dict[str, np.ndarray]:
    """Memory for every weight of a block, by name: views of one array where they belong together.

    shapes: the shape of every weight.
    """
    arrays = {}
    for names in groups(shapes):
        ends = np.cumsum([shapes[name][0] for name in names])
        whole = empty((int(ends[-1]), *shapes[names[0]][1:]))
        parts = np.split(whole, ends[:-1]) if len(names) > 1 else [whole]
        arrays |= dict(zip(names, parts, strict=True))
    return arrays


def empty(shape) -> np.ndarray:
    """Memory for a weight, along its longer axis: column by column where it has more rows than
    columns. One token times a matrix, all that decoding does, is fastest so.
    """
    along_columns = len(shape) == 2 and shape[0] >= shape[1]
    return np.empty(shape, np.float32, order="F" if along_columns else "C")


def groups(names) -> list[tuple[str, ...]]:
    """Weights of a block that share memory; each of the others alone."""
    together = [group for group in JOINT.values() if set(group) <= set(names)]
    return together + [(name,) for name in names if not any(name in group for group in together)]


def joined(parts) -> np.ndarray | None:
    """The parts as one array: the memory that `room` gave them, or else a copy. None for None."""
    if any(part is None for part in parts):
        return None
    whole = parts[0].base
    if whole is None or not _made_of(whole, parts):
        whole = np.concatenate(parts)
    whole.flags.writeable = False
    return whole


def _made_of(whole, parts):
    """Whether the parts lie in the whole one under the other and fill it."""
    at = whole.__array_interface__["data"][0]
    for part in parts:
        if part.__array_interface__["data"][0] != at or part.strides != whole.strides:
            return False
        at += len(part) * whole.strides[0]
    return math.prod(whole.shape) == sum(part.size for part in parts)
