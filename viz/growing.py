"""A KV cache that grows step by step: a strip per layer and KV head with a cell per position, and
below it the numbers of one head, column under column.

Knows arrays and translated texts; knows no model or page, and draws nothing:
pages/canvas/growing.js does.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from viz.payload import pack
from viz.theme import ROLES, luts

PLAYER = ("play", "pause", "previous", "next", "slider")
SAID = ("aria", "written", "read", "strips", "head", "tooltip", "cell", "prefill", "step", "broken")
SAVED = ("layer", "part", "number", "save_png", "save_lengths", "save_numbers")
LABELS = frozenset((*PLAYER, *SAID, *SAVED))


@dataclass(frozen=True)
class Step:
    """Positions first..stop-1 are written, those before only read. title, lines: what is said."""

    first: int
    stop: int
    title: str
    lines: tuple[str, ...] = ()


def growing(
    lengths: np.ndarray,
    numbers: np.ndarray,
    steps: Sequence[Step],
    *,
    role: str,
    tokens: Sequence[str],
    first_position: int,
    chosen: tuple[int, int],
    step: int,
    labels: dict[str, str],
    name: str,
) -> bytes:
    """The payload of the last positions of a text.

    lengths: [layer, kv_head, position], 0 and up. numbers: [position, head_dim] of the `chosen`
    layer and KV head. What is not finite in either is hatched, as "broken". tokens: of these
    positions, whose first is `first_position`. role: of what is written. step: the one that is
    shown first. labels: those of LABELS; "tooltip" of a cell of a strip may name {layer} {kv_head}
    {token} {position} {value} {when}, "cell" of a number besides {dim}; "prefill" and "step" with
    {step} say when it was written.

    ValueError: shapes, steps or labels that do not fit.
    """
    lengths, numbers = (np.asarray(each, np.float32) for each in (lengths, numbers))
    _check(lengths, numbers, steps, tokens, first_position, chosen, step, labels)
    meta = {
        "steps": [asdict(each) for each in steps],
        "step": int(step),
        "row": [int(n) for n in chosen],
        "tokens": list(tokens),
        "first_position": int(first_position),
        "colours": ROLES[role],
        "limits": [_limit(lengths), _limit(numbers)],
        "labels": labels,
        "name": name,
    }
    palettes = {f"{palette}_{mode}": lut for palette in ("amount", "signed")
                for mode, lut in luts(palette).items()}  # fmt: skip
    return pack(meta, lengths=lengths, numbers=numbers, **palettes)


def _limit(values):
    """The number at full colour: the largest that is finite."""
    return float(np.abs(values).max(where=np.isfinite(values), initial=0)) or 1.0


def _check(lengths, numbers, steps, tokens, first_position, chosen, step, labels):
    if lengths.ndim != 3 or not lengths.size or not numbers.size:
        raise ValueError(f"lengths {lengths.shape} and numbers {numbers.shape} are no strips")
    n_layers, n_kv_heads, n = lengths.shape
    if not len(numbers) == len(tokens) == n:
        raise ValueError(f"{len(numbers)} rows and {len(tokens)} tokens of {n} positions")
    if not (0 <= chosen[0] < n_layers and 0 <= chosen[1] < n_kv_heads):
        raise ValueError(f"{chosen} is outside {n_layers} layers of {n_kv_heads} KV heads")
    ends = [0, *(edge for each in steps for edge in (each.first, each.stop))]
    if not 0 <= step < len(steps) or ends != sorted(ends) or ends[-1] != first_position + n:
        raise ValueError(f"step {step} of steps {ends} that do not end with the positions")
    if missing := LABELS - labels.keys():
        raise ValueError(f"labels lack {sorted(missing)}")
