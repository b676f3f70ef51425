"""A comparison in words, for the command line. Knows a Comparison; computes nothing.

Names from a file are shown as they are unless they would steer the terminal.
"""

import math
import textwrap

from .compare import TOLERANCE, Comparison

WIDTH, MOST_NAMES = 100, 6
VERDICTS = {  # the worst of an op's layers is shown, in this order
    "differs": "DIFFERS",
    "follows": "follows from theirs before it",
    "equals": "equals ours, though not made of theirs before it",
    "rounding": "cannot be told from rounding",
    "order": "another order inside the heads; the scores agree",
    "agrees": "agrees",
}
HEADER = f"{'op':<15}{'layers':<9}{'worst':>6}{'apart':>10}{'of size':>9}{'step':>9}  verdict"
LEGEND = (
    "worst: the layer that is farthest from ours. of size: how far, over the largest number of ours"
    " at that position. step: the same, from what their own values before it give."
)


def lines(result: Comparison, catalogue) -> list[str]:
    """What was found: the first op that differs, why, all ops, and what was left out."""
    ops = [op for op in catalogue.ids if any(row.op == op for row in result.rows)]
    table = [HEADER, *(_row(op, result.rows) for op in ops), "", *wrapped(LEGEND)]
    first = [*_nonfinite(result), *_first(result)]
    left = [*_layouts(result.rows), *_unused(result.unused)]
    return [*wrapped(_tolerance(result)), "", *first, "", *table, *left]


def verdict(result: Comparison) -> str:
    """One sentence about all of it."""
    if result.first:
        return f"First to differ: {_where(result.first)}."
    if any(row.verdict == "rounding" for row in result.rows):
        return (
            f"Nothing differs by more than {_bits(result.eps)} explains; a smaller mistake cannot"
            " be told from that."
        )
    n = len(result.rows)
    return "The one value agrees." if n == 1 else f"All {n} values agree."


def count(n: int, name: str) -> str:
    """ "1 token", "2 tokens"."""
    return f"{n} {name}" if n == 1 else f"{n} {name}s"


def wrapped(text: str) -> list[str]:
    """A text in lines that fit a terminal."""
    return textwrap.wrap(text, WIDTH, subsequent_indent="  ")


def _bits(eps):
    return f"a precision of {count(round(-math.log2(eps)), 'bit')}"


def _tolerance(result):
    text = f"Tolerance: {TOLERANCE:g} of an op's largest number at each position"
    wider = max(row.bound[0] for row in result.rows)
    if wider > TOLERANCE:
        step = max(row.bound[1] for row in result.rows)
        text += f"; what {_bits(result.eps)} explains: up to {wider:.2g}, {step:.2g} in one step"
    return f"{text}."


def _where(row):
    return row.op if row.layer is None else f"{row.op} of layer {row.layer}"


def _place(place):
    names = {"seq": "position", "embedding": "index", "head_dim": "index"}
    names |= {"neurons": "neuron", "vocab": "token"}
    return ", ".join(f"{names.get(axis, axis)} {i}" for axis, i in place.items())


def _nonfinite(result):
    row = result.nonfinite
    if row is None:
        return []
    return [f"First number that is not finite: {_where(row)}, {_place(row.far.place)}."]


def _first(result):
    row = result.first
    if row is None:
        return wrapped(verdict(result))
    far = row.far
    out = [
        f"{_place(far.place)}: ours {far.ours:.6g}, theirs {far.theirs:.6g},"
        f" {abs(far.theirs - far.ours):.2g} apart, {far.relative:.2g} of the size there."
    ]
    out += [_grown(result)] if row.verdict == "follows" else _why(result)
    return [verdict(result), *(line for text in out for line in wrapped(f"  {text}"))]


def _grown(result):
    """Of a difference that no single op made: where the largest of the small ones is."""
    before = result.rows[: result.rows.index(result.first)]
    step = max(before, key=lambda row: row.step, default=result.first)
    return (
        "It follows from their values before it: the difference grew from smaller ones. The largest"
        f" of them is {step.step:.1g}, in {_where(step)}."
    )


def _why(result):
    """What lies between the last values that agree and the first that differs, and the cause."""
    state = {(row.op, row.layer): VERDICTS[row.verdict].partition(";")[0] for row in result.rows}
    here = result.first.layer
    read = [f"{_near(op, at, here)} ({state[op, at].lower()})" for op, at in result.read]
    text = f"Made of {', '.join(read)}." if read else "Nothing before it was given."
    if result.between:
        text += f" Not given between: {_spans(result.between, here)}."
    starts = ["It equals ours with this mistake made", "or, as near", "or, as near"]
    causes = zip(starts, result.causes, strict=False)
    return [text, *(f"{start}: {mistake.text}." for start, mistake in causes)]


def _near(op, layer, here):
    """An op, its layer only where that is not `here`."""
    return op if layer in (here, None) else f"{op} of layer {layer}"


def _spans(ops, here):
    """Ops by name where they are of one or two layers, else the first and the last."""
    names = [_near(op, layer, here) for op, layer in ops]
    if len({layer for _, layer in ops}) <= 2:
        return ", ".join(names)
    return f"{len(names)} ops from {names[0]} to {names[-1]}"


def _row(op, rows):
    """One op: the worst of its layers."""
    rows = [row for row in rows if row.op == op]
    state = next(v for v in VERDICTS if any(row.verdict == v for row in rows))
    worst = max(rows, key=lambda row: row.far.relative)
    apart = abs(worst.far.theirs - worst.far.ours)
    step = max(row.step for row in rows)
    layer = "" if worst.layer is None else worst.layer
    text = VERDICTS[state]
    if state == "differs" and worst.layer is not None:
        text += f" from layer {next(row.layer for row in rows if row.verdict == state)} on"
    return (
        f"{op:<15}{_numbers(rows):<9}{layer:>6}{apart:>10.1e}{worst.far.relative:>9.1e}"
        f"{step:>9.1e}  {text}"
    )


def _numbers(rows):
    """The layers of rows as 0-29, or how many there are."""
    layers = [row.layer for row in rows if row.layer is not None]
    if not layers:
        return ""
    whole = layers == list(range(layers[0], layers[-1] + 1))
    return f"{layers[0]}-{layers[-1]}" if whole and len(layers) > 1 else _few(layers)


def _few(layers):
    text = ",".join(map(str, layers))
    return text if len(text) < 9 else f"{len(layers)} of them"


def _layouts(rows):
    found = {(row.op, row.layout) for row in rows if row.layout}
    by_layout = {text: [row.op for row in rows if (row.op, text) in found] for _, text in found}
    for text, names in sorted(by_layout.items()):
        yield from wrapped(f"Read as {text}: {', '.join(dict.fromkeys(names))}.")


def _unused(unused):
    by_reason = {}
    for name, reason in unused.items():
        by_reason.setdefault(reason, []).append(name if name.isprintable() else repr(name))
    for reason, names in list(by_reason.items())[:MOST_NAMES]:
        shown = ", ".join(name[:60] for name in names[:MOST_NAMES])
        more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
        yield from wrapped(f"Not compared: {shown}{more} ({reason}).")
