"""Explain this number: operands, products, their sum, the recorded value, equal or not; with doors
to the ops that made the operands.

Shows an Explanation of core; computes nothing itself. Everything goes through the escaping
renderer.
"""

from functools import reduce

import streamlit as st

from core.analyse import Explanation, follow
from core.analyse.agreement import Agreement
from core.analyse.turning import turn
from pages import canvas
from pages.parts import equation, html, lesson, session, terms, trail, walk, words
from pages.parts.html import number
from pages.parts.words import text

BARS = 60  # of the picture of a sum so far
WHY = dict.fromkeys(("dot", "score", "mix"), "sum")  # of a difference, by kind: what is rounded
WHY |= dict.fromkeys(("sum", "position", "product", "times"), "once")


def show(explanation: Explanation, trace, pointed: int | None = None, crumbs: bool = True) -> None:
    """The panel for one number of a trace. pointed: the term that the pictures point at. crumbs:
    whether this is the number of the page, and the way to it is shown.
    """
    e, at = explanation, trail.here(explanation, trace.config)
    with st.container(key="explain", gap="xsmall"):
        _heading(e, trace, crumbs)
        if crumbs:
            trail.show(at, trace)
        html.show(
            f'<p class="tw-caption">{_where(e, trace)}</p>{_formula(e, trace)}{_turn(e, trace)}'
        )
        if len(e.values):
            terms.show(e, trace, pointed, at)
        else:
            html.show(_hidden(e, trace))
        html.show(_so_far(e) + _sums(e, trace.config, at) + _why(e, trace) + _hint(e))
    canvas.doors("doors", lambda said: _through(said, e, at, trace.config))


def _heading(e, trace, own):
    """The panel's name; where it is of the page's own cell, a box for the number of another one."""
    title = f"<h4>{words.html('explain.title')}</h4>"
    if not own:
        return html.show(title)
    with walk.beside("explain_top"):
        st.html(title, width="content")
        with st.container(horizontal=True, vertical_alignment="center", width="content"):
            axis = words.html(f"axes.{terms.axes_of(e.op)[-1]}")
            st.html(f'<span class="tw-hint">{axis}</span>', width="content")
            _cell_box(e, trace)


def _cell_box(e, trace):
    """The number of the cell in its row, to type another."""

    def typed():
        column = terms.axes_of(e.op)[-1]
        session.put(cell=st.session_state["cell_box"], cell_axis=column)

    last = trace.config.axis_sizes(len(trace.ids))[terms.axes_of(e.op)[-1]] - 1
    st.session_state["cell_box"] = e.index[-1]
    how = {"label_visibility": "collapsed", "width": 130, "on_change": typed}
    st.number_input(text("explain.cell"), 0, last, key="cell_box", **how)


def _through(said, e, at, config):
    """Where a door leads: an operand of a term, or of a step behind the sum."""
    kind, first, *slot = said.split()
    if kind == "term":
        operand = e.term(int(first)).operands[int(*slot)]
    else:
        operand = e.steps[int(first)].operand
    trail.on(at, follow.origin(operand, config, at))


def _hidden(e, trace):
    """Why a cell of an attention map holds no score."""
    _, query, key = e.index
    window = trace.config.windows[e.layer]
    why = "explain.masked" if key > query else "explain.outside"
    return f"<p>{words.html(why, window=window)}</p>"


def _where(e, trace):
    """Which cell: the op's axes with this index, tokens by name."""
    parts = [f"<code>{e.op}</code>"]
    if e.layer is not None:
        parts.append(words.html("explain.layer", layer=e.layer))
    for axis, i in zip(terms.axes_of(e.op), e.index, strict=True):
        parts.append(f"{words.html(f'axes.{axis}')} {terms.coordinate(axis, i, trace)}")
    return " · ".join(parts)


def _formula(e, trace):
    """The formula in letters, and below it with the numbers of this cell."""
    window = None if e.layer is None else trace.config.windows[e.layer]
    lines = (html.rich(e.formula), equation.line(e, window))
    return "".join(f'<p class="tw-formula"><code>{line}</code></p>' for line in lines)


def _turn(e, trace):
    """Of a rotation: how the angle comes from the position."""
    position, *_, dim = e.index
    made = turn(trace, e.layer, position, dim) if e.kind == "rotate" else None
    if made is None:
        return ""
    values = {"frequency": f"{made.frequency:.6g}", "angle": f"{made.angle:.6g}"}
    values |= {"position": made.position, "pair": made.pair}
    line = words.html("explain.angle", **values)
    if made.amplitude != 1:
        line += " " + words.html("explain.amplitude", amplitude=number(made.amplitude))
    return f'<p class="tw-caption">{line}</p>'


