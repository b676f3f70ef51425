"""Where the rooms meet: say what to run, run it.

`run`, and the ids a RunSpec runs on. Knows every room of core but decode and analyse; no pages.
"""

import dataclasses
import time
from types import MappingProxyType

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
__all__ += ["run_from"]

TRACES = ByteStore(384 << 20)  # 1,600 tokens of the default model, and the same with an edit


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


def run(spec: RunSpec, watch=None) -> Trace:
    """One full pass over the prompt of a spec. Sampling fields do not matter to it.

    watch: of what wants to see the values of the pass as they are made, where it has to be made:
    watch(model, ids, first) -> what each part of the pass, from row `first` on, calls with (op,
    layer, value) after the edits. It must change nothing.

    Deterministic: the same file, ids and edits give the same Trace, from a store bounded in bytes.
    Raises ModelFileError, PromptError.
    """
    model = open_model(spec.model)
    ids = prompt_ids(model, spec)
    key = (model.source.key, tuple(ids), spec.edits)
    trace = TRACES.get(key, lambda: _trace(spec, model, ids, key, watch), lambda t: t.nbytes)
    return trace.under(spec)


@np.errstate(all="ignore")  # broken weights give infinities: they are recorded, not warned of
def _trace(spec, model, ids, key, watch):
    start, c = time.perf_counter(), model.config
    checkpoints, stopwatch = Checkpoints(c, len(ids)), Stopwatch()
    cache = KVCache(c.n_layers, len(ids), c.n_kv_heads, c.head_dim)
    for first, stop in forward.chunks(len(ids)):
        then = checkpoints.tap(first)
        if watch:
            then = _watched(then, watch(model, ids, first))
        tap = stopwatch.tap(editing_tap(spec.edits, first, then))
        forward.forward(np.array(ids[first:stop]), model.weights, c, cache, tap, len(ids))
    took = time.perf_counter() - start - stopwatch.aside  # recording is no part of the run
    trace = Trace(spec, model, ids, key, seconds=took)
    return _finished(trace, checkpoints, cache, stopwatch.seconds)


def _watched(then, see):
    """The tap `then`, whose values `see` is shown."""

    def tap(op, layer, value):
        value = then(op, layer, value)
        see(op, layer, value)
        return value

    return tap


def run_from(trace: Trace, layer: int, edits) -> Trace:
    """The run of the same ids under other edits that change nothing before block `layer`: the
    stream into that block, and keys and values before it, are those of `trace`; the rest is
    computed. Bit for bit what `run` gives, and kept where `run` finds it.

    Raises SettingError for an edit outside the sizes of the model.
    """
    spec = dataclasses.replace(trace.spec, edits=tuple(edits))
    for edit in spec.edits:
        _check_edit(edit, trace.config)
    key = (*trace.key[:2], spec.edits)
    made = TRACES.get(key, lambda: _trace_from(trace, layer, spec, key), lambda t: t.nbytes)
    return made.under(spec)


@np.errstate(all="ignore")
def _trace_from(trace, layer, spec, key):
    start, c, n = time.perf_counter(), trace.config, len(trace.ids)
    checkpoints, stopwatch = Checkpoints(c, n), Stopwatch()
    checkpoints.stream[: layer + 1] = trace.stream[: layer + 1]
    cache = KVCache(c.n_layers, n, c.n_kv_heads, c.head_dim)
    cache.keys[:layer], cache.values[:layer] = trace.cache.keys[:layer], trace.cache.values[:layer]
    for first, stop in forward.chunks(n):
        tap = stopwatch.tap(editing_tap(spec.edits, first, checkpoints.tap(first)))
        x, turns = trace.stream[layer, first:stop], forward.angles(c, first, stop, n)
        for each in range(layer, c.n_layers):
            w = trace.model.weights.layers[each]
            x = forward.block(x, w, c, each, turns[each], cache, tap)
        cache.advance(stop - first)
    before = {place: took for place, took in trace.timings.items() if _is_before(place, layer)}
    return _finished(
        Trace(spec, trace.model, trace.ids, key, seconds=time.perf_counter() - start),
        checkpoints,
        cache,
        MappingProxyType(before | stopwatch.seconds),
    )


def _is_before(place, layer):
    """Whether an op, as (op, layer), runs before a block."""
    return place[1] is None or place[1] < layer


def _finished(trace, checkpoints, cache, timings):
    trace.stream = checkpoints.stream
    trace.stream.flags.writeable = False
    trace.cache, trace.timings = cache.freeze(), timings
    return trace
