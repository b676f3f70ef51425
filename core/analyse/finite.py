"""Whether a run is made of finite numbers, and else where they stopped: the first op in the order
of the pass.

Reads a trace; no sentences but the error's code, no figures.
"""

import numpy as np

from core.errors import nonfinite
from core.model.axes import HIDING


def check_stream(trace) -> None:
    """Raises TokenwalkError("nonfinite" or "nonfinite_outside") if the stream behind the last block
    holds a number that is not finite: what once got into the stream never leaves it.
    """
    if not _finite(trace.stream[-1]):
        raise nonfinite(*_first_in_stream(trace))


def check_scores(trace, position: int, logits) -> None:
    """Raises as `check_stream`, also where only the steps from the stream to the logits after a
    position went wrong. logits: what `trace.logits(position)` says, [vocab].
    """
    if _finite(logits):
        return
    check_stream(trace)
    raise nonfinite(_first_behind_blocks(trace, position), None)


def _finite(values):
    return bool(np.isfinite(values).all())


def _first_in_stream(trace):
    """(op, layer) in the block, or before all of them, behind which the stream is not finite."""
    boundary = next(n for n, rows in enumerate(trace.stream) if not _finite(rows))
    layer = boundary - 1 if boundary else None
    ops = trace.catalogue.blocks[layer] if boundary else trace.catalogue.before
    return next(op for op in ops if op != HIDING and not _finite(trace.read(op, layer))), layer


def _first_behind_blocks(trace, position):
    if not _finite(trace.read("final_norm")[position]):
        return "final_norm"
    return "logits" if not _finite(trace.output("logits", position)) else trace.catalogue.last
