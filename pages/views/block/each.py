"""What the figures of norms and of the stream share: one line per position, as a table and as CSV;
long bars; a verdict below a sentence. Knows html and charts; computes nothing.
"""

from pages.parts import charts, explanation, html, lesson, words
from pages.parts.html import number
from pages.parts.terms import bar
from pages.parts.words import text

LARGE = 10  # such a number has fewer decimals


def table(step, name: str, columns: dict, bars=(), digits: int = 3) -> None:
    """columns: numbers [seq] by the key of their head, below "block.<name>". bars: the keys of
    those that get one. digits: behind the point of a number below LARGE. A long prompt shows the
    positions that the figure of the value shows.
    """
    panel, tokens = step.view.output, step.trace.tokens
    shown = range(panel.first_row, panel.first_row + len(panel.values))
    largest = {key: _largest(columns[key][shown.start : shown.stop]) for key in bars}
    rows = [[_token(tokens, at), *_cells(columns, at, largest, digits)] for at in shown]
    marks = [' class="tw-each-here"' if at == step.position else "" for at in shown]
    heads = [words.html(f"block.{name}.{key}") for key in columns]
    body = html.table([words.html("axes.seq"), *heads], rows, "mono", marks)
    words.heading(f"block.{name}.each")
    html.show(f'<p class="tw-caption">{_said(shown, len(tokens))}</p>')
    html.show(html.scroll(body, text(f"block.{name}.each"), "tw-each"))
    lines = zip(range(len(tokens)), tokens, *(c.tolist() for c in columns.values()), strict=True)
    charts.save(f"{name}_{step.id}", ("position", "token", *columns), list(lines))


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


def checked(said: str, equal: bool, difference: float, allowed: float) -> None:
    """What was computed again (HTML), and whether it came out the same."""
    verdict = explanation.verdict(equal, difference, allowed)
    html.show(f'<p class="tw-caption">{said}</p>{explanation.sums([], verdict)}')


def _token(tokens, at):
    return f"{html.token(tokens[at])} ({at})"


def _cells(columns, at, largest, digits):
    """A number each, with its bar beside the longest of the column where it gets one."""
    for key, values in columns.items():
        value = float(values[at])
        drawn = bar(value, largest[key]) + " " if key in largest and value == value else ""
        yield drawn + number(value, 2 if abs(value) >= LARGE else digits)


def _largest(values):
    """The largest finite magnitude, or 1 where all are 0."""
    return max((abs(v) for v in values.tolist() if v == v), default=0) or 1.0
