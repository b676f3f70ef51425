"""A trace as one .safetensors file that other programs read. Knows names and metadata; no figures.

An op of a layer is called `layers.3.attn.weights`; the metadata hold the names other tools use for
the same values and what is easy to get wrong.
"""

import errno
import json
from pathlib import Path

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import save_file

from core.errors import SettingError

from .catalogue import CATALOGUE, is_layer_op

ALIASES = {  # ours -> (TransformerLens, Hugging Face module); {} is the layer
    "embed": ("hook_embed", "model.embed_tokens"),
    "resid_pre": ("blocks.{}.hook_resid_pre", "model.layers.{} (input)"),
    "attn.q": ("blocks.{}.attn.hook_q", "model.layers.{}.self_attn.q_proj"),
    "attn.k": ("blocks.{}.attn.hook_k", "model.layers.{}.self_attn.k_proj"),
    "attn.v": ("blocks.{}.attn.hook_v", "model.layers.{}.self_attn.v_proj"),
    "attn.q_rot": ("blocks.{}.attn.hook_rot_q", ""),
    "attn.k_rot": ("blocks.{}.attn.hook_rot_k", ""),
    "attn.masked": ("blocks.{}.attn.hook_attn_scores", ""),
    "attn.weights": ("blocks.{}.attn.hook_pattern", "model.layers.{}.self_attn (attentions)"),
    "attn.mix": ("blocks.{}.attn.hook_z", ""),
    "attn.out": ("blocks.{}.hook_attn_out", "model.layers.{}.self_attn.o_proj"),
    "resid_mid": ("blocks.{}.hook_resid_mid", ""),
    "mlp.gate": ("blocks.{}.mlp.hook_pre", "model.layers.{}.mlp.gate_proj"),
    "mlp.up": ("blocks.{}.mlp.hook_pre_linear", "model.layers.{}.mlp.up_proj"),
    "mlp.hidden": ("blocks.{}.mlp.hook_post", ""),
    "mlp.out": ("blocks.{}.hook_mlp_out", "model.layers.{}.mlp.down_proj"),
    "resid_post": ("blocks.{}.hook_resid_post", "model.layers.{}"),
    "final_norm": ("", "model.norm"),
    "logits": ("unembed.hook_out (last row)", "lm_head (last row)"),
}
NOTES = (
    "weights are raw (no folding); keys are cached after RoPE; norms are after the weight multiply"
    " (TransformerLens hook_normalized is before it); query head h reads key/value head h // group;"
    " scores are scaled and unmasked,"
    " masked are scaled and hold -inf; logits are those after the last position"
)


def export(trace, path, ops=None, layers=None) -> int:
    """Write ops of a trace to a .safetensors file; all ops of all layers by default. Returns the
    bytes written.

    SettingError for an op or layer that does not exist; OSError where the file cannot be written.
    """
    path, arrays = Path(path), {}
    for op in ops or CATALOGUE:
        _check(op, layers, trace.config.n_layers)
        for layer in (layers or range(trace.config.n_layers)) if is_layer_op(op) else (None,):
            name = op if layer is None else f"layers.{layer}.{op}"
            arrays[name] = np.ascontiguousarray(_value(trace, op, layer))
    _save(arrays, path, _metadata(trace))
    return path.stat().st_size


def _save(arrays, path, metadata):
    """Write the file. The library replaces it by one that only its owner may read: the mode that
    the file has, or that a new file gets here, is put back.
    """
    new = not path.exists()
    if not new and not path.is_file():  # a device must not be replaced
        raise OSError(errno.EINVAL, "is not a file", str(path))
    path.touch()
    mode = path.stat().st_mode
    try:
        save_file(arrays, str(path), metadata=metadata)
    except SafetensorError as error:
        if new:
            path.unlink()
        raise OSError(errno.EIO, str(error), str(path)) from None
    path.chmod(mode)


def _value(trace, op, layer):
    if op in ("logits", "probs"):
        return getattr(trace, op)()
    return trace.read(op, layer)


def _check(op, layers, n_layers):
    if op not in CATALOGUE:
        raise SettingError("bad_setting", name="ops", wanted=", ".join(CATALOGUE), value=repr(op))
    for layer in layers or ():
        if not 0 <= layer < n_layers:
            wanted = f"numbers from 0 to {n_layers - 1}"
            raise SettingError("bad_setting", name="layers", wanted=wanted, value=layer)


def _metadata(trace):
    source = trace.model.source
    return {
        "program": "tokenwalk",
        "model": source.path.name,
        "model_sha256": source.sha256,
        "ids": json.dumps(trace.ids),
        "tokens": json.dumps(trace.tokens, ensure_ascii=False),
        "axes": json.dumps({op.id: op.axes for op in CATALOGUE.values()}),
        "aliases": json.dumps(ALIASES),
        "edits": json.dumps([str(edit) for edit in trace.spec.edits]),
        "notes": NOTES,
    }
