"""The figures that every op has: its value, with a cell to choose, its inputs and its weights.

Knows panels; what fits one kind of op better stands beside this file.
"""

from pages.parts import panels, terms, walk


def output(step) -> None:
    """The op's value; choosing a cell of it explains that number."""
    key = f"output_{step.id}"
    on_cell = walk.chosen(key, step.id, step.view.output)
    panels.show(step.view.output, step.trace, key=key, on_cell=on_cell)


def parts(step) -> None:
    """What the chosen number is made of: rows of the inputs and weights."""
    terms.show_parts(step.view.inputs + step.view.weights, step.trace, step.id, step.head)


def draw(step) -> None:
    """Value and parts below each other."""
    output(step)
    parts(step)
