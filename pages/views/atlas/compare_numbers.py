"""What two attention maps give as numbers: the chosen cell, its row, the maps as wholes, and the
rows in which they differ most; with doors to where a weight was made. Computes nothing itself.
"""

import streamlit as st

from core.analyse import sidebyside
from core.analyse.sidebyside import Cell
from pages.parts import charts, explanation, html, journey, listing, run, session, words
from pages.parts.html import Token, number
from pages.parts.words import text
from pages.views.atlas.compare_sides import HERE, Sides

FEW = 10  # rows in the table
HEAD = ("query", "distance", "key")
MOST_HEADS = 40  # of a mean, so many are written out


def draw(sides: Sides, position: int, cell: Cell | None) -> None:
    """The chosen cell, its row, and the maps as wholes."""
    if cell is None:
        run.notice(words.html(f"{HERE}.only_first", token=_alone(sides, position)))
    else:
        _cell(sides, cell)
        _row(sides, cell.row)
    _alike(sides.found)


def _alone(sides, position):
    """The chosen token that has no partner: the query, else the key."""
    at = position if sides.found.row(position) is None else session.get("key_at")
    return Token(sides.first.trace.tokens[at])


def _cell(sides, cell):
    """Both weights and their difference, and the ways to where they were made."""
    query, key = sides.html(cell.row, "query"), sides.html(cell.column, "key")
    words.heading(f"{HERE}.cell", query=query, key=key)
    if cell.hidden:
        return words.caption(f"{HERE}.hidden")
    lines = [
        (html.rich("[[name]]", name=sides.first.name), number(cell.first)),
        (html.rich("− [[name]]", name=sides.second.name), number(cell.second)),
        (f"<b>{words.html(f'{HERE}.gap')}</b>", f"<b>{number(cell.difference)}</b>"),
    ]
    html.show(explanation.sums(lines, ""))
    _doors(sides, cell)
    if sides.first.head is None:
        _heads(sides, cell)


def _heads(sides, cell):
    """What each head of the two layers gives here: the means are of these."""
    for side, at in zip(sides.both, (sides.found.at_first, sides.found.at_second), strict=True):
        here = run.compute(
            sidebyside.of_heads, side.trace, side.layer, at[cell.row], at[cell.column]
        )
        shown = " ".join(number(each, 2) for each in here[:MOST_HEADS])
        shown += " …" * (len(here) > MOST_HEADS)
        words.caption(f"{HERE}.heads", layer=side.layer, weights=shown)


def _doors(sides, cell):
    """Buttons to the softmax that made either weight; to the other text by exchanging the two."""
    with st.container(horizontal=True, gap="small", key="beside_doors"):
        for which, side in enumerate(sides.both):
            if side.trace.ids != sides.first.trace.ids:
                _exchange(side.trace)
            elif side.head is not None and (which == 0 or side != sides.first):
                _door(which, side, sides.places(cell.row), sides.places(cell.column))


def _door(which, side, rows, columns):
    name = text(f"{HERE}.door", layer=side.layer, head=side.head)
    if st.button(name, key=f"beside_door_{which}", type="tertiary"):
        place = {"at_layer": side.layer, "at_head": side.head, "pos": rows[which]}
        journey.go("block", op="attn.weights", cell=columns[which], cell_axis="key", **place)


def _exchange(trace):
    """The second text becomes the reader's own, and the other way round; where both can be kept."""
    before, after = session.prompt(), trace.spec.prompt or trace.spec.messages[0][1]

    def exchange():
        session.set_prompt(after)
        session.put(other=before)

    if max(map(len, (before, after))) <= session.LONGEST_LINKED:
        st.button(
            text(f"{HERE}.exchange"), key="beside_exchange", type="tertiary", on_click=exchange
        )


def _row(sides, row):
    """The distance of the chosen row, and that both sums of differences are the same."""
    found, query = sides.found, sides.html(row, "query")
    words.heading(f"{HERE}.row", query=query)
    more, less = (float(each[row]) for each in found.sums)
    lines = [
        (words.html(f"{HERE}.more"), number(more)),
        (words.html(f"{HERE}.less"), number(less)),
        *_without_partner(found, row),
        (f"<b>{words.html(f'{HERE}.distance')}</b>", f"<b>{number(found.distances[row])}</b>"),
    ]
    explanation.agreed(found.balance(row), lines, words.html(f"{HERE}.balance"))


def _without_partner(found, row):
    """Lines for what a row gives to the tokens that only its own text has, where there are some."""
    for name, whole, given in zip("ab", (found.first, found.second), found.alone, strict=True):
        if len(whole) > len(found.at_first):
            yield words.html(f"{HERE}.alone_{name}"), number(float(given[row]))


def _alike(found):
    """How alike the maps are as wholes, with the first token and without it."""
    words.heading(f"{HERE}.alike")
    lines = [
        (words.html(f"{HERE}.cosine"), number(found.cosine())),
        (words.html(f"{HERE}.cosine_rest"), number(found.cosine(1))),
    ]
    html.show(explanation.sums(lines, ""))
    words.caption(f"{HERE}.sink")


def rows(sides: Sides, cell: Cell | None) -> None:
    """The rows that differ most, with the key at which each does; a click chooses that cell."""
    ranked = run.compute(sides.found.ranked)
    shown = ranked[:FEW]
    words.heading(f"{HERE}.rows", n=len(shown), all=len(ranked))
    words.caption(f"{HERE}.rows_caption")
    query, distance, key = (words.html(f"{HERE}.head_{name}") for name in HEAD)
    head = [query, distance, "", key, "A", "B", "A − B"]
    listed, numbers = [_listed(sides, each) for each in shown], [each.row for each in shown]
    label = text(f"{HERE}.rows_label")
    listing.show("query", head, listed, numbers, cell and cell.row, label)
    columns = {each.row: each.column for each in shown}
    listing.listen("query", lambda row: sides.choose(row, columns[row]))
    _save(sides, ranked)


def _listed(sides, cell):
    """A row of the table, as HTML."""
    distance = float(sides.found.distances[cell.row])
    return [
        sides.html(cell.row, "query"),
        listing.short(distance, 3),
        listing.share(distance),
        sides.html(cell.column, "key"),
        *(listing.short(each, 3) for each in (cell.first, cell.second)),
        f"<b>{listing.short(cell.difference, 3)}</b>",
    ]


def _save(sides, ranked):
    """All rows as CSV."""
    head = ("query_a", "query_b", "token_a", "token_b", "distance")
    head += ("key_a", "key_b", "key_token_a", "key_token_b", "weight_a", "weight_b", "difference")
    rows = []
    for cell in ranked:
        query, key = ((*sides.places(at), *sides.tokens(at)) for at in (cell.row, cell.column))
        distance = float(sides.found.distances[cell.row])
        rows.append((*query, distance, *key, cell.first, cell.second, cell.difference))
    charts.save("compared_rows", head, rows, text(f"{HERE}.saved"))
