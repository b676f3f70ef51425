"""All layers at once: what each adds to the residual stream."""


def show(trace, layer: int, position: int) -> None:
    """The view, below the page's title."""
