"""Heads by one measure: the three that have most of it, and the table of all. Knows the canvas and
the session; the measures are core's.
"""

from dataclasses import dataclass
from html import escape

import streamlit as st

from core.analyse import heads, repeating, roles
from pages import canvas
from pages.parts import charts, html, listing, panels, session, views, words
from pages.parts.words import text

HERE = "atlas.roles"
SHARES = ("previous", "current", "first", "duplicate", "induction")  # from 0 to 1; others are sizes
BEST, SMALL = 3, 190  # heads with a map of their own, and its pixels in height
MOST_ROWS = 400  # of the table; all of them are in the file


@dataclass(frozen=True, eq=False)
class Found:
    """What the view shows. scores: every measure, [layer, head] by name; by: the chosen one."""

    trace: object
    summary: heads.Attention
    repeated: repeating.Repeated
    scores: dict
    by: str

    @property
    def now(self):
        """The chosen measure of every head: [layer, head]."""
        return self.scores[self.by]

    @property
    def name(self) -> str:
        """What the chosen measure is called above a figure."""
        return text(f"{HERE}.name_{self.by}")

    @property
    def text(self):
        """The run that the chosen measure is about."""
        return self.repeated.trace if self.by == "induction" else self.trace


def named(layer: int, head: int) -> str:
    """A head in words."""
    return text(f"{HERE}.one", layer=layer, head=head)


def shown(name: str, score: float) -> str:
    """A measure for reading: a share in per cent, entropy and distances as they are."""
    return html.percent(score) if name in SHARES else html.number(score, 2)


def rows(found: Found, layer: int, head: int) -> roles.Rows:
    """What each row of a head's map adds to the chosen measure."""
    weights, window = found.text.read("attn.weights", layer)[head], found.text.config.windows[layer]
    if found.by == "induction":
        return repeating.by_row(weights, found.repeated.period, window)
    return roles.by_row(found.by, weights, found.trace.ids, window)


def door(key: str, layer: int, head: int) -> None:
    """A button to the view of one head, with this one."""

    def go():
        session.put(at_layer=layer, at_head=head)
        views.go("atlas", "roles", "head")

    st.button(text(f"{HERE}.open"), key=key, on_click=go, type="tertiary")


def map_of(found: Found, layer: int, head: int, *, names=None, **how) -> bytes:
    """A head's map of the text that the measure is about, reduced where that is long. names: of its
    rows and columns; without them it is a small picture. how: what `matrix` takes.
    """
    if found.by == "induction":
        values, window = found.text.read("attn.weights", layer)[head], None
    else:
        values, window = found.summary.maps[layer, head], found.summary.windows[layer]
    n, small = len(values), {"columns": None, "lens": False, "saves": False, "indent": 4}
    aria = text("matrix.aria", name=named(layer, head), rows=n, columns=n)
    own = {"window": window, "name": f"map_{layer}_{head}"} | ({} if names else small)
    return panels.head_map(values, names or [""] * n, aria=aria, **own | how)


def best(found: Found) -> None:
    """The heads with the largest numbers, each with its map and a door."""
    order = roles.ranked(found.now)[:BEST]
    if not order:
        return
    words.heading(f"{HERE}.best_{'share' if found.by in SHARES else 'size'}", n=len(order))
    block = 1 if found.by == "induction" else found.summary.block
    words.caption(f"{HERE}.best_caption{'_blocks' * (block > 1)}", block=block)
    with st.container(key="roles_best"):
        columns = st.columns(len(order), gap="small")
    for n, (column, (layer, head)) in enumerate(zip(columns, order, strict=True)):
        with column:
            _one(found, n, layer, head)


def _one(found, n, layer, head):
    score = shown(found.by, float(found.now[layer, head]))
    html.show(f'<p class="tw-panel-name">{escape(named(layer, head))} · {score}</p>')
    canvas.matrix(map_of(found, layer, head, height=SMALL), f"roles_best_{n}")
    door(f"roles_door_{n}", layer, head)


# ---- the table -----------------------------------------------------------------------------------


def table(found: Found, layer: int, head: int) -> None:
    """Every head with every measure, sorted by the chosen one; a click on a name sorts."""
    how, n_heads = session.chosen("kind", roles.ORDERS), found.now.shape[1]
    order = roles.order(found.now, how)
    words.heading(f"{HERE}.table", n=len(order))
    cut = len(order) > MOST_ROWS
    words.caption(f"{HERE}.table_caption{'_cut' * cut}", n=MOST_ROWS)
    top = [
        _sorter("place", how == "place", how),
        *(_sorter(n, _here(found, n), how) for n in found.scores),
    ]
    cells = [[named(*each), *_numbers(found, each)] for each in order[:MOST_ROWS]]
    numbers = [each[0] * n_heads + each[1] for each in order[:MOST_ROWS]]
    label = text(f"{HERE}.table_aria", n=len(order))
    listing.show("role", top, cells, numbers, layer * n_heads + head, label)
    listing.listen("role", lambda n: _choose(*divmod(n, n_heads)))
    canvas.doors("listing_sort", lambda name: _sort(found, name, how), "sort")
    measured = [(*each, *_exact(found, each)) for each in roles.order(found.now, "place")]
    charts.save("heads", ("layer", "head", *found.scores), measured, text(f"{HERE}.saved"))


def _here(found, name):
    return name == found.by and session.get("kind") != "place"


def _sorter(name, here, how):
    """The name of a column as a button that sorts by it; the one that is sorted by has an arrow."""
    arrow = (" ▲" if how == "smallest" else " ▼") if here and name != "place" else ""
    said = text(f"{HERE}.head" if name == "place" else f"measures.{name}")
    pressed = f' aria-pressed="{str(here).lower()}"'
    return (
        f'<button class="tw-to tw-sort" data-sort="{name}"{pressed}>{escape(said)}{arrow}</button>'
    )


def _sort(found, name, how):
    """By the place in the model; by another measure, the largest first; by the same, turned."""
    if name == "place":
        session.put(kind="place")
    elif name == found.by and how == "largest":
        session.put(kind="smallest")
    else:
        session.put(by=None if name == next(iter(found.scores)) else name, kind=None)


def _numbers(found, each):
    """A head's measures as cells, the chosen one in bold."""
    for name, scores in found.scores.items():
        cell = listing.short(float(scores[each]))
        yield f"<b>{cell}</b>" if name == found.by else cell


def _exact(found, each):
    """The same as numbers for a file; nothing where there is none."""
    for scores in found.scores.values():
        value = float(scores[each])
        yield value if value == value else ""


def _choose(layer, head):
    session.put(at_layer=layer, at_head=head)
