"""An addition to the stream: before + change = after on one scale, and who wrote how much. Shows
what core's writing says; computes nothing itself.
"""

import functools

from core.analyse import writing
from pages.parts import explanation, html, lesson, run, terms, walk, words
from pages.parts.html import Token, number
from pages.views.block import each, whole

HERE = "block.residual"
FEW = 5  # numbers that changed most
SIGNS = {"before": "", "change": "+", "after": "="}
ASLANT = 0.1  # a cosine that is nearer to 0 is called a right angle


def draw(step) -> None:
    """The figures of an addition."""
    if step.together:
        whole.output(step)
        _each(step)
        return
    place = (step.trace, step.id, step.layer, step.position)
    made = run.compute(writing.of_row, *place)
    _strips(step)
    _lengths(step, made)
    _changed(made)
    _checked(made)


# ---- the three rows ------------------------------------------------------------------------------


def _strips(step):
    """Before, change, after: column below column, one colour for one number."""
    words.heading(f"{HERE}.strips")
    parts, key = step.view.inputs + step.view.weights, f"output_{step.id}"
    rows = {f"part_{step.id}_{n}": part for n, part in enumerate(parts)} | {key: step.view.output}
    limit = max(panel.limit for panel in rows.values())
    for key, panel in rows.items():
        at = walk.chosen(key, step.id, step.view.output)
        whole.show(step, panel.scaled(limit), key=key, on_cell=at)


# ---- who wrote how much --------------------------------------------------------------------------


def _lengths(step, made):
    """How long the three rows are, and what that says."""
    words.heading(f"{HERE}.lengths", token=Token(step.trace.tokens[step.position]))
    lengths = [float(x) for x in made.lengths]
    panels_of = (*step.view.inputs, *step.view.weights, step.view.output)
    rows = [
        [_named(key, panel), each.long_bar(size, max(lengths) or 1.0, panel.role), number(size, 3)]
        for key, panel, size in zip(SIGNS, panels_of, lengths, strict=True)
    ]
    html.show(html.table([], rows, "tw-lengths"))
    html.show(f'<p class="tw-caption">{_joined(_said(step, made))}</p>')


def _named(key, panel):
    return f"{SIGNS[key]} {words.html(f'{HERE}.{key}')} <code>{panel.name}</code>"


def _joined(sentences):
    return functools.reduce(lesson.joined, sentences, "")


def _said(step, made):
    """The sentences on length and direction. Beside nothing there is no ratio."""
    ratio, along, kept = (float(x) for x in (made.ratio, made.along, made.kept))
    if ratio == ratio:
        yield words.html(f"{HERE}.{'longer' if ratio > 1 else 'shorter'}", ratio=number(ratio, 3))
    if along == along:
        way = "across" if abs(along) < ASLANT else "with" if along > 0 else "against"
        yield words.html(f"{HERE}.{way}", cosine=number(along, 3))
    if kept == kept:
        yield words.html(f"{HERE}.kept", cosine=number(kept, 3))
    if step.config.parallel and step.layer is not None:
        yield words.html(f"{HERE}.parallel")


def _changed(made):
    """The numbers that changed most."""
    words.heading(f"{HERE}.changed")
    most = made.most_changed(FEW)
    largest = abs(float(made.change[most[0]])) or 1.0
    head = [words.html(f"{HERE}.{key}") for key in ("dimension", "before", "change", "after")]
    rows = []
    for at in most:
        before, change, after = (float(x[at]) for x in (made.before, made.change, made.after))
        used = f"+ {terms.in_brackets('+', change)}"
        rows.append(
            [str(at), number(before), used, f"= {number(after)}", terms.bar(change, largest)]
        )
    html.show(html.table([*head, ""], rows, "mono"))


def _checked(made):
    n = len(made.after)
    said = words.html(f"{HERE}.checked", n_equal=made.n_equal, n=n)
    explanation.agreed(made.agreement, said=said)


# ---- all positions -------------------------------------------------------------------------------


def _each(step):
    """The same lengths for every token."""
    made = run.compute(writing.of_all, step.trace, step.id, step.layer)
    lengths = dict(zip(("before", "change", "after"), made.lengths, strict=True))
    columns = lengths | {"ratio": made.ratio, "kept_each": made.kept}
    each.table(step, "residual", columns, bars=("ratio",))
