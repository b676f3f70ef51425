"""One pair of numbers of a query, and of the key that its head reads, before and after the turn,
with the exact operands; what another pairing would do.

Knows the session and core's rotation; no maths, no figures.
"""

import streamlit as st

from core.analyse import explain, rotation, source
from core.analyse.traits import ROTATED
from core.analyse.turning import turn
from pages import canvas
from pages.parts import charts, explanation, html, run, session, strip, words
from pages.parts.html import Token, number
from pages.parts.views import Shown
from pages.parts.words import text
from pages.views.positions import still
from viz.dials import Dial, Hand, dials

ROLES = {"query": "q", "key": "k"}
FEW = 6  # keys whose scores would change most
HERE = "positions.rotation"
SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def view(trace, position: int) -> Shown:
    """The view at the chosen token."""
    layer, head = session.layer_and_head(trace.config)
    if not rotation.pairs(trace, layer):
        return still.view(trace, layer, position)
    values = {"layer": layer, "head": head, "n_pairs": rotation.pairs(trace, layer)}
    values |= {"rot_dim": trace.config.ropes[layer].dim, "head_dim": trace.config.head_dim}
    return Shown(
        lambda: _draw(trace, layer, head, position),
        values,
        lambda: run.compute(_answer, trace, layer, head, position),
        trace.catalogue.op(ROTATED, layer),
    )


# ---- one pair ------------------------------------------------------------------------------------


def _draw(trace, layer, head, position):
    strip.show(trace, position, key="turned_strip")
    number_of = _pick(rotation.pairs(trace, layer), trace, layer, position)
    both = [
        run.compute(rotation.pair, trace, role, layer, head, position, number_of) for role in ROLES
    ]
    _dials(both, trace, layer, position)
    _exact(both, trace, layer, position)
    _other_pairing(both, trace, layer, head, position)


def _pick(n, trace, layer, position):
    """The pair, and how far it is turned."""
    chosen = session.below("cell", n) or 0
    left, right = st.columns([1, 2], vertical_alignment="bottom")
    with left:
        st.session_state["pair"] = chosen
        st.number_input(text(f"{HERE}.pair", last=n - 1), 0, n - 1, key="pair",
            on_change=lambda: session.put(cell=st.session_state["pair"]))  # fmt: skip
    with right:
        _angle(trace, layer, position, chosen, n)
    return chosen


def _angle(trace, layer, position, number_of, n):
    """How the angle comes from the position."""
    made = turn(trace, layer, position, number_of)
    values = {"first": number_of, "second": number_of + n, "position": position}
    values |= {"frequency": f"{made.frequency:.6g}", "angle": f"{made.angle:.6g}"}
    values |= {"turns": f"{rotation.turns(made.angle):.3g}"}
    words.caption(f"{HERE}.angle", **values)
    if made.amplitude != 1:
        words.caption("explain.amplitude", amplitude=number(made.amplitude))


def _dials(both, trace, layer, position):
    """The pair in the query and in the key, as two dials."""
    words.heading(f"{HERE}.name", token=Token(trace.tokens[position]))
    words.caption(f"{HERE}.caption")
    values = {"first": both[0].dims[0], "second": both[0].dims[1], "position": position}
    labels = {"aria": text(f"{HERE}.aria", **values)}
    labels |= words.table("matrix", "save_png")
    angle = turn(trace, layer, position, both[0].dims[0]).angle
    shown = [dial(pair, angle) for pair in both]
    canvas.dials(dials(shown, labels=labels, name="rotation"), key="turned_pair")


def dial(pair, angle: float) -> Dial:
    """A pair before and after its turn by an angle (radians) as arrows on one circle."""
    letter, longer = ROLES[pair.role], max(pair.before.length, pair.after.length)
    names = (("before", letter), ("after", f"{letter}′"))
    hands = tuple(
        Hand(arrow.angle, arrow.length / (longer or 1.0), pair.role, name, dashed=when == "before")
        for when, name in names
        for arrow in [getattr(pair, when)]
    )
    lengths = tuple(
        text(f"{HERE}.length_{when}", length=number(getattr(pair, when).length))
        for when, _ in names
    )
    return Dial(
        text(f"{HERE}.{pair.role}", head=pair.head),
        hands,
        lengths,
        tuple(text(f"{HERE}.dim", dim=dim) for dim in pair.dims),
        number(longer, 3),
        (pair.before.angle, angle),
    )


# ---- the exact operands --------------------------------------------------------------------------


def _exact(both, trace, layer, position):
    words.heading(f"{HERE}.exact")
    each = ("".join(_coordinate(pair, n, trace, layer, position) for n in (0, 1)) for pair in both)
    html.show(f'<div class="tw-both">{"".join(f"<div>{part}</div>" for part in each)}</div>')
    n, head_dim = 2 * both[0].dims[1] - 2 * both[0].dims[0], trace.config.head_dim
    if n < head_dim:
        values = {"n": head_dim - n, "first": n, "last": head_dim - 1, "head_dim": head_dim}
        words.caption(f"{HERE}.partial", **values)


