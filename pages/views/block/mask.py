"""One row of scores before and after the mask: which keys the query sees, and why not the others.

Knows the step and core's attending; no maths.
"""

from core.analyse import attending
from pages.parts import run, words
from pages.parts.html import number
from pages.parts.words import text
from pages.views.block import keys, whole

HERE = "block.mask"


def draw(step) -> None:
    """The row before and after, and how many keys are left."""
    if step.together:
        return whole.output(step)
    place = (step.trace, step.layer, step.head, step.position)
    found = run.compute(attending.masked, *place)
    before, after = step.view.inputs[0], step.view.output
    limit = max(before.limit, after.limit)
    whole.show(step, before.scaled(limit), key="scores_before")
    whole.output(step, after.scaled(limit))
    values = keys.query(step) | {"seen": found.n_seen, "n_keys": len(found.before)}
    words.heading(f"{HERE}.sees", **values)
    words.caption(f"{HERE}.{_later(found)}", later=found.n_later, **values)
    if found.window:
        sizes = {"window": f"{found.window:,}", "outside": found.first}
        words.caption(f"{HERE}.{'outside' if found.first else 'inside'}", **sizes)
    if not found.n_later and len(step.trace.ids) > 1:  # the last row has nothing to hide
        words.heading(f"{HERE}.every")
        whole.every_position(step, "mask_map")
    _table(step, found)


def _later(found):
    """What there is to say of later keys: some, none behind the last token, none at all."""
    return "later" if found.n_later else "all" if len(found.before) > 1 else "alone"


def _table(step, found):
    """Every key: its score before and after, and where it lies."""

    def row(key):
        return [number(found.before[key], 3), _seen(found.after[key]), _why(step, found, key)]

    head = [words.html(f"{HERE}.head_{name}") for name in ("key", "before", "after", "why")]
    label = text(f"{HERE}.label")
    keys.table(step, found.before, head, row, label=label, faint=found.why)
    keys.agreed(found.agreement, len(found.before))


def _seen(score):
    """The score, or hatching and −∞."""
    hatched = '<span class="tw-masked"></span> ' if score == float("-inf") else ""
    return f'<span class="tw-nowrap">{hatched}<b>{number(score, 3)}</b></span>'


def _why(step, found, key):
    """Where the key lies, seen from the query."""
    distance = step.position - key
    reason = found.why(key) or ("itself" if distance == 0 else "back")
    return words.html(f"{HERE}.why_{reason}", distance=abs(distance))
