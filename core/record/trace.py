"""What one run computed: the residual stream at every layer boundary and the KV cache; the rest is
recomputed.

A full record of 512 tokens takes over a gigabyte, the checkpoints 60 MB. A layer that is asked for
is run again by the same code from the same rows, so every recomputed value is bit for bit what ran.
Knows the pass; no figures, no pages.
"""

import copy
import functools
import math
from contextlib import suppress

import numpy as np

from core.errors import TraceTooLarge
from core.model import forward, ops, rope
from core.model.axes import BEFORE_BLOCKS, OP_AXES, VOCAB_OPS
from core.model.cache import KVCache
from core.model.tap import editing_tap
from core.store import ByteStore

from .catalogue import catalogue_of

READ_LIMIT = 256 << 20  # bytes of one array handed out
LAYERS = ByteStore(232 << 20)  # opened layers of all traces
TIMING = 160  # bytes of one time among `timings`: a number, its key and their place


class Recorder:
    """A tap that freezes and keeps the values of some ops, pass by pass."""

    def __init__(self, keep):
        self.keep, self.parts = set(keep), {op: [] for op in keep}

    def __call__(self, op, layer, value):
        if op in self.keep:
            self.parts[op].append(freeze(value))
        return value

    def value(self, op):
        """The rows of all passes under each other; keys that a pass did not reach stay NaN, weights
        there 0.
        """
        parts = self.parts[op]
        return parts[0] if len(parts) == 1 else freeze(join(op, parts))


def freeze(array):
    """Make an array read-only, with everything it is a view of; return it."""
    base = array
    while isinstance(base, np.ndarray):
        base.flags.writeable = False
        base = base.base
    return array


def join(op, parts):
    """One array from the passes of a long prompt."""
    if "key" not in OP_AXES[op]:
        return np.concatenate(parts)
    n_keys = parts[-1].shape[-1]
    unseen = {"attn.masked": -np.inf, "attn.weights": 0}.get(op, np.nan)
    pads = [((0, 0), (0, 0), (0, n_keys - p.shape[-1])) for p in parts]
    padded = [np.pad(p, pad, constant_values=unseen) for p, pad in zip(parts, pads, strict=True)]
    return np.concatenate(padded, axis=1)


