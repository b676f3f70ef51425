"""A trace as one .safetensors file that other programs read. Knows names and metadata; no figures.

An op of a layer is called `layers.3.attn.weights`; the metadata hold the names other tools use for
the same values, which weights in which precision made them, and what is easy to get wrong.
"""

import errno
import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import save_file

from core.errors import SettingError
from core.model.axes import OP_AXES, VOCAB_OPS

from .aliases import aliases

FORMAT = "1"  # of the names and metadata below; a change that breaks readers raises it
NOTES = (
    "weights are raw (no folding); keys are cached after RoPE; norms are after the weight multiply"
    " (TransformerLens hook_normalized is before it); pos_embed is the stream after the position's"
    " row was added (hook_pos_embed is that row); query head h reads key/value head h // group;"
    " scores are scaled and unmasked, softcap is before the mask,"
    " masked are scaled and hold -inf; of a prompt over 1,024 tokens, run in parts, scores of keys"
    " behind the part are NaN; attn.out and mlp.out are before a norm behind them, where"
    " hook_attn_out and hook_mlp_out are after it; logits are those after the last position, before"
    " a cap"
)


def export(trace, path, ops=None, layers=None) -> int:
    """Write ops of a trace to a .safetensors file; all ops of all layers by default. Returns the
    bytes written.

    SettingError for an op or layer that does not exist; OSError where the file cannot be written.
    """
    path, arrays, wanted = Path(path), {}, []
    _check_target(trace.model.source, path)
    for op in ops or trace.catalogue.ids:
        _check(trace, op, layers)
        wanted += [(n, op) for n in _wanted(trace.catalogue.layers_with(op), layers)]
    wanted.sort(key=lambda pair: -1 if pair[0] is None else pair[0])  # a layer is run once for all
    for layer, op in wanted:
        name = op if layer is None else f"layers.{layer}.{op}"
        arrays[name] = np.ascontiguousarray(_value(trace, op, layer))
    _save(arrays, path, _metadata(trace))
    return path.stat().st_size


def _check_target(source, path):
    """A trace must not take the place of a file of its own model."""
    home = source.path if source.path.is_dir() else source.path.parent
    if path.resolve() in {(home / name).resolve() for name, *_ in source.key[1:]}:
        wanted = "a new file, not one of the model"
        raise SettingError("bad_setting", name="out", wanted=wanted, value=str(path))


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
    return trace.output(op) if op in VOCAB_OPS else trace.read(op, layer)


def _wanted(has, layers):
    """Of the layers that have an op those that were asked for."""
    return [n for n in has if layers is None or n is None or n in layers]


def _check(trace, op, layers):
    if op not in trace.catalogue.ids:
        known = ", ".join(trace.catalogue.ids)
        raise SettingError("bad_setting", name="ops", wanted=known, value=repr(op))
    for layer in layers or ():
        if not 0 <= layer < trace.config.n_layers:
            wanted = f"numbers from 0 to {trace.config.n_layers - 1}"
            raise SettingError("bad_setting", name="layers", wanted=wanted, value=layer)


def _metadata(trace):
    source = trace.model.source
    return {
        "program": "tokenwalk",
        "format": FORMAT,
        "model": _name(trace.spec.model),
        "model_file": source.path.name,
        "model_sha256": source.sha256,
        "quantization": json.dumps(dict(source.stored)),
        "precision": "float32",
        "config": json.dumps(asdict(trace.config), default=sorted),
        "ids": json.dumps(trace.ids),
        "tokens": json.dumps(trace.tokens, ensure_ascii=False),
        "axes": json.dumps({op: OP_AXES[op] for op in trace.catalogue.ids}),
        "aliases": json.dumps(aliases(trace.catalogue)),
        "edits": json.dumps([str(edit) for edit in trace.spec.edits]),
        "notes": NOTES,
    }


def _name(model):
    """What the model was called; of a path its last part: folders of this computer stay here."""
    return Path(model).name if Path(model).expanduser().exists() else model
