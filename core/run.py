"""Where the rooms meet: open a model, say what to run, run it.

`Model`, `RunSpec`, `open_model`, `run`. Knows every room of core but decode and analyse; no pages.
"""

import hashlib
import math
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from core.errors import ModelFileError, PromptError, SettingError
from core.files import config as file_config
from core.files import gguf, registry, weights
from core.model import forward
from core.model.axes import OP_AXES
from core.model.cache import KVCache
from core.model.config import ModelConfig
from core.model.tap import Edit, editing_tap
from core.record.catalogue import is_layer_op
from core.record.trace import Checkpoints, Trace
from core.store import ByteStore
from core.text import tokenizer
from core.text.tokenizer import Tokenizer

MODELS = ByteStore(6 << 30)
TRACES = ByteStore(768 << 20)


@dataclass(frozen=True)
class Source:
    """Where a model came from: its file, format, sha256 of the file, and the licence if the file
    says one.
    """

    path: Path
    format: str
    sha256: str
    licence: str | None
    name: str | None


@dataclass(frozen=True, eq=False)
class Model:
    """A model that is ready to run; everything in it is read-only and shared."""

    config: ModelConfig
    tokenizer: Tokenizer
    weights: weights.Weights
    source: Source


@dataclass(frozen=True)
class RunSpec:
    """All that decides a run; hashable, plain values, fits in a link. Give exactly one of prompt,
    messages, ids.

    messages: [{"role": "user", "content": "Hi"}, ...] or pairs. temperature 0 is greedy; top_k 0,
    top_p 1, min_p 0 and repetition_penalty 1 switch those steps off. Raises SettingError for a bad
    setting.
    """

    model: str
    prompt: str | None = None
    messages: tuple[tuple[str, str], ...] | None = None
    ids: tuple[int, ...] | None = None
    max_new_tokens: int = 40
    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0
    repetition_penalty: float = 1.0
    seed: int = 0
    edits: tuple[Edit, ...] = field(default=())

    def __post_init__(self):
        n = sum(x is not None for x in (self.prompt, self.messages, self.ids))
        if n != 1:
            raise SettingError("one_input", n=n)
        for name in ("messages", "ids", "edits"):
            if name == "edits" or getattr(self, name) is not None:
                object.__setattr__(self, name, _tuple(name, getattr(self, name)))
        if self.messages is not None:
            object.__setattr__(self, "messages", tuple(map(_pair, self.messages)))
        self._check_kinds()
        self._check_settings()

    def _check_kinds(self):
        _check_kind("model", self.model, str, "a name or a path")
        _check_kind("prompt", self.prompt, (str, type(None)), "a text")
        for edit in self.edits:
            _check_kind("edits", edit, Edit, "a list of Edit")

    def _check_settings(self):
        _check("max_new_tokens", self.max_new_tokens, int, 1, 1 << 20)
        _check("temperature", self.temperature, float, 0, math.inf)
        _check("top_k", self.top_k, int, 0, 1 << 30)
        _check("top_p", self.top_p, float, 0, 1)
        _check("min_p", self.min_p, float, 0, 1)
        _check("repetition_penalty", self.repetition_penalty, float, 1e-6, math.inf)
        _check("seed", self.seed, int, 0, 2**63)


def _tuple(name, values):
    try:
        return tuple(values)
    except TypeError:
        _check_kind(name, values, tuple, "a list")


def _check_kind(name, value, kind, wanted):
    if not isinstance(value, kind):
        raise SettingError("bad_setting", name=name, wanted=wanted, value=repr(value)[:80])


def _check(name, value, kind, low, high):
    """A finite number of the right kind (a whole one may stand for a float) within its bounds."""
    right = isinstance(value, (int, float) if kind is float else int) and not isinstance(
        value, bool
    )
    if not right or not math.isfinite(value) or not low <= value <= high:
        wanted = ("a whole number" if kind is int else "a number") + f", at least {low:g}"
        wanted += f" and at most {high:g}" if math.isfinite(high) else ""
        raise SettingError("bad_setting", name=name, wanted=wanted, value=repr(value))


