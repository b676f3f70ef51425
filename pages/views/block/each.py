"""What the figures of norms and of the stream share: one line per position, to choose from and as
CSV; long bars. Knows html and charts; computes nothing.
"""

from pages.parts import charts, html, lesson, listing, session, terms, words
from pages.parts.html import number
from pages.parts.words import text

LARGE = 10  # such a number has fewer decimals
NARROW = 1.5  # the widest bar, in letters


def table(step, name: str, columns: dict, bars=(), digits: int = 3) -> None:
    """columns: numbers [seq] by the key of their head, below "block.<name>". bars: the keys of
    those that get one. digits: behind the point of a number below LARGE. A long prompt shows the
    positions that the figure of the value shows.
    """
    panel, tokens = step.view.output, step.trace.tokens
    shown = range(panel.first_row, panel.first_row + len(panel.values))
    largest = {key: _largest(columns[key][shown.start : shown.stop]) for key in bars}
    rows = [
        [terms.coordinate("seq", at, step.trace), *_cells(columns, at, largest, digits)]
        for at in shown
    ]
    head = [words.html("axes.seq")]
    for key in columns:
        head += [words.html(f"block.{name}.{key}")] + [""] * (key in bars)
    words.heading(f"block.{name}.each")
    html.show(f'<p class="tw-caption">{_said(shown, len(tokens))}</p>')
    label = text(f"block.{name}.each")
    listing.show("position", head, rows, shown, step.position, label)
    listing.listen("position", lambda at: session.put(pos=at))
    lines = zip(range(len(tokens)), tokens, *(c.tolist() for c in columns.values()), strict=True)
    charts.save(
        step.file(f"{name}_{step.id}", alone=False), ("position", "token", *columns), list(lines)
    )


def _said(shown, n):
    """What a bar is; and of a long prompt, which positions stand here."""
    bars = words.html("block.each.bars")
    if len(shown) == n:
        return bars
    first, last = shown[0], shown[-1]
    return lesson.joined(words.html("block.each.part", first=first, last=last, n=n), bars)


def long_bar(value: float, largest: float, role: str) -> str:
    """A length beside the largest one's, as wide as its cell, in the colour of its role."""
    return f'<span class="tw-bar tw-long {role}" style="width:{value / largest:.1%}"></span>'


def _cells(columns, at, largest, digits):
    """A number each, and its bar beside the longest of the column where it gets one."""
    for key, values in columns.items():
        value = float(values[at])
        yield number(value, 2 if abs(value) >= LARGE else digits)
        if key in largest:
            yield listing.bar(value, largest[key], NARROW)


def _largest(values):
    """The largest finite magnitude, or 1 where all are 0."""
    return max((abs(v) for v in values.tolist() if v == v), default=0) or 1.0
