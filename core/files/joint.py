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


def rooms(shapes, n_layers: int) -> list[dict[str, np.ndarray]]:
    """Memory for every weight of every block, by name: views of one array where they belong
    together. All of it is one stretch: only for a long one does Linux take large pages, and what
    decodes reads faster from those.

    shapes: the shape of every weight of a block.
    """
    memory = np.empty((n_layers, sum(map(math.prod, shapes.values()))), np.float32)
    made = [_room(shapes, numbers) for numbers in memory]
    memory.flags.writeable = False  # the weights can be written until each is frozen
    return made


def _room(shapes, numbers):
    arrays, at = {}, 0
    for names in groups(shapes):
        ends = np.cumsum([shapes[name][0] for name in names])
        shape = (int(ends[-1]), *shapes[names[0]][1:])
        whole = numbers[at : at + math.prod(shape)].reshape(shape, order=order(shape))
        parts = np.split(whole, ends[:-1]) if len(names) > 1 else [whole]
        arrays |= dict(zip(names, parts, strict=True))
        at += whole.size
    return arrays


def empty(shape) -> np.ndarray:
    """Memory for a weight outside the blocks."""
    return np.empty(shape, np.float32, order=order(shape))


def order(shape) -> str:
    """How a weight lies in memory, as NumPy says it: along its longer axis, column by column ("F")
    where it has more rows than columns. One token times a matrix, all that decoding does, is
    fastest so.
    """
    return "F" if len(shape) == 2 and shape[0] >= shape[1] else "C"


def groups(names) -> list[tuple[str, ...]]:
    """Weights of a block that share memory; each of the others alone."""
    together = [group for group in JOINT.values() if set(group) <= set(names)]
    return together + [(name,) for name in names if not any(name in group for group in together)]


def joined(parts) -> np.ndarray | None:
    """The parts as one array: in the memory of `rooms`, or else a copy. None for None."""
    if any(part is None for part in parts):
        return None
    if not _follow_each_other(parts):
        whole = np.concatenate(parts)
    else:
        first, n_rows = parts[0], sum(map(len, parts))
        whole = np.lib.stride_tricks.as_strided(first, (n_rows, *first.shape[1:]), first.strides)
    whole.flags.writeable = False
    return whole


def _follow_each_other(parts):
    """Whether the parts lie in one array, the rows of each under the last's."""
    first, at = parts[0], parts[0].__array_interface__["data"][0]
    for part in parts:
        if part.base is None or part.base is not first.base or part.strides != first.strides:
            return False
        if part.__array_interface__["data"][0] != at:
            return False
        at += len(part) * first.strides[0]
    return True
