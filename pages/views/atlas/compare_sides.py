"""The two attention maps of a comparison: what they are called, which of their tokens belong
together, and how a cell of them is chosen. Knows core's comparison and the session.
"""

from dataclasses import dataclass

from core.analyse import sidebyside
from core.analyse.sidebyside import Beside
from pages.parts import html, session
from pages.parts.html import Made

HERE = "atlas.compare"


@dataclass(frozen=True)
class Side:
    """One of the two. name: what it is called. head: None for the mean of the layer. map: its
    weights, float32 [query, key], NaN where hidden.
    """

    name: str
    trace: object
    layer: int
    head: int | None
    map: object

    @property
    def block(self) -> int:
        """How many tokens a cell of its figure stands for, on each side."""
        return sidebyside.block_of(len(self.map))


@dataclass(frozen=True)
class Sides:
    """The two and how they compare."""

    first: Side
    second: Side
    found: Beside

    @property
    def both(self):
        """The first and the second."""
        return self.first, self.second

    @property
    def in_place(self) -> bool:
        """Whether each token has the same position in both."""
        return all(a == b for a, b in zip(self.found.at_first, self.found.at_second, strict=True))

    def places(self, row: int) -> tuple[int, int]:
        """The positions of a compared row (or column) in the first text and in the second."""
        return int(self.found.at_first[row]), int(self.found.at_second[row])

    def tokens(self, row: int) -> list[str]:
        """The tokens there, in the first text and in the second."""
        pairs = zip(self.both, self.places(row), strict=True)
        return [side.trace.tokens[at] for side, at in pairs]

    def name(self, row: int) -> str:
        """What a compared row is called: its token; both tokens, both places, where they differ."""
        places, name = self.places(row), " | ".join(dict.fromkeys(self.tokens(row)))
        return name if places[0] == places[1] else f"{name} ({places[0]} | {places[1]})"

    def html(self, row: int, role: str) -> Made:
        """The same as HTML, always with its place."""
        shown = " | ".join(html.token(each, role) for each in dict.fromkeys(self.tokens(row)))
        at = " | ".join(map(str, dict.fromkeys(self.places(row))))
        return Made(f'<span class="tw-nowrap">{shown} ({at})</span>')

    def choose(self, row: int, column: int) -> None:
        """A compared cell becomes the chosen one."""
        session.put(pos=self.places(row)[0], key_at=self.places(column)[0])
