"""The grid of the logit lens. Knows core's window, the canvas and the session."""

from dataclasses import dataclass

import streamlit as st

from core.analyse.lens import Window
from core.record.trace import Trace
from pages import canvas
from pages.parts import session, words
from pages.parts.html import Token
from pages.parts.words import text
from viz.lens import lens

HERE = "lens.layers"


@dataclass(frozen=True)
class Place:
    """What the view is about.

    Attributes:
        found: the lens on the positions shown. position, row: of the chosen cell, in the text and
        in the grid. target: the id of the token whose rank and probability are shown. by: what
        colours the cells.
    """

    trace: Trace
    found: Window
    position: int
    row: int
    target: int
    by: str

    @property
    def column(self) -> int:
        """The column of the chosen position."""
        return self.position - self.found.first

    @property
    def stop(self) -> int:
        """The position behind the last column."""
        return self.found.first + self.found.top.shape[1]

    def display(self, id: int) -> str:
        """The visible form of a token."""
        return self.trace.model.tokenizer.display(id)

    def values(self) -> dict:
        """What a sentence may name."""
        return {
            "token": Token(self.trace.tokens[self.position]),
            "position": self.position,
            "target": Token(self.display(self.target)),
            "vocab": f"{self.trace.config.vocab:,}",
        }


def row_name(place, row: int) -> str:
    """What a row is called: by the layer behind which the stream was read."""
    point = place.found.points[row]
    layer, half = (point - 1) // 2, "attention" if point % 2 else "end"
    if point == 0:
        return text(f"{HERE}.input")
    if half == "end" and row < len(place.found.points) - 1:
        return str(layer)
    return text(f"{HERE}.row_{half}", layer=layer)


def show(place) -> None:
    """The grid under its name."""
    words.heading(f"{HERE}.grid")
    words.caption(f"{HERE}.grid_caption")
    words.caption(f"{HERE}.colour.{place.by}", **place.values())
    canvas.lens(_payload(place), key="lens_grid", on_cell=lambda: _to_cell(place))


def _to_cell(place):
    row, column = st.session_state["lens_grid"]["cell"]
    session.put(cell=place.found.points[row], pos=place.found.first + column)


def _payload(place):
    found, tokens = place.found, place.trace.tokens[place.found.first : place.stop]
    labels = words.table(HERE, "tooltip", "selected")
    labels |= words.table("matrix", "save_png", "save_csv")
    labels |= {
        "aria": text(f"{HERE}.aria", rows=len(found.points), columns=len(tokens)),
        "scale": text(f"{HERE}.scale.{place.by}", target=place.display(place.target)),
        "target": place.display(place.target),
    }
    return lens(
        [[place.display(id) for id in line] for line in found.top.tolist()],
        answer=found.answer_probs,
        target=found.probs_of(place.target),
        first=found.probs,
        ranks=found.ranks_of(place.target),
        entropy=found.entropy,
        divergence=found.divergence,
        decided=found.decided,
        by=place.by,
        vocab=place.trace.config.vocab,
        rows=[row_name(place, row) for row in range(len(found.points))],
        columns=list(tokens),
        row_title=text(f"{HERE}.row_title"),
        column_title=text("axes.seq"),
        first_column=found.first,
        selected=[place.row, place.column],
        labels=labels,
        name=f"logit_lens_{place.by}",
    )
