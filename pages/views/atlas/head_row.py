"""The row of the chosen query: the keys that it looks at most, and whether the row sums to 1.

Knows core's map of a head and words; no maths.
"""

from core.analyse import headmap
from pages.parts import charts, explanation, html, listing, run, session, terms, words
from pages.parts.html import Token, number
from pages.parts.words import text

HERE = "atlas.head"
MOST = 5  # keys that are listed, and the chosen one
COLUMNS = ("key", "weight", "", "score", "length", "read")


def show(trace, found: headmap.HeadMap, query: int, key: int, added: bool) -> None:
    """The largest weights of the row, their sum, and with `added` what the parts add up to."""
    order = found.order(query)
    values = {"token": Token(trace.tokens[query]), "position": query, "n": len(order)}
    words.heading(f"{HERE}.row", **values)
    _table(trace, found, query, key, order)
    _save(trace, found, query, order)
    sums = [(words.html(f"{HERE}.row_sum"), number(found.sums[query], 7))]
    said = words.html(f"{HERE}.every_row", n=f"{len(found.sums):,}")
    explanation.agreed(found.agreement, [*sums, (said, number(found.worst_sum, 7))])
    if added:
        _added(trace, found, query)


def _table(trace, found, query, key, order):
    """A line for each of the first keys, and one for the others together."""
    shown = [each for each in order if each in {*order[:MOST], key}]
    others = [each for each in order if each not in shown]
    head = [name and words.html(f"{HERE}.head_{name}") for name in COLUMNS]
    rows = [_line(trace, found, query, each) for each in shown]
    foot = [_rest(found, query, others)] if others else []
    listing.show("key", head, rows, shown, key, text(f"{HERE}.row_label"), foot)
    listing.listen("key", lambda each: session.put(key_at=each))


def digits(length: float) -> int:
    """How many decimals of a length say something."""
    return 2 if length >= 1 else 4


def _line(trace, found, query, key):
    weight = found.weights[query, key]
    name = f'<span class="tw-nowrap">{html.token(trace.tokens[key], "key")} ({key})</span>'
    sizes = (float(each) for each in (found.lengths[key], found.carried[query, key]))
    cells = [listing.short(float(found.masked[query, key]), 3)]
    cells += [listing.short(size, digits(size)) for size in sizes]
    return [name, f"<b>{listing.short(float(weight), 4)}</b>", listing.share(weight), *cells]


def _rest(found, query, others):
    """The sums of the weights and of the lengths that are not listed."""
    weight, read = found.rest(query, others)
    cells = [
        listing.short(weight, 4),
        listing.share(weight),
        "",
        "",
        listing.short(read, digits(read)),
    ]
    return [terms.rest(len(others)), *cells]


def _save(trace, found, query, order):
    """The whole row as CSV, in the order of the text."""
    head = ("position", "token", "score", "weight", "value length", "weight x length")
    columns = (found.masked[query], found.weights[query], found.lengths, found.carried[query])
    rows = [
        (key, trace.tokens[key], *(float(each[key]) for each in columns)) for key in sorted(order)
    ]
    charts.save(f"row_layer{found.layer}_head{found.head}_pos{query}", head, rows)


def _added(trace, found, query):
    """What all parts of the row add up to, beside what the head really wrote."""
    here = run.compute(headmap.row, trace, found, query)
    lines = [(words.html(f"{HERE}.{name}"), number(getattr(here, name))) for name in PAIR]
    values = {"width": trace.config.width, "added": number(here.added, 2)}
    explanation.agreed(here.agreement, lines, words.html(f"{HERE}.added_said", **values))
    words.caption(f"{HERE}.added", **values, written=number(here.written, 2))


PAIR = ("written", "recorded")
