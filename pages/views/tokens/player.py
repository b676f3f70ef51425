"""The merges of one piece of a text, to step through. Knows the session; computes nothing.

The first view of the tokens page shows it, and names its parts as it does.
"""

import streamlit as st

from core.analyse import merging
from core.text.display import show_text
from pages import canvas
from pages.parts import charts, html, run, session, words
from pages.parts.html import Token
from pages.parts.words import text
from viz import merging as figure
from viz.merging import LABELS, Join

HERE = "tokens.merges"
LONGEST = 60  # characters of a text that a sentence names


def named(typed: str) -> Token:
    """A text as a sentence names it: visible, and only its beginning where it is long."""
    return short(show_text(typed))


def short(shown: str) -> Token:
    """The same for a text that is visible already."""
    return Token(shown[:LONGEST] + "…" * (len(shown) > LONGEST))


def show(trace, at: int | None) -> None:
    """The player of a piece, or why there is nothing to play. at: its number, None for a token that
    comes from no piece.
    """
    if at is None:
        words.caption(f"{HERE}.prefix")
        return
    shown = run.compute(merging.player, trace, at)
    scored = any(step.rank is None for step in shown.steps)
    words.heading(f"{HERE}.player", piece=short(shown.text))
    _captions(shown, scored)
    payload = _payload(shown, scored)
    canvas.merges(payload, "merges", lambda: session.put(cell=st.session_state["merges"]["cell"]))
    if shown.steps:
        _save(shown)


def _captions(shown, scored):
    """What is not shown, and what to look for."""
    if shown.dropped:
        words.caption(f"{HERE}.dropped", bytes=" ".join(shown.dropped))
    if shown.n_symbols > len(shown.symbols):
        words.caption(f"{HERE}.in_part", **_sizes(shown))
    if shown.steps:
        words.caption(f"{HERE}.look_score" if scored else f"{HERE}.look")
    if shown.n_steps:
        return
    none = "single" if len(shown.symbols) == 1 else "none"
    words.caption(f"{HERE}.{'whole' if shown.whole else none}", piece=short(shown.text))


def _payload(shown, scored):
    return figure.player(
        [(symbol.text, symbol.hex) for symbol in shown.symbols],
        [_join(step) for step in shown.steps],
        [(token.start, token.stop, token.text, [token.id]) for token in shown.tokens],
        step=_step(len(shown.steps)),
        labels=_labels(scored),
    )


def _labels(scored):
    """The words of the player, ranked by scores or by the table of merges."""
    keys = {name: name for name in LABELS} | {"rank": "score" if scored else "rank"}
    return {name: text(f"{HERE}.{key}") for name, key in keys.items()}


def _sizes(shown):
    """How much of a long piece is shown."""
    return {
        "symbols": len(shown.symbols),
        "n_symbols": f"{shown.n_symbols:,}",
        "steps": len(shown.steps),
        "n_steps": f"{shown.n_steps:,}",
        "tokens": len(shown.tokens),
        "n_tokens": f"{shown.n_tokens:,}",
    }


def _join(step):
    """A merge as the player takes it."""
    rank = html.number(step.score) if step.rank is None else f"{step.rank:,}"
    return Join(step.start, step.middle, step.stop, step.joined, step.hex, step.id, rank)


def _step(n_steps):
    """How many merges are done: none yet, unless the reader or the link says otherwise."""
    return session.below("cell", n_steps + 1) or 0


def _save(shown):
    """The merges as a table to keep."""
    head = ("step", "left", "right", "joined", "bytes", "rank", "score", "id")
    rows = [
        (n + 1, s.left, s.right, s.joined, s.hex, s.rank, s.score, s.id)
        for n, s in enumerate(shown.steps)
    ]
    charts.save("merges", head, rows)
