"""What the two views of a logit ask about: which token's score, alone, above the average of all or
against another token's. Knows the session and words; no figures.
"""

from dataclasses import dataclass

from core.analyse.attribution import AVERAGE
from pages.parts import html, inputs, session, strip, target, words
from pages.parts.html import Token

HERE = "lens.parts"
KINDS = ("alone", "average", "other")


@dataclass(frozen=True)
class Aim:
    """kind: one of KINDS. token: an id. against: as core's attribution takes it."""

    kind: str
    token: int
    against: int | str | None

    @property
    def stored(self) -> str | None:
        """The kind as the session holds it."""
        return None if self.kind == KINDS[0] else self.kind


def chosen(trace, position: int) -> Aim:
    """What the reader asks about; at first the logit of the most probable token, alone."""
    kind, token = session.chosen("kind", KINDS), target.chosen(trace, position)
    if kind == "other":
        return Aim(kind, token, target.against(trace, position))
    return Aim(kind, token, AVERAGE if kind == "average" else None)


def controls(trace, position: int, view: str) -> None:
    """The tokens, whose score, and beside what."""
    strip.show(trace, position, key=f"{view}_tokens")
    kind = inputs.choice("kind", KINDS, key=f"{view}_kind", of=HERE)
    target.pick(trace, position, difference=kind == "other")


def named(trace, aim: Aim) -> html.Made:
    """The score in question, as HTML: the logit of a token, or a difference."""
    return html.Made(words.html(f"{HERE}.score_{aim.kind}", **tokens(trace, aim)))


def tokens(trace, aim: Aim) -> dict:
    """The tokens that a sentence may name."""
    display = trace.model.tokenizer.display
    other = aim.against if aim.kind == "other" else aim.token
    return {"target": Token(display(aim.token)), "other": Token(display(other))}
