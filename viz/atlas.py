"""Attention maps of many heads side by side, as a payload for the canvas component.

Knows one array of probabilities and translated labels. Knows no model or page, and draws nothing:
pages/canvas/atlas.js does.
"""

from collections.abc import Sequence
from functools import reduce

import numpy as np

from viz.payload import pack
from viz.theme import luts

MOST_CELLS = 600_000  # that are sent, two bytes each
FULL = 10_000  # the code of the limit: of 1, codes are weights rounded to four decimals
LABELS = frozenset({"tooltip", "selected", "layer", "head", "aria", "reduced", "save_png"})


def atlas(
    maps: np.ndarray,
    *,
    framed: Sequence[int] | None,
    labels: dict[str, str],
    limit: float = 1.0,
    name: str = "atlas",
    shown: Sequence[Sequence[int]] | None = None,
    names: Sequence[str] = (),
    first: bool = True,
    root: bool = False,
    block: int = 1,
    windows: Sequence[int | None] = (),
    group: int = 1,
    scores: np.ndarray | None = None,
    tokens: Sequence[str] = (),
    opens: bool = False,
) -> bytes:
    """The payload of maps [layer, head, query, key], values 0..limit, one scale for all.

    Cells on and below the diagonal travel, as codes 0..FULL; above it nothing is seen. Where that
    were more than MOST_CELLS, a square block of cells becomes its largest value, and the label
    "reduced" says so with {block}, its side in tokens. `framed` is [layer, head] or None. `labels`
    holds the translated strings named in LABELS; "tooltip" and "selected" may use {layer} {head}
    {kv_head}. `name` names the saved file.

    shown: [layer, head] of the maps to show, in this order; all of them by default, a column per
    layer and a row per head. names: below which each of the `shown` stands, where there is room.
    first: whether the first key is drawn. root: colour by the square root. block: how many tokens a
    cell of `maps` stands for already. windows: by layer, how many cells of a row are seen. group:
    how many heads read a key/value head. scores: [layer, head, score], told in the tooltip by
    "scores" of the labels, a line each that may use {0} {1} ... tokens: all of the text; with them
    a cell is told by "cell" or "cells" of the labels. opens: whether a click or Enter opens a map.

    ValueError: not four axes, empty, not square, values outside 0..limit or NaN, a limit that is
    not positive, a frame outside, a missing label.
    """
    maps = np.asarray(maps, np.float32)
    _check(maps, framed, labels, limit)
    layers, heads, n, _ = maps.shape
    every = [(layer, head) for layer in range(layers) for head in range(heads)]
    order = every if shown is None else [(int(layer), int(head)) for layer, head in shown]
    larger = _block(len(order), n)
    picked = maps[tuple(np.array(order, int).reshape(-1, 2).T)]  # [map, query, key]
    cells = _largest_in_blocks(picked, larger)
    down, across = np.tril_indices(cells.shape[-1])
    meta = {
        "framed": None if framed is None else [int(i) for i in framed],
        "shape": [layers, heads],
        "grid": shown is None,
        "cells": cells.shape[-1],
        "block": block * larger,
        "names": list(names),
        "first": bool(first) or block * larger > 1,
        "root": bool(root),
        "windows": [w and -(-(w + larger - 1) // larger) for w in windows],
        "group": int(group),
        "tokens": list(tokens),
        "opens": bool(opens),
        "limit": float(limit),
        "labels": labels,
        "name": name,
    }
    codes = np.rint(cells[:, down, across] * np.float32(FULL / limit))
    told = np.zeros((layers, heads, 0)) if scores is None else scores
    return pack(
        meta,
        codes=np.minimum(codes, FULL).astype(np.uint16),
        order=np.array(order, np.int32).reshape(-1, 2),
        scores=np.asarray(told, np.float32),
        **luts("amount"),
    )


def _block(n_maps: int, n: int) -> int:
    """The smallest side of a square block that brings the cells under MOST_CELLS."""
    block = 1
    while n_maps * (side := -(-n // block)) * (side + 1) // 2 > MOST_CELLS:
        block += 1
    return block


def _largest_in_blocks(maps: np.ndarray, block: int) -> np.ndarray:
    """maps [map, query, key] -> the largest of each block x block square.

    The last block of an axis may be smaller: zeros fill it up, and no weight is below zero.
    """
    if block == 1:
        return maps
    maps = np.pad(maps, [(0, 0), *((0, -size % block) for size in maps.shape[1:])])
    maps = reduce(np.maximum, (maps[:, i::block] for i in range(block)))
    return reduce(np.maximum, (maps[..., i::block] for i in range(block)))


def _check(maps: np.ndarray, framed, labels: dict, limit: float) -> None:
    if maps.ndim != 4 or maps.size == 0:
        raise ValueError(f"maps have shape {maps.shape}, wanted [layer, head, query, key]")
    if maps.shape[2] != maps.shape[3]:
        raise ValueError(f"{maps.shape[2]} queries and {maps.shape[3]} keys")
    if not (np.isfinite(limit) and limit > 0):
        raise ValueError(f"limit is {limit}, wanted a positive number")
    # Softmax in float32 may pass 1 by a rounding step, hence the hair of tolerance.
    if not (maps.min() >= 0 and maps.max() <= limit * 1.001):
        raise ValueError(f"maps run {maps.min()}..{maps.max()}, wanted 0..{limit}")
    if framed is not None and not all(0 <= framed[i] < maps.shape[i] for i in (0, 1)):
        raise ValueError(f"frame {tuple(framed)} is outside {maps.shape[:2]}")
    if missing := LABELS - labels.keys():
        raise ValueError(f"labels lack {sorted(missing)}")
