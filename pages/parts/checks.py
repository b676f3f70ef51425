"""The line that says how we know: checks of this very run, and of a run with reference values.
Knows core's checks.
"""

import streamlit as st

from core import RunSpec
from core import run as core_run
from core.analyse.check import REFERENCE_IDS, checks, has_reference, reference_check
from pages.parts import html, run, words
from pages.parts.words import text


def line(trace, layer: int) -> None:
    """One line of results; behind a click, every check with its number and its bound."""
    found = run.compute(_all, trace, layer)
    passed = all(check.passed for check in found)
    mark = '<span class="tw-equal">✓</span>' if passed else '<span class="tw-unequal">✗</span>'
    seconds = html.number(trace.seconds, 3)  # Nano takes some thousandths
    parts = [words.html("checks.computed", seconds=seconds)]
    parts += [
        words.html(f"checks.short_{c.name}", value=f"{c.value:.1e}")
        for c in found
        if c.name in SHORT
    ]
    html.show(f'<p class="tw-caption">{mark} {" · ".join(parts)}</p>')
    with st.expander(text("checks.how")):
        head = [words.html(f"checks.{name}") for name in ("check", "value", "bound", "result")]
        rows = [_row(c, layer) for c in found]
        intro = words.html("checks.intro", layer=layer)
        if has_reference(trace.model):
            intro += " " + words.html("checks.intro_reference")
        html.show(intro + html.table(head, rows))


SHORT = ("rows", "reference")


def _row(check, layer):
    sign = "✓" if check.passed else "✗"
    return [
        words.html(f"checks.{check.name}", layer=layer),
        f"{check.value:.1e}",
        f"{check.bound:.0e}",
        sign,
    ]


def _all(trace, layer):
    """The checks of this run, and of the reference run where there is one for this file."""
    found = checks(trace, layer)
    if has_reference(trace.model):
        spec = RunSpec(trace.spec.model, ids=REFERENCE_IDS)
        found.append(reference_check(core_run(spec)))
    return found
