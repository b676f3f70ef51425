"""Direct logit attribution a second time, with torch, from hooks on the modules of transformers.

A head is what the output projection makes of that head's numbers alone; an MLP is what its module
gave out; the last norm is applied to each with its scale held at that of the whole row. Knows
transformers' Llama modules; of core only what is compared.
"""

import numpy as np
import torch

from core import RunSpec, run
from core.analyse.attribution import attribution
from core.analyse.promoted import neurons

LIMIT = 1e-4  # of the sizes of all parts, summed
PROMPTS = (
    "The capital of France is",
    "When Mary and John went to the store, John gave a drink to",
)


def check(name: str, theirs) -> bool:
    """Print the largest error of a model's prompts; whether all are within the limit. theirs: the
    same model, opened by transformers.
    """
    print(f"\nDirect logit attribution, {name}\n")
    green = True
    for prompt in PROMPTS:
        trace = run(RunSpec(name, prompt=prompt))
        token = int(trace.logits().argmax())
        found = error(trace, token, *parts(theirs, trace.ids, token))
        green &= found <= LIMIT
        print(f"  {prompt!r:64}{found:.1e}{'' if found <= LIMIT else '  OVER THE LIMIT'}")
    return green


def error(trace, token, embedding, heads, units):
    """The largest difference of any part over the sizes of all, summed."""
    ours = attribution(trace, token)
    pairs = [(ours.embedding, embedding), (ours.heads, heads), (ours.mlps, units.sum(axis=1))]
    pairs.append((neurons(trace, token).added, units))
    size = abs(embedding) + np.abs(heads).sum() + np.abs(units.sum(axis=1)).sum()
    return float(max(np.abs(a - b).max() for a, b in pairs) / size)


def parts(model, ids, token):
    """What the embedding, each head [layer, head] and each neuron [layer, neuron] add to the logit
    of a token after the last position.
    """
    kept, hooks = {}, []

    def keep(key):
        return lambda module, args: kept.update({key: args[0][0, -1].double()})

    base = model.model
    for n, layer in enumerate(base.layers):
        hooks.append(layer.self_attn.o_proj.register_forward_pre_hook(keep(("heads", n))))
        hooks.append(layer.mlp.down_proj.register_forward_pre_hook(keep(("neurons", n))))
    hooks.append(base.layers[0].register_forward_pre_hook(keep("first")))
    hooks.append(base.norm.register_forward_pre_hook(keep("last")))
    with torch.no_grad():
        model(torch.tensor([ids]), use_cache=False)
        toward = frozen_norm(base.norm, kept["last"], model.lm_head.weight[token].double())
        found = [split(layer, n, kept, toward) for n, layer in enumerate(base.layers)]
    for hook in hooks:
        hook.remove()
    heads, units = (torch.stack(each).numpy() for each in zip(*found, strict=True))
    return float(kept["first"] @ toward), heads, units


def frozen_norm(norm, row, unembedding):
    """The gradient of the logit behind the norm, were the norm's scale no function of the row."""
    scale = torch.rsqrt(row.pow(2).mean() + norm.variance_epsilon)
    free = row.clone().requires_grad_()
    with torch.enable_grad():
        logit = (norm.weight.detach().double() * free * scale.detach()) @ unembedding
        (gradient,) = torch.autograd.grad(logit, free)
    return gradient


def split(layer, n, kept, toward):
    """What each head and each neuron of a layer writes, read in a direction."""
    attn, row = layer.self_attn, kept["heads", n]
    width = attn.head_dim
    alone = torch.block_diag(*row.reshape(-1, 1, width))  # one head a line, all others 0
    heads = alone @ attn.o_proj.weight.double().T @ toward
    return heads, kept["neurons", n] * (toward @ layer.mlp.down_proj.weight.double())
