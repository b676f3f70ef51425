"""The figures that every op has: its value, with a cell to choose, its inputs and its weights.

Knows panels; what fits one kind of op better stands beside this file.
"""

from core.analyse.view import step_view
from pages.parts import panels, run, terms, walk


def output(step, panel=None) -> None:
    """The op's value; choosing a cell of it explains that number. panel: another one of it."""
    key, panel = f"output_{step.id}", panel or step.view.output
    on_cell = walk.chosen(key, step.id, panel)
    show(step, panel, key=key, on_cell=on_cell)


def every_position(step, key: str) -> None:
    """The op's value at all positions, beside figures of one."""
    place = (step.id, step.layer, step.head, step.position, step.column)
    panel = run.compute(step_view, step.trace, *place).output
    show(step, panel, key=key, on_cell=walk.chosen(key, step.id, panel))


def parts(step) -> None:
    """What the chosen number is made of: rows of the inputs and weights."""
    show_parts(step, step.view.inputs + step.view.weights)


def show_parts(step, some) -> None:
    """Some of the inputs and weights; a click points at a term of the sum."""
    terms.show_parts(some, step.trace, step.id, step.head, saved=step.saved)


def show(step, panel, *, saved: str = "", **drawn) -> None:
    """A panel of a step, whose files say where it was. drawn: what `panels.show` takes."""
    panels.show(panel, step.trace, saved=saved or step.saved(panel), **drawn)


def draw(step) -> None:
    """Value and parts below each other."""
    output(step)
    parts(step)