def _pair(message):
    if isinstance(message, dict):
        message = message.get("role"), message.get("content")
    pair = tuple(message) if isinstance(message, (tuple, list)) else ()
    if len(pair) != 2 or not all(isinstance(part, str) for part in pair):
        raise SettingError("bad_message", value=repr(message)[:80])
    return pair


def find(name: str) -> Path:
    """The file a name stands for: a registry name on disk, or a path. Never uses the network."""
    if name in registry.MODELS:
        if not registry.on_disk(name):
            raise ModelFileError("not_on_disk", name=name)
        return registry.path_of(name).resolve()
    try:
        path = Path(name).expanduser().resolve()
        if path.is_file():
            return path
    except (
        OSError,
        RuntimeError,
        ValueError,
    ):  # too long, no such home, a loop of links, a zero byte
        pass
    if name.endswith(".gguf") or "/" in name:
        raise ModelFileError("no_such_file", path=name)
    raise ModelFileError("unknown_model", name=name, known=", ".join(registry.MODELS))


def open_model(name: str) -> Model:
    """A registry name or a path to a .gguf file becomes a Model, once for everybody.

    Raises ModelFileError. Memoised by resolved path, size and time of change, in a store bounded in
    bytes.
    """
    path = find(name)
    return MODELS.get(_file_key(path), lambda: _load(path), lambda m: m.weights.nbytes)


def _file_key(path):
    stat = path.stat()
    return str(path), stat.st_size, stat.st_mtime_ns


def _load(path):
    file = gguf.read(path)
    config = file_config.from_gguf(file)
    digest = _InThread(lambda: _sha256(path))  # while the blocks are dequantized
    words = tokenizer.from_gguf(file)
    arrays = weights.load(file, config)
    licence, title = file.metadata.get("general.license"), file.metadata.get("general.name")
    return Model(config, words, arrays, Source(path, "gguf", digest.result(), licence, title))


def _sha256(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class _InThread:
    """A function under way in a thread of its own."""

    def __init__(self, function):
        self._thread = threading.Thread(target=self._run, args=(function,), daemon=True)
        self._thread.start()

    def _run(self, function):
        self._value = function()

    def result(self):
        self._thread.join()
        return self._value


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
        ids = words.chat(spec.messages)
    else:
        ids = [words.bos_id] * words.add_bos + words.encode(spec.prompt)
        if spec.prompt == "" or not words.encode(spec.prompt):
            raise PromptError("nothing_to_run")
    if not ids:
        raise PromptError("nothing_to_run")
    if len(ids) > model.config.context:
        raise PromptError("prompt_too_long", n_tokens=len(ids), limit=model.config.context)
    return ids


def _check_edit(edit, config):
    """An edit outside the sizes of the model would change nothing: refused, not ignored."""
    sizes, axes = config.axis_sizes(config.context), OP_AXES[edit.op]
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
    key = (_file_key(model.source.path), tuple(ids), spec.edits)
    trace = TRACES.get(key, lambda: _trace(spec, model, ids, key), lambda t: t.nbytes)
    return trace.under(spec)


def _trace(spec, model, ids, key):
    start, c = time.perf_counter(), model.config
    checkpoints = Checkpoints(c, len(ids))
    cache = KVCache(c.n_layers, len(ids), c.n_kv_heads, c.head_dim)
    for first, stop in forward.chunks(len(ids)):
        tap = editing_tap(spec.edits, first, checkpoints.tap(first))
        forward.forward(np.array(ids[first:stop]), model.weights, c, cache, tap)
    trace = Trace(spec, model, ids, key, seconds=time.perf_counter() - start)
    trace.stream = checkpoints.stream
    trace.stream.flags.writeable = False
    trace.cache = cache.freeze()
    return trace
