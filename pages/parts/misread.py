"""(to be written)"""


def show(step, this, values: dict) -> None:
    """(to be written)"""
