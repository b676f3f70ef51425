"""The table that `python -m core models` prints: what can be opened by name, and what that takes.

Knows the registry and the memory of this computer; the words of the command line live here.
"""

from core.errors import PYTHON
from core.files import memory, registry
from core.files.registry import OnHub, Shipped

HEAD = ("name", "size", "memory", "licence", "here", "from")
LEFT = ("name", "licence", "here", "from")  # columns of text; those of numbers end on a line


def lines() -> list[str]:
    """The table, the models fetched by their name on the Hub, and what the signs mean."""
    free = memory.available()
    listed = [_row(entry, free) for entry in registry.MODELS.values()]
    others = [_row(registry.entry_of(name), free)[:4] for name in registry.fetched()]
    shown = _columns([HEAD, *listed])
    if others:
        shown += ["", "Fetched by their name on the Hugging Face Hub:", *_columns(others)]
    return [*shown, "", *_legend(listed + others, free)]


def too_large(entry: registry.Entry) -> str | None:
    """A warning where opening the entry takes more memory than there is, or None."""
    needed, free = entry.memory_bytes, memory.available()
    if needed is None or free is None or needed <= free:
        return None
    return (
        f"Opening {entry.name} takes {_size(needed)} of memory; {_size(free)} are free on this "
        "computer now."
    )


def _row(entry, free):
    """The words of one model, in the order of HEAD."""
    if isinstance(entry, OnHub):
        receipt, about = registry.receipt_of(entry), entry.about_bytes
        nbytes, source = (receipt.nbytes if receipt else about), entry.source
        licence = entry.licence or (receipt and receipt.licence)
        n_parameters = entry.n_parameters or (receipt and receipt.n_parameters)
    else:
        nbytes, source = _at_home(entry)
        licence, n_parameters = entry.licence, entry.n_parameters
    needed = n_parameters and 4 * n_parameters
    mark = "!" if needed and free is not None and needed > free else " "
    gate = "*" if getattr(entry, "gated", False) else ""
    here = "yes" if registry.on_disk(entry.name) else "-"
    return (entry.name, _size(nbytes), _size(needed) + mark, (licence or "?") + gate, here, source)


def _at_home(entry):
    """The size and the origin of a model that does not come from the Hub."""
    if not isinstance(entry, Shipped):
        return entry.file_bytes, f"the Python package {entry.package}"
    here = registry.on_disk(entry.name)
    size = sum((entry.folder / file).stat().st_size for file in entry.files) if here else None
    return size, f"this project, {entry.source}"


def _columns(rows):
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if title in LEFT else cell.rjust(width)
            for cell, width, title in zip(row, widths, HEAD, strict=False)
        ).rstrip()
        for row in rows
    ]


def _legend(rows, free):
    yield f"-  not fetched yet: {PYTHON} -m core fetch NAME (its size is about right)"
    if any("!" in row[2] for row in rows):
        yield f"!  more than the {_size(free)} of memory that are free on this computer now"
    if any("*" in row[3] for row in rows):
        yield "*  gated: accept the licence on its page of the Hub, then set HF_TOKEN to your token"
    yield "Any other owner/name of the Hugging Face Hub can be fetched, too. A path to a .gguf file"
    yield "or to a folder with config.json and safetensors can be opened."
    yield f"Models are kept in {registry.home()}"


def _size(nbytes) -> str:
    if nbytes is None:
        return "?"
    if nbytes < 999.5e6:
        return f"{nbytes / 1e6:.{0 if nbytes >= 1e6 else 1}f} MB"
    return f"{nbytes / 1e9:.1f} GB"
