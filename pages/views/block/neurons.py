"""The neurons of an MLP that fire for a token: the strongest with the factors that made them, where
one lies on the curve of the activation, and how few hold most of the row.

Knows steps and panels; which neurons fire is core's.
"""

from core.analyse import firing
from pages.parts import explanation, html, listing, run, session, terms, words
from pages.parts.html import number, percent
from pages.parts.words import text
from pages.views.block import whole
from viz import bend

HERE = "block.neurons"
FEW, SHORT = 12, 128  # of more neurons than SHORT, the few largest are listed


def draw(step) -> None:
    """The figures of a step whose row has a number for each neuron."""
    whole.output(step)
    if step.together:
        _everyone(step)
    else:
        _one(step)


# ---- one position --------------------------------------------------------------------------------


def _one(step):
    found = run.compute(firing.firing, step.trace, step.id, step.layer, step.position)
    _strongest(step, found)
    if step.id == "mlp.act":
        _curve(step, found)
    _sizes(step, found)
    whole.parts(step)
    listing.listen("neuron", lambda n: session.put(cell=n, cell_axis="neurons"))


def _few(step, order: list[int]) -> list[int]:
    """Which neurons are listed, the chosen one among them. order: all, the largest first."""
    listed = order if len(order) <= SHORT else order[:FEW]
    return listed if step.column in listed else [step.column, *listed]


def _strongest(step, found):
    """The neurons of largest magnitude, and the factors of each."""
    order, token = found.largest(), html.Token(step.trace.tokens[step.position])
    listed = _few(step, order)
    words.heading(f"{HERE}.strongest", token=token)
    halves = {"n": f"{len(order):,}", "n_half": found.holding(0.5), "n_most": found.holding(0.9)}
    words.caption(f"{HERE}.holding", **halves)
    columns = _columns(step, found)
    head = [words.html("axes.neurons"), *columns, ""]
    most = abs(found.value).max() or 1.0
    rows = [
        [
            str(n),
            *(listing.short(each[n]) for each in columns.values()),
            listing.bar(found.value[n], most),
        ]
        for n in listed
    ]
    listing.show("neuron", head, rows, listed, step.column, text(f"{HERE}.table"))
    formula = _formula(step, found)
    checked = words.html(f"{HERE}.checked", n=f"{len(order):,}", formula=formula)
    explanation.agreed(found.agreement, [(checked, "")])


def _columns(step, found):
    """The numbers of a neuron under their names, in the order that they are made."""
    made = {_name(found, "first"): found.z, _name(found, "open"): found.open}
    made[_name(found, "act")] = found.act
    if step.id == "mlp.hidden":
        made |= {_name(found, "up"): found.up, _name(found, "hidden"): found.value}
    return made


def _name(found, number):
    """What a number of a neuron is called: "first" is what goes into the activation, "open" the
    factor that it is multiplied by.
    """
    first, letter = ("up", "u") if found.up is None else ("gate", "g")
    key = {"first": first, "open": f"open_{found.kind}"}.get(number, number)
    return text(f"{HERE}.{key}", x=letter)


def _formula(step, found):
    factors = ("act", "up") if step.id == "mlp.hidden" else ("first", "open")
    return " × ".join(_name(found, each) for each in factors)


def _curve(step, found):
    """Where the chosen neuron lies on the curve of the activation."""
    z, act = float(found.z[step.column]), float(found.act[step.column])
    words.heading(f"{HERE}.curve", neuron=step.column)
    n_open = {"n_open": f"{found.n_open:,}", "n": f"{len(found.z):,}"}
    words.caption(f"{HERE}.{'open' if found.up is not None else 'above'}", **n_open)
    alt = text(f"{HERE}.curve_alt", neuron=step.column, z=number(z), act=number(act))
    names = {"x": _name(found, "first"), "y": _name(found, "act"), "alt": alt}
    shown = (number(z, 3), number(act, 3))
    html.show(bend.html(*firing.curve(found.kind, bend.reach(z)), (z, act), shown, **names))


def _sizes(step, found):
    """How many neurons are how large, power of ten by power of ten, and what they hold."""
    words.heading(f"{HERE}.sizes")
    words.caption(f"{HERE}.sizes_caption")
    head = [words.html(f"{HERE}.{key}") for key in ("size", "n_neurons")]
    decades = found.decades()
    most = max(each.n for each in decades)
    rows = [
        [
            _range(d),
            f"{d.n:,}",
            listing.bar(d.n, most, 6),
            percent(d.share),
            listing.bar(d.share, 1.0, 6),
        ]
        for d in decades
    ]
    head += ["", words.html(f"{HERE}.held"), ""]
    html.show(html.table(head, rows, "mono tw-decades"))


def _range(decade):
    name = "between" if decade.low else "below"
    return words.html(f"{HERE}.{name}", low=f"{decade.low:,g}", high=f"{decade.high:,.10g}")


# ---- all positions -------------------------------------------------------------------------------


def _everyone(step):
    """The strongest neuron at every position that is shown, and how many hold half of the row."""
    found = run.compute(firing.strongest, step.trace, step.id, step.layer)
    words.heading(f"{HERE}.everyone")
    words.caption(f"{HERE}.everyone_caption")
    panel = step.view.output
    shown = range(panel.first_row, panel.first_row + len(panel.values))
    neurons, values, halves = (each.tolist() for each in found)
    most = max(abs(values[t]) for t in shown) or 1.0
    head = [words.html(f"{HERE}.{key}") for key in ("token", "neuron", "value")]
    head += ["", words.html(f"{HERE}.half")]
    rows = [
        [
            terms.coordinate("seq", t, step.trace),
            str(neurons[t]),
            listing.short(values[t]),
            listing.bar(values[t], most),
            f"{halves[t]:,}",
        ]
        for t in shown
    ]
    listing.show("position", head, rows, shown, step.position, text(f"{HERE}.everyone"))
    listing.listen("position", lambda t: session.put(pos=t))
