"""Not drawn yet."""

from pages.parts.views import Shown


def view(trace, position: int) -> Shown:
    """Nothing yet."""
    return Shown(lambda: None, {})
