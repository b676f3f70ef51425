"""The figures that every op has: its value, with a cell to choose, its inputs and its weights.

Knows panels; what fits one kind of op better stands beside this file.
"""

from core.analyse.view import step_view
from pages.parts import panels, run, terms, walk


def output(step, panel=None) -> None:
    """The op's value; choosing a cell of it explains that number. panel: another one of it."""
    key, panel = f"output_{step.id}", panel or step.view.output
    on_cell = walk.chosen(key, step.id, panel)
    panels.show(panel, step.trace, key=key, on_cell=on_cell)


def every_position(step, key: str) -> None:
    """The op's value at all positions, beside figures of one."""
    place = (step.id, step.layer, step.head, step.position, step.column)
    panel = run.compute(step_view, step.trace, *place).output
    panels.show(panel, step.trace, key=key, on_cell=walk.chosen(key, step.id, panel))


def parts(step) -> None:
    """What the chosen number is made of: rows of the inputs and weights."""
    terms.show_parts(step.view.inputs + step.view.weights, step.trace, step.id, step.head)


def draw(step) -> None:
    """Value and parts below each other."""
    output(step)
    parts(step)