def _so_far(e):
    """The sum after each term, the largest first, as bars from 0: of a long sum, every n-th."""
    if len(e.values) <= terms.FEW:
        return ""
    sums = e.so_far().tolist()
    n = len(sums)
    shown = [sums[(n - 1) * i // (min(n, BARS) - 1)] for i in range(min(n, BARS))]
    low, high = min(0.0, *sums), max(0.0, *sums)
    span = high - low or 1.0
    bars = "".join(_column(min(s, 0.0) - low, abs(s), s < 0, span) for s in shown)
    said = {"n": f"{n:,}", "first": number(sums[0]), "half": number(sums[n // 2 - 1])}
    said = words.text("explain.running", last=number(sums[-1]), **said)
    return f'<div class="tw-run" role="img" aria-label="{said}" title="{said}">{bars}</div>'


def _column(below, height, negative, span):
    sizes = f"bottom:{100 * below / span:.1f}%;height:{100 * height / span:.1f}%"
    return f'<i><b class="{"negative" * negative}" style="{sizes}"></b></i>'


def _sums(e, config, at):
    """From the sum through the last steps to the value, beside the recorded one."""
    lines = []
    if len(e.values) > 1:
        lines.append((words.html("explain.sum", n=f"{len(e.values):,}"), number(e.total)))
    for n, step in enumerate(e.steps):
        lines.append(_step(n, step, config, at))
    exact = f"{e.recorded:.9g}"
    recorded = f'<span data-recorded="{exact}" title="{exact}"><b>{number(e.recorded)}</b></span>'
    lines.append((f"<b>{words.html('explain.recorded')}</b>", recorded))
    return sums(lines, verdict(e.equal, e.difference, e.tolerance))


def _step(n, step, config, at):
    """What is done (left) and the result so far (right); an operand that an op made is a door."""
    begins, operand = not step.sign, step.operand
    way = f'data-door="step {n}"' if operand and follow.origin(operand, config, at) else ""
    used = number(step.result) if begins else terms.in_brackets(step.sign, step.value)
    used = html.Made(terms.door(way, used, title=f"{step.value:.9g}"))
    name, value = words.text(f"steps.{step.name}"), "" if begins else used
    left = words.html("explain.step", sign=step.sign, value=value, name=name)
    return left, used if begins else number(step.result)


def _why(e, trace):
    """Why the two numbers differ in their last digits; or that they do not."""
    if not e.equal:
        return ""
    if not e.difference:
        return f'<p class="tw-caption">{words.html("explain.exact")}</p>'
    said = [words.html(f"explain.why_{WHY.get(e.kind, 'steps')}")]
    if trace.catalogue.op(e.op, e.layer).together:
        said.append(words.html("explain.why_joint"))
    if e.gaps is not None:
        said.append(words.html("explain.gaps", gaps=f"{e.gaps:.2g}"))
    return f'<p class="tw-caption">{reduce(lesson.joined, said)}</p>'


def _hint(e):
    """What can be clicked, where something can."""
    return f'<p class="tw-caption">{words.html("explain.doors")}</p>' if len(e.values) else ""


def sums(lines: list[tuple[str, str]], verdict: str) -> str:
    """Lines of what is added up, as HTML: what it is (left), the number (right), and a verdict."""
    body = "".join(f"<div><span>{left}</span><span>{right}</span></div>" for left, right in lines)
    return f'<div class="tw-sums">{body}{verdict}</div>'


def agreed(found: Agreement, lines=(), said: str = "") -> None:
    """What was computed again beside the record, on the page. lines: as `sums` takes them. said: a
    sentence above, as HTML.
    """
    above = f'<p class="tw-caption">{said}</p>' if said else ""
    html.show(above + sums(lines, verdict(found.equal, found.difference, found.tolerance)))


def _small(value):
    """The size of a tiny number; a plain 0 where it is none."""
    return f"{abs(value):.1e}" if value else "0"


def verdict(equal: bool, difference: float, tolerance: float) -> str:
    """Equal or not, as HTML, with the difference and what is allowed."""
    name, sign = ("equal", "✓") if equal else ("unequal", "✗")
    word = words.html(f"explain.{name}")
    detail = words.html(
        "explain.difference", difference=_small(difference), tolerance=_small(tolerance)
    )
    inside = f"<span>{sign} {word}</span><small>{detail}</small>"
    return f'<div class="tw-{name}" data-verdict="{name}">{inside}</div>'