def _coordinate(pair, n, trace, layer, position):
    """One number of the turned pair: its two terms, their sum and the record."""
    e = run.compute(explain, trace, pair.op, layer, (position, pair.head, pair.dims[n]))
    names = [named(pair, dim) for dim in pair.dims]
    turned = f"{ROLES[pair.role]}′{names[n][1:]}"
    formula = words.html(f"{HERE}.formula_{n}", turned=turned, x=names[0], y=names[1])
    own, partner = (names[n], names[1 - n])
    lines = [_line("cos", own, e.term(0)), _line(("minus_sin", "sin")[n], partner, e.term(1))]
    lines = lines[:: 1 - 2 * n]  # in the order of the formula
    lines.append((words.html(f"{HERE}.sum"), number(e.total)))
    lines.append((f"<b>{words.html('explain.recorded')}</b>", f"<b>{number(e.recorded)}</b>"))
    shown = explanation.sums(lines, explanation.verdict(e.equal, e.difference, e.tolerance))
    return f'<p class="tw-turned {pair.role}"><code>{formula}</code></p>{shown}'


def _line(kind, name, term):
    """A term: a number of the pair times a cosine or sine."""
    product = words.html(f"{HERE}.term_{kind}", name=name)
    x, table = (number(operand.value + 0.0) for operand in term.operands)  # no minus before zero
    numbers = f"= {x} × {f'({table})' if table.startswith('−') else table}"
    shown = " ".join(f'<span class="tw-nowrap">{part}</span>' for part in (product, numbers))
    return f"<span>{shown}</span>", number(term.value + 0.0)


# ---- another pairing -----------------------------------------------------------------------------


def _other_pairing(both, trace, layer, head, position):
    """What would become of the same dimensions, and of the scores, if neighbours were paired."""
    box = st.expander(text(f"{HERE}.other"), key="other_pairing", on_change="rerun")
    if not box.open:
        return
    found = run.compute(rotation.scores, trace, layer, head, position)
    with box:
        html.show(f"<p>{words.html('positions.rotation.other_numbers')}</p>{_numbers(both)}")
        html.show(_other_scores(found, trace))
        html.show(_changes(found, trace))
        _save(found, trace)
        code = source.of(rotation.neighbours)
        st.code(code.source, language="python", wrap_lines=True)
        st.caption(text("lesson.code_from", file=code.file))


def _numbers(both):
    """The four numbers: before, turned with the partner half a head away, and with a neighbour."""
    keys = ("number", "before", "half", "partner", "neighbour")
    head = [words.html(f"{HERE}.{key}") for key in keys]
    rows = [
        [named(pair, dim), number(before), number(after), _partner(pair, partner), number(mixed)]
        for pair in both
        for dim, before, after, partner, mixed in zip(
            pair.dims, pair.before.numbers, pair.after.numbers, pair.partners, pair.mixed,
            strict=True,
        )
    ]  # fmt: skip
    return html.table(head, rows, "mono")


def named(pair, dim: int) -> str:
    """A number of a pair in letters: q₅."""
    return f"{ROLES[pair.role]}{str(dim).translate(SUBSCRIPTS)}"


def _partner(pair, partner):
    return f"{named(pair, partner.dim)} = {number(partner.number)} ({partner.pair})"


def _other_scores(found, trace):
    """What becomes of the scores, as HTML."""
    values = _worst(found, trace)
    highest = "highest_same" if values["best_at"] == values["mixed_at"] else "highest_other"
    lines = (f"{HERE}.{key}" for key in ("other_scores", highest, "changes"))
    return "".join(f"<p>{words.html(line, **values)}</p>" for line in lines)


def _worst(found, trace):
    """The key whose score would change most, and the two highest scores."""
    worst = found.changed(found.mixed)[0]
    best, mixed = found.best(found.recorded), found.best(found.mixed)
    return {
        "key": Token(trace.tokens[found.first + worst]),
        "at": found.first + worst,
        "before": number(found.recorded[worst]),
        "after": number(found.mixed[worst]),
        "best": Token(trace.tokens[found.first + best]),
        "best_at": found.first + best,
        "mixed": Token(trace.tokens[found.first + mixed]),
        "mixed_at": found.first + mixed,
    }


def _changes(found, trace):
    """The keys whose scores would change most."""
    keys = ("key_head", "half", "neighbour", "change")
    head = [words.html(f"{HERE}.{key}") for key in keys]
    rows = []
    for n in found.changed(found.mixed)[:FEW]:
        token = html.token(trace.tokens[found.first + n], "key")
        shown = [found.recorded[n], found.mixed[n], found.mixed[n] - found.recorded[n]]
        rows.append([f"{token} ({found.first + n})", *map(number, shown)])
    return html.table(head, rows)


def _save(found, trace):
    """The scores of all keys as CSV."""
    head = ("position", "token", "score", "not turned", "neighbours paired")
    columns = (found.recorded.tolist(), found.plain.tolist(), found.mixed.tolist())
    tokens = trace.tokens[found.first :]
    rows = [(found.first + n, tokens[n], *row) for n, row in enumerate(zip(*columns, strict=True))]
    charts.save("scores_by_pairing", head, rows)


# ---- the answer ----------------------------------------------------------------------------------


def _answer(trace, layer, head, position):
    """What the revealed answer names: the highest scores with and without the rotation."""
    found = rotation.scores(trace, layer, head, position)
    places = {
        "best": found.best(found.recorded),
        "plain": found.best(found.plain),
        "moved": found.changed(found.plain)[0],
    }
    values = {name: Token(trace.tokens[found.first + n]) for name, n in places.items()}
    values |= {f"{name}_at": found.first + n for name, n in places.items()}
    values |= {
        "best_score": number(found.recorded[places["best"]]),
        "plain_score": number(found.plain[places["plain"]]),
    }
    before, after = found.recorded[places["moved"]], found.plain[places["moved"]]
    return values | {"moved_before": number(before), "moved_after": number(after)}
