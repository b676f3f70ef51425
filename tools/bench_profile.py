"""Where the time of our own engine goes: its ops wrapped in clocks, in a pass of its own.

Knows core's ops and its catalogue; measures no other engine, and its totals enter no ratio.
"""

import statistics
import threading
import time
from collections import Counter

KINDS = {"dot": "matrix products with weights", "score": "scores", "mix": "mix"}


class Clock:
    """Adds up the seconds of wrapped functions, by name; one called by another is the other's."""

    def __init__(self):
        self.seconds, self.busy = Counter(), False

    def wrap(self, name, function):
        """The function with a clock around it."""

        def timed(*args, **kwargs):
            if self.busy or threading.current_thread() is not threading.main_thread():
                return function(*args, **kwargs)
            self.busy, start = True, time.perf_counter()
            try:
                return function(*args, **kwargs)
            finally:
                self.seconds[name] += time.perf_counter() - start
                self.busy = False

        return timed


def profile(engine, do, n, times=3):
    """Seconds of one prefill of n tokens, or of one token decoded after them, and their parts.

    The parts are the ops, matrix products first; "between the ops" is Python and recording.
    """
    passes = [_once(engine, do, n) for _ in range(times + 1)][1:]
    total, seconds = sorted(passes, key=lambda p: p[0])[len(passes) // 2]
    parts = dict.fromkeys(KINDS.values(), 0.0)
    kinds = _kinds(engine.model.config)
    for name, spent in seconds.most_common():
        part = KINDS.get(kinds.get(name), name)
        parts[part] = parts.get(part, 0.0) + spent
    return {"seconds": total, "parts": parts | {"between the ops": total - sum(parts.values())}}


def _once(engine, do, n):
    """Total and seconds by function: of a prefill, or per token of some decoded ones."""
    if do == "prefill":
        engine.start(n)
        with _Wrapped() as clock:
            start = time.perf_counter()
            engine.run(n)
            return time.perf_counter() - start, clock.seconds
    return _decoded(engine, n)


def _decoded(engine, n, steps=16):
    """Every token is a pass of its own; the one of the median time is taken."""
    passes = []
    with _Wrapped() as clock:
        for event in engine.core.generate(engine.spec(n, max_new_tokens=steps + 1)):
            passes.append((event.seconds, clock.seconds))
            clock.seconds = Counter()
    median = statistics.median_low(seconds for seconds, _ in passes[1:])
    return next(p for p in passes[1:] if p[0] == median)


class _Wrapped:
    """While it lasts, every public function of core.model.ops has a clock around it."""

    def __enter__(self):
        from core.model import ops

        clock, self.ops, self.before = Clock(), ops, dict(vars(ops))
        self.activations = dict(ops.ACTIVATIONS)
        for name, value in self.before.items():
            if getattr(value, "__module__", None) == ops.__name__ and not name.startswith("_"):
                setattr(ops, name, clock.wrap(name, value))
        for name, value in self.activations.items():
            ops.ACTIVATIONS[name] = clock.wrap(value.__name__, value)
        return clock

    def __exit__(self, *error):
        vars(self.ops).update(self.before)
        self.ops.ACTIVATIONS.update(self.activations)


def _kinds(config):
    """Function name -> kind of op, from the catalogue of this model."""
    from core.record.catalogue import catalogue_of

    ops, catalogue = {}, catalogue_of(config)
    for block in (catalogue.before, *catalogue.blocks, catalogue.after):
        ops |= {op.function.__name__: op.kind for op in block.values()}
        ops |= {op.together.__name__: op.kind for op in block.values() if op.together}
    return ops
