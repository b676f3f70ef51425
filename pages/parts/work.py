"""What an op was to compute for all positions, counted from its shapes, and the time that it took
in this run. Knows core's counts and words; counts nothing itself.
"""

from core.analyse.work import Work, work
from pages.parts import html, run, words

HERE = "block.work"
# how prefill does it, by kind: what does not stand here goes number by number
WAY = {"dot": "product", "score": "scores", "mix": "mix", "row": "lookup", "copy": "copy"}
WAY |= dict.fromkeys(("norm", "norm_all_heads", "layer_norm", "softmax"), "rows")
TIMES = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6))
MAY_BE_ONE = ("operations", "seq", "head", "kv_head", "cells")  # these have a singular
UNITS = ((1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))


def lead(step) -> None:
    """Above figures of all positions: how prefill computes them."""
    if step.together:
        way = words.html(f"{HERE}.{WAY.get(step.op.kind, 'numbers')}", n=len(step.trace.ids))
        html.show(f'<p class="tw-work">{way}</p>')


def show(step) -> None:
    """Below them, the count and the time; below those of one position, a line that says there are
    more.
    """
    n = len(step.trace.ids)
    if not step.together:
        if n > 1:
            words.caption(f"{HERE}.one", n=n)
        return
    done = run.compute(work, step.trace, step.id, step.layer)
    html.show(html.scroll(_table(step, done), words.text(f"{HERE}.name")))
    if notes := "<br>".join(_notes(step, done)):
        html.show(f'<p class="tw-caption">{notes}</p>')


def _table(step, done: Work) -> str:
    """Count, time and rate, a line each."""
    rows = [[words.html(f"{HERE}.counted"), _counted(done)]]
    rows.append([words.html(f"{HERE}.time"), _time(step, done)])
    if done.shared_flops:
        speed = words.html(f"{HERE}.per_second", rate=short(done.rate))
        rows.append([words.html(f"{HERE}.rate"), f"{speed}{_read(done)}"])
    return html.table([], rows, "left tw-work-table")


def _counted(done):
    """The factors with their names and numbers, and what they make."""
    if not done.flops:
        return words.html(f"{HERE}.nothing")
    total = words.html(f"{HERE}.flops", n=f"{done.flops:,}")
    return f"{' + '.join(_product(p) for p in done.products)} = <b>{total}</b>"


def _product(factors):
    return f'<span class="tw-nowrap">{" × ".join(map(_factor, factors))}</span>'


def _factor(factor):
    key = factor.axis or "operations"
    name = words.html(f"{HERE}.{key}{'_one' * (factor.size == 1 and key in MAY_BE_ONE)}")
    return f"{factor.size:,}<small> {name}</small>"


def _time(step, done):
    """Of the op, or of all that come out of one product with it; beside that of the run."""
    whole = step.trace.seconds
    share = html.percent(done.seconds / whole) if whole else "–"
    values = {"time": seconds(done.seconds), "whole": seconds(whole), "share": share}
    said = words.html(f"{HERE}.took", **values)
    if len(done.shared) == 1:
        return said
    names = " + ".join(words.text(f"ops.{op}") for op in done.shared)
    return f"{said}<br><small>{words.html(f'{HERE}.shared', names=names)}</small>"


def _read(done):
    """How many bytes of weights the op reads, if any."""
    if not done.weight_bytes:
        return ""
    return f" · {words.html(f'{HERE}.weights', n=short(done.weight_bytes))}"


def _notes(step, done):
    """What the numbers leave open: pairs that are masked, tables that count to the first op."""
    if done.cells and done.seen < done.cells:
        values = {"cells": f"{done.cells:,}", "seen": f"{done.seen:,}"}
        yield words.html(f"{HERE}.masked", **values)
    if step.id == "resid_pre" and step.layer == 0 and any(step.config.ropes):
        yield words.html(f"{HERE}.tables")
    if step.id == "attn.scores":
        yield words.html(f"{HERE}.cache")
    if done.flops:
        yield words.html(f"{HERE}.rule")


def seconds(value: float) -> str:
    """A time for reading, in three digits: 1.23 s, 34.5 ms, 678 µs."""
    unit, size = next((u for u in TIMES if value >= u[1]), TIMES[-1])
    value /= size
    return f"{value:.{2 if value < 10 else 1 if value < 100 else 0}f} {unit}"


def short(value: float) -> str:
    """A large number for reading, with the letter of its thousand: 26.3 G."""
    for size, letter in UNITS:
        if value >= size:
            return f"{value / size:.3g} {letter}"
    return f"{value:.2g} "
