"""The output of an MLP as a sum over neurons: which write the longest vectors, what each adds to
one number, and how much a few of them make together.

Knows steps and panels; the shares are core's.
"""

from core.analyse import shares
from pages.parts import charts, explanation, html, listing, run, session, terms, words
from pages.parts.html import number, percent
from pages.parts.words import text
from pages.views.block import neurons, product, whole

HERE = "block.down"
TEN = 10  # neurons whose vectors are added up


def draw(step) -> None:
    """The figures of a step whose output is a sum over neurons."""
    whole.output(step)
    if step.together:
        _everyone(step)
    else:
        _one(step)
    product.draw_parts(step)


# ---- one position --------------------------------------------------------------------------------


def _one(step):
    place = (step.trace, step.layer, step.position)
    found = run.compute(shares.of_neurons, *place, step.column)
    order = found.longest()
    few = run.compute(shares.group, *place, order[:TEN])
    _writers(step, found, order, few)
    listing.listen("neuron", lambda n: session.put(term=(step.id, n)))


def _writers(step, found, order, few):
    """The neurons that write the longest vectors, and what they add to the chosen number."""
    pointed = terms.pointed(step.view.inputs)
    listed = order[: len(order) if len(order) <= neurons.SHORT else TEN]
    if pointed not in listed:
        listed = [pointed, *listed]
    token = html.Token(step.trace.tokens[step.position])
    words.heading(f"{HERE}.writers", token=token)
    values = {"few": min(TEN, len(order)), "n": f"{len(order):,}", "column": step.column}
    values |= {"few_length": number(few.length, 2), "length": number(found.length, 2)}
    values |= {"cosine": number(few.cosine, 2), "share": percent(few.share)}
    words.caption(f"{HERE}.writers_caption", **values)
    active = step.read(shares.hidden_op(step.trace, step.layer))[step.position]
    keys = ("active", "writes")
    head = [words.html("axes.neurons"), *(words.html(f"{HERE}.{key}") for key in keys), ""]
    head += [words.html(f"{HERE}.cosine"), words.html(f"{HERE}.into", **values)]
    most = found.lengths.max() or 1.0
    rows = [
        [
            str(n),
            listing.short(active[n]),
            listing.short(found.lengths[n]),
            listing.bar(found.lengths[n], most),
            listing.short(found.cosines[n]),
            listing.short(found.into[n], 3),
        ]
        for n in listed
    ]
    listing.show("neuron", head, rows, listed, pointed, text(f"{HERE}.table"))
    explanation.agreed(found.agreement, _sum(step, found, listed, values))
    _save(step, found, active)


def _sum(step, found, listed, values):
    """The chosen number as the sum of what all neurons add to it, beside the record."""
    lines = []
    if left := len(found.into) - len(listed):
        these = words.html(f"{HERE}.listed", n=len(listed))
        lines.append((these, number(found.into[listed].sum())))
        lines.append((terms.rest(left), number(found.rest(listed))))
    if step.op.biases:
        lines.append((words.html(f"{HERE}.bias"), number(found.bias)))
    lines.append((words.html(f"{HERE}.sum", **values), number(found.total)))
    lines.append((f"<b>{words.html('explain.recorded')}</b>", f"<b>{number(found.recorded)}</b>"))
    return lines


def _save(step, found, active):
    """All neurons as a file, not only those that are listed."""
    name = step.file("neurons")
    columns = ("neuron", "active", f"dimension_{step.column}", "length", "cosine", "share")
    each = (active, found.into, found.lengths, found.cosines, found.shares)
    numbers = zip(*(column.tolist() for column in each), strict=True)
    charts.save(name, columns, [(n, *row) for n, row in enumerate(numbers)])


# ---- all positions -------------------------------------------------------------------------------


def _everyone(step):
    """At every position that is shown: how long a vector the MLP writes, and which neuron most."""
    most, each = run.compute(shares.longest_of_neurons, step.trace, step.layer)
    lengths = run.compute(shares.lengths, step.trace, step.id, step.layer)
    words.heading(f"{HERE}.everyone")
    words.caption(f"{HERE}.everyone_caption")
    panel = step.view.output
    shown = range(panel.first_row, panel.first_row + len(panel.values))
    longest = max(lengths[t] for t in shown) or 1.0
    head = [words.html(f"{HERE}.{key}") for key in ("token", "length")]
    head += ["", words.html(f"{HERE}.neuron"), words.html(f"{HERE}.writes")]
    rows = [
        [
            terms.coordinate("seq", t, step.trace),
            listing.short(lengths[t]),
            listing.bar(lengths[t], longest),
            str(most[t]),
            listing.short(each[t]),
        ]
        for t in shown
    ]
    listing.show("position", head, rows, shown, step.position, text(f"{HERE}.everyone"))
    listing.listen("position", lambda t: session.put(pos=t))
