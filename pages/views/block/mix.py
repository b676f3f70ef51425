"""The weighted sum of the values: each key's weight and value, their product, and what all add up
to.

Knows the step and core's attending; no maths.
"""

from dataclasses import replace

from core.analyse import attending
from pages.parts import charts, listing, run, session, terms, words
from pages.parts.html import number, percent
from pages.parts.words import text
from pages.views.block import keys, scores, whole

HERE = "block.mix"
COLUMNS = ("key", "weight", "", "length", "part", "along")


def draw(step) -> None:
    """The mix, and for one position what it is made of."""
    scores.reads(step)
    if step.together:
        return whole.output(step)
    found = run.compute(attending.mixed, step.trace, step.layer, step.head, step.position)
    chosen = terms.pointed(step.view.inputs)
    words.heading(f"{HERE}.keys", **keys.query(step))
    words.caption(f"{HERE}.caption", head_dim=step.config.head_dim)
    _table(step, found, chosen)
    _sheets(step, found, chosen)


def _table(step, found, chosen):
    """Weight, length and share of the result, key by key, and of all together."""

    def foot(others):
        rest = [[terms.rest(len(others)), *_row(found.all_of(others))]] * bool(others)
        every = found.all_of(range(len(found.weights)))
        return [*rest, [f"<b>{cell}</b>" for cell in (words.html(f"{HERE}.sum"), *_row(every))]]

    keys.table(
        step,
        found.weights,
        [name and words.html(f"{HERE}.head_{name}") for name in COLUMNS],
        lambda key: _row(found.of(key)),
        label=text(f"{HERE}.label"),
        foot=foot,
        faint=lambda key: not found.weights[key],
        chosen=chosen,
        by_size=True,
    )
    if n := len(step.trace.ids) - len(found.weights):
        words.caption(f"{HERE}.later", n=n)
    _save(step, found)


def _save(step, found):
    """What every key gives, as CSV."""
    head = ("position", "token", "weight", "value length", "part length", "share of the mix")
    parts = (found.of(key) for key in range(len(found.weights)))
    rows = [
        (key, step.trace.tokens[key], part.weight, part.length, part.size, part.along)
        for key, part in enumerate(parts)
    ]
    charts.save(step.file("mix_keys"), head, rows)


def _row(part):
    """One key, or several together: these have no value row of their own."""
    length = "" if part.length is None else number(part.length, 3)
    along = percent(part.along)
    return [number(part.weight), listing.share(part.weight), length, number(part.size, 3), along]


def _sheets(step, found, chosen):
    """Value rows, weight × value, and the mix, aligned column by column."""
    shown, others = keys.few(attending.largest_first(found.weights), chosen)
    names = [keys.plain(key, step.trace) for key in shown]
    how = {"role": "value", "selected": (shown.index(chosen), step.column)}
    how["on_cell"] = _picks(step, shown)
    axes, rest = ("key", "head_dim"), [text(f"{HERE}.others", n=len(others))] * bool(others)
    values, parts = found.values_of(shown), found.rows(shown, others)
    keys.sheet(step, values, axes, names, key="values", name=text(f"{HERE}.values"), **how)
    how |= {"name": text(f"{HERE}.parts"), "limit": found.limit}
    keys.sheet(step, parts, axes, names + rest, key="weight_times_value", **how)
    words.caption(f"{HERE}.below")
    output = step.view.output.scaled(found.limit)
    whole.output(replace(step, view=replace(step.view, output=output)))
    keys.agreed(found.agreement, len(found.total))


def _picks(step, shown):
    """A callback: a cell chooses its dimension, and its key where it has one."""

    def on_cell(row, column):
        pointed = {"term": (step.id, shown[row])} if row < len(shown) else {}
        session.put(cell=column, cell_axis="head_dim", **pointed)

    return on_cell
