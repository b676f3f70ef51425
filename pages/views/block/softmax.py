"""The softmax of one row, step by step: score, less the largest, e to that, share of the sum.

Knows the step and core's attending; no maths.
"""

from core.analyse import attending
from pages.parts import charts, html, lesson, listing, run, words
from pages.parts.html import number, percent
from pages.parts.words import text
from pages.views.block import keys, whole

HERE = "block.softmax"
COLUMNS = ("key", "score", "less_max", "power", "weight", "")


def draw(step) -> None:
    """The row of weights, and how each came about."""
    whole.output(step)
    if step.together:
        return
    found = run.compute(attending.softmax, step.trace, step.layer, step.head, step.position)
    largest = keys.name(found.at, step.trace)
    words.heading(f"{HERE}.steps", **keys.query(step))
    line = words.html(
        f"{HERE}.caption", largest=number(found.largest, 3), total=number(found.total)
    )
    said = lesson.joined(line, f"{words.html(f'{HERE}.at')} {largest}")
    html.show(f'<p class="tw-caption">{said}</p>')
    _table(step, found)
    if found.n_masked:
        words.caption(f"{HERE}.masked", n=found.n_masked)
    _sums(found)
    _save(step, found)
    if found.parked:
        _without_first(step, found)


def _table(step, found):
    """A line for each key, and the sums below."""

    def foot(others):
        powers, weights = found.rest(others)
        rest = words.html(f"{HERE}.rest", n=len(others))
        lines = [[rest, "", "", number(powers), number(weights), listing.share(weights)]]
        sums = (words.html(f"{HERE}.sum"), "", "", number(found.total))
        whole_row = (*sums, number(found.weights.sum(), 6))
        return lines * bool(others) + [[f"<b>{cell}</b>" for cell in whole_row]]

    head = [name and words.html(f"{HERE}.head_{name}") for name in COLUMNS]
    keys.table(
        step,
        found.weights,
        head,
        lambda key: _row(found, key),
        label=text(f"{HERE}.label"),
        faint=lambda key: not found.powers[key],
        foot=foot,
    )


def _row(found, key):
    """The steps of one key; a masked one is hatched."""
    steps = (found.scores[key], found.less_max[key], found.powers[key])
    cells = [number(value, 3) for value in steps[:2]] + [number(steps[2])]
    masked = found.scores[key] == float("-inf")
    drawn = '<span class="tw-masked"></span>' if masked else listing.share(found.weights[key])
    return [*cells, f"<b>{number(found.weights[key])}</b>", drawn]


def _sums(found):
    """All weights computed again, beside the recorded ones."""
    sums = {"again": found.weights.sum(), "recorded": found.recorded.sum()}
    lines = [(words.html(f"{HERE}.{name}"), number(value, 8)) for name, value in sums.items()]
    keys.agreed(found.agreement, len(found.weights), lines)


def _save(step, found):
    """Every step of every key as CSV."""
    columns = (found.scores, found.less_max, found.powers, found.weights, found.recorded)
    rows = zip(range(len(found.scores)), step.trace.tokens, *map(list, columns), strict=True)
    head = ("position", "token", "score", "score - max", "exp", "weight", "recorded")
    charts.save(step.file("softmax_steps"), head, list(rows))


def _most(share):
    """A large share; one that is not all is not called 100%."""
    return percent(share) if share < 0.9995 else "> 99.9%"


def _without_first(step, found):
    """The row without the first token, which takes most of it."""
    tokens = step.trace.tokens
    values = {"first": html.Token(tokens[0]), "share": _most(found.weights[0])}
    words.heading(f"{HERE}.parked", **values)
    words.caption(f"{HERE}.parked_caption", **values)
    keys.sheet(
        step,
        found.without_first,
        ("query", "key"),
        [tokens[step.position]],
        key="without_first",
        name=text(f"{HERE}.without"),
        role="attention",
        selected=(0, step.column),
        on_cell=lambda _, key: keys.choose(step, key),
        limit=1.0,
        amount=True,
    )
