"""Our own small renderer: templates from lessons/ and hostile text become HTML, everything escaped.

Knows **bold**, `code` and placeholders. Prompts and model text go through here (or a canvas), never
through Markdown.
"""

import math
import re
from html import escape

import streamlit as st

import lessons

WHOLE = 1e-6  # what rounding may take from a share of 1


class Token(str):
    """Text of a token: shown in mono, set apart, isolated from its surroundings."""


class Made(str):
    """HTML made here: put into a sentence as it is."""


def rich(template: str, /, **values) -> str:
    """A template as HTML: escaped, then its mark-up, then its placeholders with escaped values."""
    html = escape(template, quote=False)
    html = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", html)
    html = re.sub(r"`(.+?)`", r"<code>\1</code>", html)
    return lessons.fill(html, **{name: _value(value) for name, value in values.items()})


def _value(value) -> str:
    if isinstance(value, Made):
        return value
    return token(value) if isinstance(value, Token) else escape(str(value))


def token(text: str, role: str = "") -> str:
    """A token inside a sentence."""
    return f'<bdi class="tw-token {role}">{escape(text)}</bdi>'


def show(html: str) -> None:
    """Put HTML made here on the page."""
    st.html(html)


def paragraphs(html: str) -> str:
    """Blank lines become paragraphs."""
    return "".join(f"<p>{part}</p>" for part in html.split("\n\n"))


def table(head: list[str], rows: list[list[str]], classes: str = "", marks=None) -> str:
    """A table of cells that are HTML already. marks: attributes of each row, if any."""
    top = "".join(f"<th>{cell}</th>" for cell in head)
    marked = zip(marks or [""] * len(rows), rows, strict=True)
    body = "".join(
        f"<tr{mark}>" + "".join(f"<td>{c}</td>" for c in row) + "</tr>" for mark, row in marked
    )
    inside = f"<thead><tr>{top}</tr></thead><tbody>{body}</tbody>"
    return f'<table class="tw-table {classes}">{inside}</table>'


def scroll(inside: str, name: str, classes: str = "") -> str:
    """HTML in a box that scrolls, by keyboard, too. name: what it is, read aloud."""
    named = f'tabindex="0" role="group" aria-label="{escape(name, quote=True)}"'
    return f'<div class="tw-scroll {classes}" {named}>{inside}</div>'


def number(value: float, digits: int = 4) -> str:
    """A float for reading: some decimals, or two and an exponent where that says nothing. A zero
    has no sign.
    """
    if value != value or abs(value) == float("inf"):
        return {float("inf"): "∞", float("-inf"): "−∞"}.get(value, "–")
    if value == 0 or 1e-3 <= abs(value) < 1e5:
        return f"{value or 0.0:.{digits}f}".replace("-", "−")
    return f"{value:.2e}".replace("-", "−")


def wavelength(tokens: float) -> str:
    """Tokens per turn of a pair: a short one with a decimal."""
    return f"{tokens:,.1f}" if tokens < 100 else f"{tokens:,.0f}"


def percent(share: float) -> str:
    """A share as per cent: 77.3%, −12.3%, 0.044%, or with an exponent where it is tiny. Only what
    is whole but for rounding reads 100.0%: 99.996% does not. A dash for one that is not defined.
    """
    if share != share:
        return "–"
    sign, size = "−" if share < 0 else "", abs(share)
    shown = f"{size:.1%}" if size >= 5e-4 or size == 0 else f"{size * 100:.2g}%"
    if shown == "100.0%" and abs(1 - size) > WHOLE:  # as many decimals as show what is missing
        shown = f"{size:.{-2 - math.floor(math.log10(abs(1 - size)))}%}"
    return sign + shown
