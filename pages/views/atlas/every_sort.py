"""What sorts the maps of all heads, and which of the sorted ones are shown.

Knows the session and core's numbers of heads; no figure.
"""

from dataclasses import dataclass

import streamlit as st

from core.analyse import attribution, repeating, roles
from pages.parts import html, inputs, run, session, strip, target, words
from pages.parts.html import Token
from pages.parts.words import text

HERE = "atlas.every"
ORDER = "model"  # of the maps, where nothing sorts them
OF_TOKEN = ("hardest", "written")  # what is about the chosen token
BY = (ORDER, *OF_TOKEN, *roles.MEASURES, "induction")
KINDS = ("few", "low", "limit", "all")  # which of the sorted maps are shown
FEW = 24  # maps that are large enough to read side by side
LIMIT = 0.5  # of a number, where the reader has given none


@dataclass(frozen=True, eq=False)
class Sorted:
    """Heads by a number: its name, its values [layer, head], and the heads shown, in order."""

    by: str
    values: object
    shown: list[tuple[int, int]]

    @property
    def names(self) -> list[str]:
        """What stands above each map: layer·head and its number."""
        return [f"{at[0]}·{at[1]}  {html.number(float(self.values[at]), 2)}" for at in self.shown]


def choose(trace, seen, position: int) -> Sorted | None:
    """The controls, and what they say; None where the maps stand in the model's order."""
    by = _by()
    if by == ORDER:
        return None
    kind, limit = _kind()
    if by in OF_TOKEN:
        strip.show(trace, position, key="atlas_tokens")
    if by == "written":
        target.pick(trace, position)
    values = _values(trace, seen, position, by)
    order = roles.ranked(values, "smallest" if kind == "low" else "largest")
    if kind == "limit":
        return Sorted(by, values, roles.at_least(values, order, limit))
    return Sorted(by, values, order if kind == "all" else order[:FEW])


def name(by: str) -> str:
    """What the maps can be sorted by, as the list calls it."""
    return text(f"measures.{by}" if by in (*roles.MEASURES, "induction") else f"{HERE}.by_{by}")


def said(trace, position: int, found: Sorted) -> str:
    """What the numbers above the maps are, as HTML."""
    n = trace.config.n_layers * trace.config.n_heads
    values = {"n": len(found.shown), "n_heads": n, "name": name(found.by)}
    lines = [words.html(f"{HERE}.sorted", **values)]
    if found.by in (*OF_TOKEN, "induction"):
        own = {"token": Token(trace.tokens[position]), "position": position}
        if found.by == "written":
            own["target"] = Token(trace.model.tokenizer.display(target.chosen(trace, position)))
        lines.append(words.html(f"{HERE}.about_{found.by}", **own))
    return " ".join(lines)


def why_none(found: Sorted) -> str:
    """Why no map is shown, as HTML."""
    if roles.defined(found.values):
        return words.html(f"{HERE}.none")
    key = {"hardest": "undefined_first", "induction": "undefined_model"}
    return words.html(f"{HERE}.{key.get(found.by, 'undefined')}")


def _values(trace, seen, position, by):
    """The number of every head: [layer, head]."""
    if by == "hardest":
        return seen.peaks[..., position]
    if by == "written":
        id = target.chosen(trace, position)
        return run.compute(attribution.attribution, trace, id, None, position).heads
    if by == "induction":
        with st.spinner(text("run.running")):  # another text
            return run.compute(repeating.repeated, trace.model, trace.spec.model).scores
    return seen.scores[by]


# ---- the controls --------------------------------------------------------------------------------


def _by():
    """What the maps are sorted by."""
    key, now = "atlas_by", session.chosen("by", BY)
    st.session_state[key] = now

    def pick():
        by = st.session_state[key]
        session.put(by=None if by == ORDER else by, ask=None)

    names = {each: name(each) for each in BY}
    how = {"format_func": names.__getitem__, "key": key, "on_change": pick, "width": 340}
    st.selectbox(text(f"{HERE}.by"), BY, **how)
    return now


def _kind():
    """Which of the sorted maps are shown, and the least number where that is asked for."""
    with st.container(horizontal=True, key="atlas_kinds", vertical_alignment="bottom"):
        called = {"called": lambda each: text(f"{HERE}.kinds.{each}", n=FEW)}
        kind = inputs.choice("kind", KINDS, key="atlas_kind", of=HERE, **called)
        return kind, _limit() if kind == "limit" else None


def _limit():
    """The least number of a map that is shown; a link holds it as it was typed."""
    key = "atlas_limit"
    typed = session.typed("ask", 12) or ""
    number = typed.replace(".", "", 1).isascii() and typed.replace(".", "", 1).isdigit()
    st.session_state[key] = min(float(typed), 1e6) if number else LIMIT

    def put():
        session.put(ask=f"{st.session_state[key]:g}")

    st.number_input(
        text(f"{HERE}.limit"), 0.0, 1e6, key=key, step=0.1, format="%g", on_change=put, width=140
    )
    return st.session_state[key]
