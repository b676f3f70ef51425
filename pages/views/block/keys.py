"""A list of keys and a matrix under it: which keys are listed, in which order, and the chosen one.

Knows the step, keys as numbers and tokens by name; no maths.
"""

import streamlit as st

from core.analyse import attending
from core.analyse.panel import Panel, magnitude
from pages.parts import explanation, html, inputs, listing, panels, session, terms, words
from pages.parts.html import Token
from pages.parts.words import text

FEW = 12  # of many keys, those with the largest numbers
SHORT = 16  # so many are listed whole
HERE = "block.keys"


def few(order, chosen: int) -> tuple[list[int], list[int]]:
    """The first of many keys, with the chosen one, and the others; all, where they are not many."""
    shown = set(order if len(order) <= SHORT else order[:FEW]) | {chosen}
    return [key for key in order if key in shown], [key for key in order if key not in shown]


def _listed(order, chosen, by_size):
    """The keys of a table, and the others; a switch where they are many. by_size: all in this
    order, not in the order of the text.
    """
    if len(order) > SHORT and not _all(len(order)):
        return few(order, chosen)
    return list(order) if by_size else sorted(order), []


def _all(n):
    """Whether the reader wants to see all n."""
    every = bool(session.get("all_keys"))
    inputs.switch(
        (False, True),
        every,
        key="all_keys_switch",
        label=text(f"{HERE}.switch"),
        name=lambda each: text(f"{HERE}.{'all' if each else 'few'}", n=n, few=FEW),
        pick=lambda each: session.put(all_keys=each),
    )
    return every


def query(step) -> dict:
    """What a sentence about the chosen query may name."""
    return {"token": Token(step.trace.tokens[step.position]), "position": step.position}


def name(key: int, trace, role: str = "key") -> str:
    """A key as HTML: its token, and its position in brackets."""
    return f'<span class="tw-nowrap">{html.token(trace.tokens[key], role)} ({key})</span>'


def plain(key: int, trace) -> str:
    """A key as the name of a row or column: where that is too long, it loses its end."""
    return f"({key}) {trace.tokens[key]}"


def table(
    step, sizes, head, row, *, label: str, faint=None, foot=None, chosen=None, by_size=False
) -> None:
    """A table with a row for each key, or for the largest of many; a click on a row, or Enter,
    chooses its key.

    sizes: numbers [key] that say which keys are large. row(key): the cells behind its name, HTML.
    label: what the table is, read aloud. faint(key): whether its row is drawn lighter.
    foot(others): rows below. chosen: the chosen key, by default the column of the step. by_size:
    the largest first also where all are listed.
    """
    chosen = step.column if chosen is None else chosen
    shown, others = _listed(attending.largest_first(sizes), chosen, by_size)
    rows = [[name(key, step.trace, "value" if by_size else "key"), *row(key)] for key in shown]
    below = (foot or _rest)(others)
    below = [line + [""] * (len(head) - len(line)) for line in below]
    lighter = [key for key in shown if faint and faint(key)]
    listing.show("key", head, rows, shown, chosen, label, below, lighter)
    listing.listen("key", lambda key: choose(step, key))


def _rest(others):
    """The line of all keys that are not listed."""
    return [[terms.rest(len(others))]] if others else []


def choose(step, key: int) -> None:
    """A key becomes the chosen cell of a map; of a mix, the term that the pictures point at."""
    if step.op.kind == "mix":
        session.put(term=(step.id, key))
    else:
        session.put(cell=key, cell_axis="key")


def agreed(agreement, n: int, lines=()) -> None:
    """Whether all n numbers of the row, computed again, are those that were recorded. lines: what
    stands above.
    """
    explanation.agreed(agreement, [*lines, (words.html(f"{HERE}.agreed", n=n), "")])


def sheet(
    step, values, axes, rows, *, key, name, role, selected, on_cell, limit=None, amount=False
) -> None:
    """A matrix whose rows have names of their own, under its heading, aligned with other strips.

    values: float32 [row, column]. axes: which these are. rows: texts. key: of the figure, and what
    its files are called; name: what the reader sees. on_cell(row, column) is called before the
    next run when a cell is chosen. limit: the magnitude of full colour.
    """
    limit, n = magnitude(values) if limit is None else limit, len(values)
    panel = Panel(key, "output", role, values, *axes, limit, selected, 0, n, amount)
    called = {"on_cell": lambda: on_cell(*st.session_state[key]["cell"])}
    panels.show(panel, step.trace, key=key, name=name, rows=rows, saved=step.file(key), **called)
