"""What transformers computes for a model, op by op, under our names and axes.

Values come from hooks on its modules; those of attention, which has no modules inside, from the
calls that its eager function makes. Nothing is recomputed here, but a sum that transformers never
makes by itself (see `with_sum`) and the softmax of the logits. Knows torch; nothing of core.
"""

import contextlib
import importlib

import numpy as np
import torch
from torch.overrides import TorchFunctionMode
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer
from transformers.utils import logging

from tools.parity_places import OUTSIDE, PLACES, rows

# The families whose GGUF tensors transformers turns back into its own, each by its own rules. Of
# the metadata it leaves much unread (windows, caps, partial rotation): that comes from a folder.
FROM_GGUF = ("llama", "qwen2", "qwen3", "gemma2", "gemma3", "phi3", "gpt2")

logging.set_verbosity_error()
logging.disable_progress_bar()


def open_folder(folder, **settings):
    """The model of a folder in float32, with eager attention and no dropout.

    Raises SystemExit where names of the file and of the model do not match.
    """
    settings = {"dtype": torch.float32, "attn_implementation": "eager"} | settings
    model, report = AutoModelForCausalLM.from_pretrained(
        folder, output_loading_info=True, **settings
    )
    wrong = {kind: names for kind, names in report.items() if names}
    if wrong:
        raise SystemExit(f"transformers does not load {folder} as it is: {wrong}")
    return model.eval()


def open_gguf(path, config_folder=None):
    """The model of a GGUF file, dequantized; its configuration from config.json of another folder,
    or from the file as far as transformers reads it.
    """
    own = {"config": AutoConfig.from_pretrained(config_folder)} if config_folder else {}
    return open_folder(path.parent, gguf_file=path.name, **own)


def encode(folder, text) -> list[int]:
    """The ids of a text by the folder's tokenizer, special tokens included."""
    return AutoTokenizer.from_pretrained(folder)(text)["input_ids"]


def run(model, ids, see):
    """One full pass over ids: see(op, layer, value) gets every value; layer None outside blocks.

    Values are NumPy arrays that may change after the call; axes are ours, logits [seq, vocab].
    """

    def hand(op, layer, tensor):
        see(op, layer, tensor.detach().numpy())

    hand = with_sum(hand) if is_parallel(model) else hand
    with contextlib.ExitStack() as hooks, torch.no_grad():
        for layer, op, module, side, cut in sites(model):
            hooks.enter_context(hooked(module, side, cut, model.config, op, layer, hand))
        hooks.enter_context(heard_embedding(model.get_input_embeddings(), hand))
        hooks.enter_context(heard_attention(model, hand))
        logits = model(torch.tensor([ids]), use_cache=False).logits
        if getattr(model.config, "final_logit_softcapping", None):
            hand("logits_capped", None, logits[0])
        hand("probs", None, logits[0].softmax(dim=-1))


def values(model, ids) -> dict:
    """Every value of one pass by (op, layer), in the order of the pass."""
    taken = {}
    run(model, ids, lambda op, layer, value: taken.update({(op, layer): value.copy()}))
    return taken


def logits(model, ids):
    """The last scores of a full pass, soft cap included: [seq, vocab]."""
    with torch.no_grad():
        return model(torch.tensor([ids]), use_cache=False).logits[0].numpy()


def decode(model, ids, n_prompt):
    """Logits after the first n_prompt ids, then after each id more, from the cache."""
    cache, rows = None, []
    with torch.no_grad():
        for part in (ids[:n_prompt], *([id] for id in ids[n_prompt:])):
            out = model(torch.tensor([part]), cache=cache, use_cache=True)
            cache = out.cache
            rows.append(out.logits[0, -1].numpy())
    return np.stack(rows)


def is_parallel(model):
    """Whether the MLP reads what attention read."""
    return getattr(model.config, "use_parallel_residual", False)


def with_sum(hand):
    """A parallel block adds what attention and the MLP wrote to each other, then to the stream. We
    show the stream after attention: the sum of two values of theirs.
    """
    stream = {}

    def also(op, layer, tensor):
        hand(op, layer, tensor)
        if op == "resid_pre":
            stream[layer] = tensor
        elif op == "attn.out":
            hand("resid_mid", layer, stream.pop(layer) + tensor)

    return also


def sites(model):
    """Every place of a model that a hook can reach: layer, op, module, side, cut."""
    base, kind = model.base_model, model.config.model_type
    for layer, block in enumerate(base.h if kind == "gpt2" else base.layers):
        for op, (path, side, cut) in PLACES[kind].items():
            if op != "resid_mid" or not is_parallel(model):
                yield layer, op, block.get_submodule(path), side, cut
    for op, (path, side, cut) in OUTSIDE[kind].items():
        yield None, op, base.get_submodule(path), side, cut
    yield None, "logits", model.lm_head, "out", rows


@contextlib.contextmanager
def hooked(module, side, cut, config, op, layer, hand):
    """A hook on the input or the output of a module."""

    def before(module, inputs):
        hand(op, layer, cut(inputs[0], config))

    def after(module, inputs, output):
        hand(op, layer, cut(output, config))

    add = module.register_forward_pre_hook if side == "in" else module.register_forward_hook
    handle = add(before if side == "in" else after)
    try:
        yield
    finally:
        handle.remove()


class Calls(TorchFunctionMode):
    """Notes what every torch function called inside returns: `made["softmax"]` is a list."""

    def __init__(self):
        super().__init__()
        self.made = {}

    def __torch_function__(self, function, types, args=(), kwargs=None):
        value = function(*args, **(kwargs or {}))
        self.made.setdefault(function.__name__, []).append(value)
        return value


@contextlib.contextmanager
def replaced(owner, name, function):
    """An attribute replaced for a while."""
    before = getattr(owner, name)
    setattr(owner, name, function(before))
    try:
        yield
    finally:
        setattr(owner, name, before)


def heard_embedding(module, hand):
    """The rows looked up and, where a model scales them, the scaled ones."""

    def wrapper(forward):
        def listening(ids):
            with Calls() as calls:
                out = forward(ids)
            hand("embed", None, calls.made["embedding"][0][0])
            if "mul" in calls.made:
                hand("embed_scaled", None, out[0])
            return out

        return listening

    return replaced(module, "forward", wrapper)


def heard_attention(model, hand):
    """What happens inside the eager attention function of the model's own Python module."""

    def wrapper(forward):
        def listening(block, query, key, value, mask, **settings):
            with Calls() as calls:
                result = forward(block, query, key, value, mask, **settings)
            if rotary and getattr(block, "use_rope", True):
                hand("attn.q_rot", block.layer_idx, query[0].transpose(0, 1))
                hand("attn.k_rot", block.layer_idx, key[0].transpose(0, 1))
            for op, tensor in inside_attention(mask, calls.made, result):
                hand(op, block.layer_idx, tensor)
            return result

        return listening

    module = importlib.import_module(type(model).__module__)
    rotary = hasattr(module, "apply_rotary_pos_emb")
    return replaced(module, "eager_attention_forward", wrapper)


def inside_attention(mask, made, result):
    """Op by op: the scores are the first product, a soft cap ends in the second."""
    yield "attn.scores", made["mul"][0][0]
    if "tanh" in made:
        yield "attn.softcap", made["mul"][1][0]
    hidden = mask[0] < 0  # transformers adds the smallest number of the type, we write -inf
    yield "attn.masked", made["add"][0][0].masked_fill(hidden, float("-inf"))
    yield "attn.weights", made["softmax"][0][0]
    yield "attn.mix", result[0][0]
