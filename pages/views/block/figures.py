"""Which figures fit which op. Knows ids and kinds of the catalogue; draws nothing itself."""

from pages.parts import doors
from pages.views.block import (
    down,
    heads,
    mask,
    mix,
    muting,
    neurons,
    norm,
    product,
    project,
    residual,
    rotation,
    scores,
    softmax,
    stream,
)

NEURONS = ("mlp.act", "mlp.hidden", "mlp.out")  # steps about what neurons do
BY_OP = dict.fromkeys(("attn.q", "attn.k", "attn.v"), project.draw)
BY_OP |= {"attn.out": heads.draw, "mlp.out": down.draw}
BY_KIND = {
    "sum": residual.draw,
    "dot": product.draw,
    "rotate": rotation.draw,
    "score": scores.draw,
    "softcap": scores.draw,
    "mask": mask.draw,
    "softmax": softmax.draw,
    "mix": mix.draw,
}
BY_KIND |= dict.fromkeys(("row", "times", "position", "copy"), stream.draw)
BY_KIND |= dict.fromkeys(("norm", "norm_all_heads", "layer_norm"), norm.draw)
BY_KIND |= dict.fromkeys(("silu", "gelu_tanh", "gelu_erf", "product"), neurons.draw)


def draw(step) -> None:
    """The figures of an op around the chosen cell."""
    fitting = BY_OP.get(step.id) or BY_KIND[step.op.kind]
    fitting(step)
    if step.id in muting.STEPS:
        muting.draw(step)
    if step.id in NEURONS:
        doors.show("block", "lens.neurons", at=step.layer)