class Trace:
    """One run over a prompt: read any op of any layer from it. Everything handed out is read-only
    float32.

    Attributes:
        spec: the RunSpec that was run. model: the Model. ids: token ids. tokens: their visible
        forms. catalogue: the ops that this model has. seconds: how long the run took, and timings:
        how long each op of it, by (op, layer); measured once, when this trace was made.
    """

    def __init__(self, spec, model, ids, key, seconds):
        self.spec, self.model, self.ids, self.key = spec, model, tuple(ids), key
        self.tokens = tuple(model.tokenizer.display(i) for i in ids)
        self.seconds = seconds
        self.catalogue = catalogue_of(model.config)
        # float32 [layer + 1, seq, embedding]: the stream into each block, then out of the last
        self.stream = None
        self.cache = None
        self.timings = {}

    @property
    def config(self):
        """The sizes of the model."""
        return self.model.config

    @property
    def nbytes(self) -> int:
        """Bytes held, without opened layers."""
        return self.stream.nbytes + self.cache.nbytes + TIMING * len(self.timings)

    def under(self, spec):
        """This run under a spec of the same ids and edits: traces are shared, specs differ in
        sampling.
        """
        if spec == self.spec:
            return self
        other = copy.copy(self)
        other.spec = spec
        return other

    def read(self, op: str, layer: int | None = None) -> np.ndarray:
        """The recorded value of an op, float32, read-only, axes as the catalogue says.

        KeyError for an unknown op or layer, listing the valid ones; TraceTooLarge above 256 MiB.
        """
        self._check(op, layer)
        if op == "resid_post":
            return self.stream[layer + 1]
        if op in BEFORE_BLOCKS:
            return self._embedded()[op]
        if op == "final_norm":
            return self._final_norm()
        return self._layer(op, layer)[op]

    def each_layer(self, op: str):
        """The op of every layer that has it, each computed and let go: for views of all layers."""
        yield from (values[op] for values in self.each_block(op))

    def each_block(self, *ops: str):
        """Several ops of every layer that has the first of them, by id; each layer is run once."""
        for layer in self.catalogue.layers_with(ops[0]):
            for op in ops:
                self._check(op, layer)
            yield self._run_layer(layer, ops)

    def logits(self, position: int = -1) -> np.ndarray:
        """The scores of every token to come after `position`: float32 [vocab]. IndexError outside
        the prompt. Where the model caps its scores, these are the capped ones.
        """
        return self.output(self.catalogue.last, position)

    def probs(self, position: int = -1) -> np.ndarray:
        """Softmax of the logits at temperature 1: float32 [vocab]."""
        return freeze(ops.softmax(self.logits(position)))

    @np.errstate(all="ignore")
    def output(self, op: str, position: int = -1) -> np.ndarray:
        """The value of `logits`, `logits_capped` or `probs` after `position`: float32 [vocab]."""
        self.catalogue.op(op)
        if op == "probs":
            return self.probs(position)
        recorder, row = Recorder((op,)), self._row(position)
        tap = editing_tap(self.spec.edits, row.start, recorder)
        forward.unembed(self.stream[-1, row], self.model.weights, self.config, tap)
        return recorder.value(op)[0]

    def stream_source(self, layer: int | None) -> tuple[str, int | None]:
        """Op and layer of what goes into a block, or (layer None) into the last norm."""
        before = (self.config.n_layers if layer is None else layer) - 1
        return ("resid_post", before) if before >= 0 else (list(self.catalogue.before)[-1], None)

    def constants(self, op: str, layer: int | None = None) -> tuple:
        """The constants that the op's function takes, in the catalogue's order."""
        n, known = len(self.ids), {"positions": np.arange(len(self.ids))}
        if layer is not None:
            known["window"] = self.config.windows[layer]
        names = self.catalogue.op(op, layer).constants
        if "cos" in names:
            turn = rope.cos_sin(self.config.ropes[layer], 0, n, n)
            known |= dict(zip(("cos", "sin"), turn, strict=True))
        return tuple(known[c] if c in known else getattr(self.config, c) for c in names)

    def _check(self, op, layer):
        if op in VOCAB_OPS or op not in self.catalogue.ids:
            valid = [name for name in self.catalogue.ids if name not in VOCAB_OPS]
            raise KeyError(
                f"no op {op!r} to read; valid are {', '.join(valid)} (and logits(position))"
            )
        self.catalogue.op(op, layer)
        if (n_bytes := self.op_bytes(op)) > READ_LIMIT:
            n = len(self.ids)
            raise TraceTooLarge(
                "trace_too_large", op=op, n_tokens=n, n_bytes=n_bytes, limit=READ_LIMIT
            )

    def op_bytes(self, op: str) -> int:
        """How large the value of an op is for this prompt, in bytes."""
        sizes = self.config.axis_sizes(len(self.ids))
        return 4 * math.prod(sizes[axis] for axis in OP_AXES[op])

    @functools.cached_property
    def layer_fits(self):
        """Whether all ops of a layer may be kept at once."""
        every = set().union(*self.catalogue.blocks)
        return sum(map(self.op_bytes, every)) <= LAYERS.limit // 2

    def _layer(self, op, layer):
        """The ops of one layer by name: all of them where they fit the store, else the one that is
        asked for.
        """
        keep = tuple(self.catalogue.blocks[layer]) if self.layer_fits else (op,)
        return LAYERS.get(
            (self.key, layer, keep),
            lambda: self._run_layer(layer, keep),
            lambda values: sum(v.nbytes for v in values.values()),
        )

    @np.errstate(all="ignore")
    def _run_layer(self, layer, keep):
        """Run one block again, in the passes of the prefill, from the stream that went into it; as
        far as the last op that is wanted.
        """
        c, n, recorder = self.config, len(self.ids), Recorder(keep)
        last = [op for op in self.catalogue.blocks[layer] if op in keep][-1]
        cache = KVCache(1, n, c.n_kv_heads, c.head_dim)
        for first, stop in forward.chunks(n):
            turn = c.ropes[layer] and rope.cos_sin(c.ropes[layer], first, stop, n)
            tap = editing_tap(self.spec.edits, first, _until(last, recorder))
            one_layer = _OneLayer(cache, layer)
            x = self.stream[layer, first:stop]
            with suppress(_Enough):
                forward.block(x, self.model.weights.layers[layer], c, layer, turn, one_layer, tap)
            cache.advance(stop - first)
        return {op: recorder.value(op) for op in keep}

    def _row(self, position):
        n = len(self.ids)
        if not -n <= position < n:
            raise IndexError(f"position {position} is not one of 0 to {n - 1}")
        return slice(position % n, position % n + 1)

    def _embedded(self):
        """The ops before the first block."""
        recorder = Recorder(self.catalogue.before)
        tap = editing_tap(self.spec.edits, 0, recorder)
        forward.embed(np.array(self.ids), 0, self.model.weights, self.config, tap)
        return {op: recorder.value(op) for op in recorder.keep}

    @np.errstate(all="ignore")
    def _final_norm(self):
        """The last norm of all rows. (Logits of all rows never exist: only those asked for.)"""
        w, tap = self.model.weights, editing_tap(self.spec.edits, 0)
        h = forward.norm(self.stream[-1], w.final_norm, w.final_norm_bias, self.config)
        return freeze(tap("final_norm", None, h))


class _Enough(Exception):
    """Raised in a tap: the rest of the block is not wanted."""


def _until(last, recorder):
    """A tap that ends the block behind an op: the attention of a layer costs a third of it."""

    def tap(op, layer, value):
        value = recorder(op, layer, value)
        if op == last:
            raise _Enough
        return value

    return tap


class _OneLayer:
    """The cache of a single layer, under its own number."""

    def __init__(self, cache, layer):
        self.cache, self.layer = cache, layer

    def append(self, layer, k, v):
        return self.cache.append(0, k, v)


class Checkpoints:
    """A tap that keeps what goes into each block: the checkpoints of a trace."""

    def __init__(self, config, n_tokens):
        self.stream = np.empty((config.n_layers + 1, n_tokens, config.width), np.float32)

    def tap(self, first):
        """The recorder for the pass whose first row is `first`."""

        def keep(op, layer, value):
            if op == "resid_post":
                self.stream[layer + 1, first : first + len(value)] = value
            elif op in BEFORE_BLOCKS:  # the last of them stays
                self.stream[0, first : first + len(value)] = value
            return value

        return keep
