"""Where the rooms meet: say what to run, run it.

`run`, and the ids a RunSpec runs on. Knows every room of core but decode and analyse; no pages.
"""

import time

import numpy as np

from core.errors import PromptError, SettingError
from core.model import forward
from core.model.axes import OP_AXES, is_layer_op
from core.model.cache import KVCache
from core.model.tap import editing_tap
from core.opening import MODELS, Model, Source, open_model
from core.record.catalogue import catalogue_of
from core.record.stopwatch import Stopwatch
from core.record.trace import Checkpoints, Trace
from core.spec import RunSpec
from core.store import ByteStore

__all__ = ["MODELS", "TRACES", "Model", "RunSpec", "Source", "open_model", "prompt_ids", "run"]

TRACES = ByteStore(768 << 20)


def prompt_ids(model: Model, spec: RunSpec) -> list[int]:
    """The ids a spec runs on: BOS once where the file asks for it.

    Raises PromptError; SettingError for an edit outside the sizes of the model.
    """
    for edit in spec.edits:
        _check_edit(edit, model.config)
    words = model.tokenizer
    if spec.ids is not None:
        ids = _checked(spec.ids, model.config.vocab)
    elif spec.messages is not None:
        ids = words.chat(spec.messages, spec.control)
    else:
        ids = words.encode(spec.prompt, spec.control)
        ids = [words.bos_id] * (words.add_bos and bool(ids)) + ids
    if not ids:
        raise PromptError("nothing_to_run")
    if len(ids) > model.config.context:
        raise PromptError("prompt_too_long", n_tokens=len(ids), limit=model.config.context)
    return ids


def _check_edit(edit, config):
    """An edit outside the sizes of the model would change nothing: refused, not ignored."""
    catalogue, sizes = catalogue_of(config), config.axis_sizes(config.context)
    axes = OP_AXES[edit.op]
    if edit.op not in catalogue.ids or edit.layer not in (None, *catalogue.layers_with(edit.op)):
        raise SettingError("bad_edit", op=edit.op, reason="this model or layer has no such op")
    for name, n, limit in (
        ("layer", edit.layer, config.n_layers if is_layer_op(edit.op) else 0),
        ("head", edit.head, sizes["kv_head" if "kv_head" in axes else "head"]),
        ("position", edit.position, config.context),
        ("index", edit.index, sizes[axes[-1]]),
    ):
        if n is not None and n >= limit:
            raise SettingError("bad_edit", op=edit.op, reason=f"there is no {name} {n}")


def _checked(ids, vocab):
    for value in ids:
        whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
        if not whole or not 0 <= value < vocab:
            raise PromptError("bad_ids", largest=vocab - 1, value=repr(value))
    return [int(i) for i in ids]


def run(spec: RunSpec) -> Trace:
    """One full pass over the prompt of a spec. Sampling fields do not matter to it.

    Deterministic: the same file, ids and edits give the same Trace, from a store bounded in bytes.
    Raises ModelFileError, PromptError.
    """
    model = open_model(spec.model)
    ids = prompt_ids(model, spec)
    key = (model.source.key, tuple(ids), spec.edits)
    trace = TRACES.get(key, lambda: _trace(spec, model, ids, key), lambda t: t.nbytes)
    return trace.under(spec)


@np.errstate(all="ignore")  # broken weights give infinities: they are recorded, not warned of
def _trace(spec, model, ids, key):
    start, c = time.perf_counter(), model.config
    checkpoints, stopwatch = Checkpoints(c, len(ids)), Stopwatch()
    cache = KVCache(c.n_layers, len(ids), c.n_kv_heads, c.head_dim)
    for first, stop in forward.chunks(len(ids)):
        tap = stopwatch.tap(editing_tap(spec.edits, first, checkpoints.tap(first)))
        forward.forward(np.array(ids[first:stop]), model.weights, c, cache, tap, len(ids))
    trace = Trace(spec, model, ids, key, seconds=time.perf_counter() - start)
    trace.stream = checkpoints.stream
    trace.stream.flags.writeable = False
    trace.cache, trace.timings = cache.freeze(), stopwatch.seconds
    return trace
