"""Checks that run beside the pictures: identities of this very run, and agreement with reference
values.

Reads a trace; no sentences, no figures. Each check is a number that should be small and the bound
it is held to.
"""

from dataclasses import dataclass

import numpy as np

from core.model import ops

# The largest score after each position of "The capital of France is", from Hugging Face
# transformers 5.24 run in float32 on the same dequantized file (id, logit); keyed by the sha256 of
# that file.
REFERENCE_IDS = (504, 3575, 282, 4649, 314)
REFERENCE = {
    "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53": (
        (29, 27.3534),
        (282, 22.0560),
        (260, 12.9426),
        (314, 23.7721),
        (7042, 17.3713),
    ),
}


@dataclass(frozen=True)
class Check:
    """name: which identity. value: how far from it the run is. bound: how far it may be."""

    name: str
    value: float
    bound: float

    @property
    def passed(self) -> bool:
        """Whether the value is within its bound (a NaN is not)."""
        return self.value <= self.bound


def checks(trace, layer: int) -> list[Check]:
    """What can be checked in one layer of a run, without any reference.

    rows: attention rows sum to 1. future: no weight on a later key or one outside the window.
    attention, mlp: before + delta = after.
    replay: the stream out of the block, computed again, equals the checkpoint.
    """
    read = lambda op: trace.read(op, layer)  # noqa: E731
    weights = read("attn.weights")
    ago = np.subtract.outer(*[np.arange(len(trace.ids))] * 2)  # [query, key]
    hidden = (ago < 0) | (ago >= (trace.config.windows[layer] or len(trace.ids)))
    block = trace.catalogue.blocks[layer]
    attention, mlp = (read(block[op].inputs[1]) for op in ("resid_mid", "resid_post"))
    again = ops.add(read("resid_mid"), mlp)
    return [
        Check("rows", float(np.abs(weights.sum(axis=-1) - 1).max()), 1e-5),
        Check("future", float(np.abs(weights[:, hidden]).max(initial=0)), 0.0),
        Check("attention", _far(read("resid_pre") + attention, read("resid_mid")), 0.0),
        Check("mlp", _far(read("resid_mid") + mlp, read("resid_post")), 0.0),
        Check("replay", _far(again, trace.stream[layer + 1]), 0.0),
    ]


def has_reference(model) -> bool:
    """Whether there are reference values for the file of a model."""
    return model.source.sha256 in REFERENCE


def reference_check(trace) -> Check | None:
    """Largest difference of a run of REFERENCE_IDS from the reference logits; None without a
    reference.
    """
    values = REFERENCE.get(trace.model.source.sha256)
    if values is None or trace.ids != REFERENCE_IDS:
        return None
    differences = [abs(trace.logits(n)[id] - logit) for n, (id, logit) in enumerate(values)]
    return Check("reference", float(max(differences)), 1e-3)


def _far(a, b):
    return float(np.abs(a - b).max())
