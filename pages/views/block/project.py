"""Queries, keys and values: the row that the product makes is cut into heads.

Knows the session and core's splitting; no maths.
"""

from core.analyse import splitting
from pages.parts import html, run, session, words
from pages.parts.words import text
from pages.views.block import product, whole

HERE = "block.project"
LOW = 15  # pixels of a head's row


def draw(step) -> None:
    """The value of one head, all heads of the position, and the product that made them."""
    whole.output(step)
    if not step.together:
        _heads(step)
    product.draw_parts(step)


def _heads(step):
    """Where the row is cut, and its numbers with a row for each head."""
    made = run.compute(splitting.split, step.trace, step.id, step.layer, step.view.index)
    words.heading(f"{HERE}.split", n_heads=len(made.parts), head_dim=step.config.head_dim)
    words.caption(f"{HERE}.{_kind(step)}", **_values(step, made))
    html.show(_cut(step, made))
    key, size = f"heads_{step.id}", step.config.head_dim

    def on_cell():
        head, column = session.get(key)["cell"]
        product.choose(step, head * size + column)

    names = [_name(step.id, n, *ends) for n, ends in enumerate(made.readers)]
    how = {"name": text(f"{HERE}.heads"), "rows": names, "tallest": LOW * len(names)}
    whole.show(step, made.heads, key=key, on_cell=on_cell, **how)


def _values(step, made):
    """What the sentences name."""
    first, last = made.readers[made.chosen]
    values = {"head": step.head, "kv_head": step.kv_head, "head_dim": step.config.head_dim}
    return values | {"first": first, "last": last}


def _kind(step):
    """Which sentence says who reads whom."""
    shared = "shared" if step.config.group > 1 else "alone"
    return f"query_{shared}" if step.id == "attn.q" else f"kv_{shared}"


def _cut(step, made):
    """The whole row as boxes, one for each head, with the numbers that it takes, as HTML."""
    boxes = []
    for n, (first, last) in enumerate(made.parts):
        here = "here" if n == made.chosen else ""
        numbers = words.html(f"{HERE}.part", head=n, first=first, last=last)
        boxes.append(f'<span class="{here}" title="{numbers}"><b>{n}</b> {first}–{last}</span>')
    role = made.heads.role
    return html.scroll("".join(boxes), text(f"{HERE}.cut"), f"tw-cut {role}")


def _name(op, n, first, last):
    """A head, with the head that it reads, or those that read it."""
    if op == "attn.q":
        return text(f"{HERE}.query_row", head=n, kv_head=first)
    readers = str(first) if first == last else f"{first}–{last}"
    return text(f"{HERE}.kv_row", kv_head=n, readers=readers)
