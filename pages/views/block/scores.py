"""One query against every key: the dot products, the scale, the scores; one key number by number;
the soft cap, where there is one.

Knows the step and core's attending; no maths.
"""

from core.analyse import attending
from pages.parts import html, listing, run, session, terms, words
from pages.parts.html import Token, number
from pages.parts.words import text
from pages.views.block import keys, whole

HERE = "block.scores"


def draw(step) -> None:
    """The row of scores, how each came about, and the chosen one number by number."""
    reads(step)
    whole.output(step)
    if not step.together:
        place = (step.trace, step.layer, step.head, step.position)
        if step.op.kind == "softcap":
            _cap(step, run.compute(attending.capped, *place))
        else:
            _keys(step, run.compute(attending.compared, *place))
            _pair(step, run.compute(attending.products, *place, step.column))


def reads(step) -> None:
    """Which KV head the chosen head reads."""
    group = step.config.group
    first = step.kv_head * group
    values = {"head": step.head, "kv_head": step.kv_head, "first": first, "last": first + group - 1}
    words.caption(f"{HERE}.{'shared' if group > 1 else 'own'}", **values)


def _keys(step, found):
    """Every key: how far away, dot product and score."""

    def row(key):
        dot, score = found.dots[key], found.recorded[key]
        numbers = [_distance(step.position - key), number(dot, 3), f"<b>{number(score, 3)}</b>"]
        return [*numbers, listing.bar(score, largest)]

    largest = max(map(abs, found.scores))
    head = [words.html(f"{HERE}.head_{name}") for name in ("key", "distance", "dot")]
    head += [words.html(f"{HERE}.head_score", scale=f"{found.scale:.4g}"), ""]
    words.heading(f"{HERE}.keys", **keys.query(step))
    words.caption(f"{HERE}.keys_caption")
    _table(step, found.scores, head, row, text(f"{HERE}.keys_label"))
    keys.agreed(found.agreement, len(found.scores))


def _table(step, scores, head, row, label):
    """The table, with the keys that the mask will take away drawn lighter and told of below."""
    mask = run.compute(attending.masked, step.trace, step.layer, step.head, step.position)
    keys.table(step, scores, head, row, label=label, faint=mask.why)
    if mask.n_later:
        words.caption(f"{HERE}.later", n=mask.n_later)
    if mask.first:
        words.caption(f"{HERE}.outside", n=mask.first, window=f"{mask.window:,}")


def _distance(n):
    """How many tokens back a key lies."""
    return str(n).replace("-", "−")


def _pair(step, found):
    """Query and key of the chosen cell, and what each pair of numbers gives."""
    values = {"key": Token(step.trace.tokens[step.column]), "at": step.column}
    words.heading(f"{HERE}.pair", **keys.query(step), **values)
    words.caption(f"{HERE}.pair_caption")
    parts = step.view.inputs
    whole.show_parts(step, parts)
    keys.sheet(
        step,
        found.products,
        ("query", "head_dim"),
        ["q × k"],
        key="query_times_key",
        name=text(f"{HERE}.products"),
        role="attention",
        selected=(0, terms.pointed(parts)),
        on_cell=lambda _, dim: session.put(term=(step.id, dim)),
    )
    html.show(f"<p>{words.html(f'{HERE}.sum', **_sum(step, found))}</p>")


def _sum(step, found):
    scale = run.compute(step.trace.constants, step.id, step.layer)[0]
    values = {"n": found.products.size, "dot": number(found.total), "scale": f"{scale:.6g}"}
    return values | {"score": number(found.total * scale)}


def _cap(step, found):
    """Every score before and after the cap."""

    def row(key):
        before, after = found.before[key], found.after[key]
        return [
            number(before, 3),
            listing.bar(before, largest),
            number(found.bent[key], 3),
            f"<b>{number(after, 3)}</b>",
            listing.bar(after, largest),
        ]

    largest, values = max(map(abs, found.before)), {"cap": f"{found.cap:g}"}
    names = ("key", "before", "", "bent", "after", "")
    head = [name and words.html(f"{HERE}.head_{name}", **values) for name in names]
    words.heading(f"{HERE}.cap", **keys.query(step))
    words.caption(f"{HERE}.cap_caption", **values)
    _table(step, found.before, head, row, text(f"{HERE}.cap_label"))
    keys.agreed(found.agreement, len(found.before))
