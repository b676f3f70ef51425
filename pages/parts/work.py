"""(to be written)"""


def show(step) -> None:
    """(to be written)"""
