"""A table whose rows can be chosen, by a click or by Enter: keys, heads, neurons or positions.

Knows rows as numbers; knows no op and no maths.
"""

from pages import canvas
from pages.parts import html, terms

INFINITE = float("inf")


def show(name: str, head, rows, numbers, chosen: int | None, label: str, foot=(), faint=()) -> None:
    """A table in a box that scrolls, with one row for each of `numbers`.

    name: what the rows are, as a word without spaces; see `listen`. rows, foot: cells that are HTML
    already. label: what the table is, read aloud. foot: rows below, which cannot be chosen. faint:
    the numbers whose rows are drawn lighter.
    """
    marks = [_mark(name, number, number == chosen, number in faint) for number in numbers]
    marks += [' class="tw-foot"'] * len(foot)
    table = html.table(head, [*rows, *foot], "mono tw-rows", marks)
    html.show(html.scroll(table, label, "tw-rows-box"))


def listen(name: str, pick) -> None:
    """Have pick(number) called before the next run when a row of such a table is chosen."""
    canvas.rows(key=f"listing_{name}", on_row=pick, name=name)


def _mark(name, number, here, faint):
    classes = " ".join(["tw-here"] * here + ["tw-faint"] * faint)
    classed = f' class="{classes}"' if classes else ""
    current = ' aria-current="true"' if here else ""
    return f' data-{name}="{number}" tabindex="0"{classed}{current}'


def short(value: float, digits: int = 2) -> str:
    """A number for a narrow table as HTML, with all the digits it has where one points at it; one
    that rounds to 0 is no small minus.
    """
    shown = 0.0 if abs(value) * 10**digits < 0.5 else value
    return f'<span title="{value:.9g}">{html.number(shown, digits)}</span>'


def bar(value: float, largest: float, widest: float = 3) -> str:
    """A number's size beside the largest one's, as HTML; none for 0 and for what has no size.
    widest: in letters (em).
    """
    return terms.bar(value, largest, widest) if value and abs(value) < INFINITE else ""


def share(part: float) -> str:
    """A bar for a share of 1, whose full length is 1, as HTML; none for 0."""
    return f'<span class="tw-bar tw-share" style="width:{part * 3:.2f}em"></span>' if part else ""
