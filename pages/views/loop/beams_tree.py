"""The tree of a search as a figure: every branch that was looked at, the best text marked."""

import streamlit as st

from core.decode.tree import path
from pages import canvas
from pages.parts import session, words
from pages.parts.html import number
from pages.parts.words import text
from viz.branches import Branch, branches

HERE = "loop.beams"
LABELS = ("start", "level", "best", "chosen", "save", "kept", "finished", "dropped")
APART = 1_000  # a branch is level * APART + place, in the session and in links


def show(trace, race, node) -> None:
    """The tree; a click on a branch makes it the chosen one."""
    best = {(each.level, each.place) for each in best_path(race)}
    columns = [
        [_branch(each, (each.level, each.place) in best) for each in level.nodes]
        for level in race.levels
    ]
    words.heading(f"{HERE}.tree")
    words.caption(f"{HERE}.tree_caption")
    labels = words.table(f"{HERE}.labels", *LABELS) | {"aria": text(f"{HERE}.tree_aria")}
    chosen, asked = (node.level - 1, node.place), session.get("cell") is not None
    payload = branches(columns, chosen=chosen, asked=asked, labels=labels)
    canvas.branches(payload, key="beams_tree", on_branch=_picked)


def _picked():
    column, place = st.session_state["beams_tree"]["branch"]
    session.put(cell=(column + 1) * APART + place)


def best_path(race) -> tuple:
    """The branches of the best text: of the best beam so far where none has finished."""
    return path(race.levels, best_node(race))


def best_node(race):
    """The last branch of the best text."""
    if race.finished:
        return race.levels[race.finished[0].n - 1].nodes[race.finished[0].place]
    return race.levels[-1].nodes[0]


def _branch(node, best):
    logprob, total = number(node.logprob, 2), number(node.sum, 2)
    state = text(f"{HERE}.labels.{node.state}")
    values = {"logprob": number(node.logprob), "sum": number(node.sum), "state": state}
    title = [node.text, *(text(f"{HERE}.title_{each}", **values) for each in TITLE)]
    return Branch(node.parent, node.text, f"{logprob} → {total}", node.state, best, title)


TITLE = ("logprob", "sum", "state")
