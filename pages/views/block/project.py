"""(to be written)"""

from pages.views.block import whole


def draw(step) -> None:
    """(to be written)"""
    whole.draw(step)
