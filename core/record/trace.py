"""What one run computed: the residual stream at every layer boundary and the KV cache; the rest is
recomputed.

A full record of 512 tokens takes over a gigabyte, the checkpoints 60 MB. A layer that is asked for
is run again by the same code from the same rows, so every recomputed value is bit for bit what ran.
Knows the pass; no figures, no pages.
"""

import copy

import numpy as np

from core.errors import TraceTooLarge
from core.model import forward, ops, rope
from core.model.axes import OP_AXES
from core.model.cache import KVCache
from core.model.tap import editing_tap
from core.store import ByteStore

from .catalogue import BLOCK_IDS, CATALOGUE, is_layer_op

READ_LIMIT = 256 << 20  # bytes of one array handed out
LAYERS = ByteStore(384 << 20)  # opened layers of all traces


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
    unseen = {"attn.scores": np.nan, "attn.masked": -np.inf, "attn.weights": 0}[op]
    pads = [((0, 0), (0, 0), (0, n_keys - p.shape[-1])) for p in parts]
    padded = [np.pad(p, pad, constant_values=unseen) for p, pad in zip(parts, pads, strict=True)]
    return np.concatenate(padded, axis=1)


class Trace:
    """One run over a prompt: read any op of any layer from it. Everything handed out is read-only
    float32.

    Attributes:
        spec: the RunSpec that was run. model: the Model. ids: token ids. tokens: their visible
        forms.
    """

    def __init__(self, spec, model, ids, key, seconds):
        self.spec, self.model, self.ids, self.key = spec, model, tuple(ids), key
        self.tokens = tuple(model.tokenizer.display(i) for i in ids)
        self.seconds = seconds
        # float32 [layer + 1, seq, embedding]: the stream into each block, then out of the last
        self.stream = None
        self.cache = None

    @property
    def config(self):
        """The sizes of the model."""
        return self.model.config

    @property
    def nbytes(self) -> int:
        """Bytes held, without opened layers."""
        return self.stream.nbytes + self.cache.nbytes

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
        if op == "embed":
            return self.stream[0]
        if op == "final_norm":
            return self._final(slice(None))[0]
        return self._layer(op, layer)[op]

    def each_layer(self, op: str):
        """The op of every layer in turn, each computed and let go: for views of the whole model."""
        for layer in range(self.config.n_layers):
            self._check(op, layer)
            yield self._run_layer(layer, (op,))[op]

    def logits(self, position: int = -1) -> np.ndarray:
        """The scores of every token to come after `position`: float32 [vocab]. IndexError outside
        the prompt.
        """
        return self._final(self._row(position))[1][0]

    def probs(self, position: int = -1) -> np.ndarray:
        """Softmax of the logits at temperature 1: float32 [vocab]."""
        return freeze(ops.softmax(self.logits(position)))

    def stream_source(self, layer: int | None) -> tuple[str, int | None]:
        """Op and layer of what goes into a block, or (layer None) into the last norm."""
        before = (self.config.n_layers if layer is None else layer) - 1
        return ("resid_post", before) if before >= 0 else ("embed", None)

    def constants(self, op: str) -> tuple:
        """The constants that the op's function takes, in the catalogue's order."""
        cos, sin = rope.cos_sin(0, len(self.ids), self.config.head_dim, self.config.rope_theta)
        known = {"cos": cos, "sin": sin}
        return tuple(known.get(c, getattr(self.config, c, None)) for c in CATALOGUE[op].constants)

    def _check(self, op, layer):
        if op in ("logits", "probs") or op not in CATALOGUE:
            valid = [name for name in CATALOGUE if name not in ("logits", "probs")]
            raise KeyError(
                f"no op {op!r} to read; valid are {', '.join(valid)} (and logits(position))"
            )
        if is_layer_op(op) != (layer is not None):
            raise KeyError(f"{op!r} is read {'with' if is_layer_op(op) else 'without'} a layer")
        if layer is not None and not 0 <= layer < self.config.n_layers:
            raise KeyError(f"layer {layer} is not one of 0 to {self.config.n_layers - 1}")
        if (n_bytes := self.op_bytes(op)) > READ_LIMIT:
            n = len(self.ids)
            raise TraceTooLarge(
                "trace_too_large", op=op, n_tokens=n, n_bytes=n_bytes, limit=READ_LIMIT
            )

    def op_bytes(self, op: str) -> int:
        """How large the value of an op is for this prompt, in bytes."""
        sizes = self.config.axis_sizes(len(self.ids))
        return 4 * int(np.prod([sizes[axis] for axis in OP_AXES[op]]))

    def _layer(self, op, layer):
        """The ops of one layer by name: all of them where they fit the store, else the one that is
        asked for.
        """
        fits = sum(map(self.op_bytes, BLOCK_IDS)) <= LAYERS.limit // 2
        keep = BLOCK_IDS if fits else (op,)
        return LAYERS.get(
            (self.key, layer, keep),
            lambda: self._run_layer(layer, keep),
            lambda values: sum(v.nbytes for v in values.values()),
        )

    def _run_layer(self, layer, keep):
        """Run one block again, in the passes of the prefill, from the stream that went into it."""
        c, recorder = self.config, Recorder(keep)
        cache = KVCache(1, len(self.ids), c.n_kv_heads, c.head_dim)
        for first, stop in forward.chunks(len(self.ids)):
            turn = rope.cos_sin(first, stop, c.head_dim, c.rope_theta)
            tap = editing_tap(self.spec.edits, first, recorder)
            one_layer = _OneLayer(cache, layer)
            x = self.stream[layer, first:stop]
            forward.block(x, self.model.weights.layers[layer], c, layer, turn, one_layer, tap)
            cache.advance(stop - first)
        return {op: recorder.value(op) for op in keep}

    def _row(self, position):
        n = len(self.ids)
        if not -n <= position < n:
            raise IndexError(f"position {position} is not one of 0 to {n - 1}")
        return slice(position % n, position % n + 1)

    def _final(self, rows):
        """final_norm and logits of some rows. Logits of all rows are never kept: only asked-for
        ones exist.
        """
        recorder = Recorder(("final_norm", "logits"))
        tap = editing_tap(self.spec.edits, rows.start or 0, recorder)
        x = self.stream[-1, rows]
        if rows == slice(None):
            h = ops.rms_norm(x, self.model.weights.final_norm, self.config.norm_eps)
            return tap("final_norm", None, h), None
        forward.unembed(x, self.model.weights, self.config, tap)
        return recorder.value("final_norm"), recorder.value("logits")


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
            if op == "embed":
                self.stream[0, first : first + len(value)] = value
            elif op == "resid_post":
                self.stream[layer + 1, first : first + len(value)] = value
            return value

        return keep
