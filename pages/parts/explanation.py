"""Explain this number: operands, products, their sum, the recorded value, equal or not.

Shows an Explanation of core; computes nothing itself. Everything goes through the escaping
renderer.
"""

import streamlit as st

from core.analyse import Explanation
from core.analyse.turning import turn
from pages.parts import html, terms, words
from pages.parts.html import number


def show(explanation: Explanation, trace, pointed: int | None = None) -> None:
    """The panel for one number of a trace. pointed: the term that the pictures point at."""
    e = explanation
    with st.container(key="explain", gap="xsmall"):
        html.show(
            f"<h4>{words.html('explain.title')}</h4>"
            f'<p class="tw-caption">{_where(e, trace)}</p>{_formula(e)}{_turn(e, trace)}'
        )
        if len(e.values):
            terms.show(e, trace, pointed)
        else:
            html.show(_hidden(e, trace))
        html.show(_sums(e))


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


def _formula(e):
    return f'<p class="tw-formula"><code>{html.rich(e.formula)}</code></p>'


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


def _sums(e):
    """From the sum through the last steps to the value, beside the recorded one."""
    lines = []
    if len(e.values) > 1:
        lines.append((words.html("explain.sum", n=f"{len(e.values):,}"), number(e.total)))
    for step in e.steps:
        used = terms.in_brackets(step.sign, step.value) if step.sign else ""
        name = words.text(f"steps.{step.name}")
        left = words.html("explain.step", sign=step.sign, value=used, name=name)
        lines.append((left, number(step.result)))
    lines.append((f"<b>{words.html('explain.recorded')}</b>", f"<b>{number(e.recorded)}</b>"))
    return sums(lines, verdict(e.equal, e.difference, e.tolerance))


def sums(lines: list[tuple[str, str]], verdict: str) -> str:
    """Lines of what is added up, as HTML: what it is (left), the number (right), and a verdict."""
    body = "".join(f"<div><span>{left}</span><span>{right}</span></div>" for left, right in lines)
    return f'<div class="tw-sums">{body}{verdict}</div>'


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
