"""Every attention map of a model side by side, as a payload for the canvas component.

Knows one array of probabilities and translated labels. Knows no model or page, and draws nothing:
pages/canvas/atlas.js does.
"""

from collections.abc import Sequence
from functools import reduce

import numpy as np

from viz.payload import pack
from viz.theme import luts

MOST_CELLS = 1_200_000
LABELS = frozenset({"tooltip", "selected", "layer", "head", "aria", "reduced", "save_png"})


def atlas(
    maps: np.ndarray,
    *,
    framed: Sequence[int] | None,
    labels: dict[str, str],
    limit: float = 1.0,
    name: str = "atlas",
) -> bytes:
    """The payload of maps [layer, head, query, key], values 0..limit, one scale for all.

    The maps travel as colour codes 0..255. More than MOST_CELLS are first reduced: a square block
    of cells becomes its largest value, and the label "reduced" says so with {block}, its side.
    `framed` is [layer, head] or None. `labels` holds the translated strings named in LABELS;
    "tooltip" and "selected" may use {layer} {head}. `name` names the saved file.

    ValueError: not four axes, empty, fewer keys than queries, values outside 0..limit or NaN,
    a limit that is not positive, a frame outside, a missing label.
    """
    maps = np.asarray(maps, np.float32)
    _check(maps, framed, labels, limit)
    block = _block(maps.shape)
    codes = np.rint(maps * np.float32(255 / limit)).astype(np.uint8)
    meta = {
        "framed": None if framed is None else [int(i) for i in framed],
        "queries": maps.shape[2],
        "keys": maps.shape[3],
        "block": block,
        "limit": float(limit),
        "labels": labels,
        "name": name,
    }
    return pack(meta, codes=_largest_in_blocks(codes, block), **luts("amount"))


def _block(shape: tuple[int, int, int, int]) -> int:
    """The smallest side of a square block that brings the maps under MOST_CELLS."""
    layers, heads, queries, keys = shape
    block = 1
    while layers * heads * -(-queries // block) * -(-keys // block) > MOST_CELLS:
        block += 1
    return block


def _largest_in_blocks(codes: np.ndarray, block: int) -> np.ndarray:
    """codes uint8 [layer, head, query, key] -> the largest of each block x block square.

    The last block of an axis may be smaller: zeros fill it up, and no code is below zero.
    """
    fill = [(0, 0), (0, 0), *((0, -size % block) for size in codes.shape[2:])]
    codes = np.pad(codes, fill)
    codes = reduce(np.maximum, (codes[:, :, i::block] for i in range(block)))
    return reduce(np.maximum, (codes[..., i::block] for i in range(block)))


def _check(maps: np.ndarray, framed, labels: dict, limit: float) -> None:
    if maps.ndim != 4 or maps.size == 0:
        raise ValueError(f"maps have shape {maps.shape}, wanted [layer, head, query, key]")
    if maps.shape[2] > maps.shape[3]:
        raise ValueError(f"{maps.shape[2]} queries and only {maps.shape[3]} keys")
    if not (np.isfinite(limit) and limit > 0):
        raise ValueError(f"limit is {limit}, wanted a positive number")
    # Softmax in float32 may pass 1 by a rounding step, hence the hair of tolerance.
    if not (maps.min() >= 0 and maps.max() <= limit * 1.001):
        raise ValueError(f"maps run {maps.min()}..{maps.max()}, wanted 0..{limit}")
    if framed is not None and not all(0 <= framed[i] < maps.shape[i] for i in (0, 1)):
        raise ValueError(f"frame {tuple(framed)} is outside {maps.shape[:2]}")
    if missing := LABELS - labels.keys():
        raise ValueError(f"labels lack {sorted(missing)}")
