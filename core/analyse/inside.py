"""Of every layer what later views need of all positions at once: what the heads fetched, and the
stream between attention and MLP. Read from a trace in one pass, and kept in a bounded store.
"""

from dataclasses import dataclass

import numpy as np

from core.record.trace import freeze
from core.store import ByteStore

INSIDE = ByteStore(160 << 20)


@dataclass(frozen=True, eq=False)
class Inside:
    """Attributes:
    mix: what each head fetched, float32 [layer, seq, head, head_dim].
    mid: the residual stream after attention, float32 [layer, seq, embedding].
    """

    mix: np.ndarray
    mid: np.ndarray

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self.mix.nbytes + self.mid.nbytes


def inside(trace) -> Inside:
    """The mixes and the middle of the stream of a run. The attention of each layer is run again
    once.
    """
    return INSIDE.get((trace.key, "inside"), lambda: _read(trace), lambda found: found.nbytes)


def _read(trace):
    blocks = trace.each_block("attn.mix", "resid_mid")
    mix, mid = zip(*((block["attn.mix"], block["resid_mid"]) for block in blocks), strict=True)
    return Inside(freeze(np.stack(mix)), freeze(np.stack(mid)))
