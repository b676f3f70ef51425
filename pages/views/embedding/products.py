"""The arithmetic of a dot product, and of the cosine made of it, as HTML. Knows core's numbers and
words; computes nothing.
"""

import streamlit as st

from pages.parts import explanation, html, terms, words
from pages.parts.html import number

HERE = "embedding.products"
FEW = 6  # products that are listed


def table(dot, names: tuple[str, str]) -> str:
    """The products of a `near.Dot` that weigh most, and what the others add up to. names: what the
    two vectors are called, as HTML.
    """
    listed = dot.top(FEW)
    largest = abs(listed[0][3]) or 1.0
    head = [words.html("axes.embedding"), " × ".join(names), words.html("terms.dot"), ""]
    rows = [_row(i, a, b, product, largest) for i, a, b, product in listed]
    if (left := len(dot.products) - len(listed)) > 0:
        rows.append([terms.rest(left), "", number(dot.rest(len(listed)), 3), ""])
    return html.table(head, rows, "mono")


def _row(i, a, b, product, largest):
    factors = f"{number(a, 3)} × {number(b, 3)}"
    shown = f'<span class="tw-nowrap" title="{a:.9g} × {b:.9g}">{factors}</span>'
    return [str(i), shown, f"<b>{number(product, 3)}</b>", terms.bar(product, largest)]


def line(name: str, value: float, **values) -> tuple[str, str]:
    """A line of a sum: one of these views' short texts, and the number."""
    return words.html(f"{HERE}.{name}", **values), number(value)


def checked(check) -> str:
    """The verdict on a `near.Checked`."""
    return explanation.verdict(check.equal, check.difference, check.tolerance)


def cosine(made, names: tuple[str, str]) -> None:
    """A panel: how a `near.Cosine` is made of the dot product and both norms."""
    first, second = made.norms
    lines = [
        line("dot", made.dot.value, n=f"{len(made.dot.products):,}"),
        (words.html(f"{HERE}.norm") + f" {names[0]}", number(first)),
        (words.html(f"{HERE}.norm") + f" {names[1]}", number(second)),
        line("quotient", made.check.value),
        line("shown", made.check.shown),
    ]
    with st.container(key="explain", gap="xsmall", border=True):
        title = words.html(f"{HERE}.cosine_of")
        html.show(f"<h4>{title}</h4><p>{names[0]} · {names[1]}</p>{table(made.dot, names)}")
        html.show(explanation.sums(lines, checked(made.check)))
