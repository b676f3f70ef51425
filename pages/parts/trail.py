"""Following a number back: the way so far, from number to operand, as crumbs that lead back.

The way is a plain list of places in the session. The place that a page shows is its last crumb;
where a reader has gone elsewhere by himself, or to another run, the way begins anew. What lies
behind a crumb that he went back to is kept, so that the browser's Forward finds it, but not shown.
"""

from dataclasses import replace

from core.analyse import follow
from core.analyse.follow import Place
from core.analyse.view import column_axis
from core.model.axes import BEFORE_BLOCKS, OP_AXES
from pages import canvas
from pages.parts import html, run, session, terms, walk, words

FIRST, LAST = 2, 4  # crumbs of a long way that are not folded away


def here(e, config) -> Place:
    """Where the explained number is shown: on the page that is open."""
    made = follow.place(config, e.op, e.layer, e.index, session.get("at_head") or 0)
    page = session.get("page")
    return made if page == made.page else replace(made, page=page, step=session.get("op"))


def show(at: Place, trace) -> None:
    """The crumbs of the way to `at`, which becomes the last one; nothing where it is the first."""
    way = _until(at)
    if at not in _noted():
        session.settle(trail=way, trail_of=run.spec())
    if len(way) > 1:
        html.show(_crumbs(way, trace))
        canvas.doors("crumbs", lambda number: go(way[int(number)]), name="crumb")


def on(at: Place, to: Place) -> None:
    """Follow an operand of the number at `at` to the op that made it."""
    session.settle(trail=[*_until(at), to], trail_of=run.spec())
    go(to)


def go(to: Place) -> None:
    """Show a number where it stands."""
    own = {"pos": to.position, "cell": to.column, "cell_axis": column_axis(to.op)}
    if to.page == "block":
        own["at_layer"] = 0 if to.op in BEFORE_BLOCKS else to.layer
        if {"head", "kv_head"} & {*OP_AXES[to.op]}:
            own["at_head"] = to.head
        if session.get("walk") != "short" or to.op not in walk.SHORT:
            own["walk"] = session.WALKS[0]
    elif to.layer is not None:  # a page that explains a number of the sidebar's layer and head
        own |= {"at_layer": to.layer, "at_head": to.head}
    if to.page == session.get("page"):
        session.put(op=to.step, **own)
    else:
        walk.to_page(to.page, op=to.step, **own)


def _until(at):
    """The way up to a place; a new one where it is not on it."""
    way = _noted()
    return way[: way.index(at) + 1] if at in way else [at]


def _noted():
    """The way of this run, with what lies behind a crumb that was gone back to."""
    return session.get("trail") if session.get("trail_of") == run.spec() else []


# ---- crumbs --------------------------------------------------------------------------------------


def _crumbs(way, trace):
    """The way as HTML: a way back, then the crumbs, the middle of many folded away."""
    positions = [None, *(place.position for place in way)]
    names = [_name(place, positions[n], trace) for n, place in enumerate(way)]
    crumbs = [_button(n, name) for n, name in enumerate(names[:-1])]
    crumbs.append(f'<b aria-current="true">{names[-1]}</b>')
    if len(crumbs) > FIRST + LAST + 1:
        crumbs[FIRST:-LAST] = [_folded(crumbs[FIRST:-LAST])]
    back = _button(len(way) - 2, words.html("explain.back"), "back")
    named = words.text("explain.trail")
    return f'<nav class="tw-trail" aria-label="{named}">{back}{"".join(crumbs)}</nav>'


def _button(n, inside, kind=""):
    return f'<button type="button" class="tw-to {kind}" data-crumb="{n}">{inside}</button>'


def _folded(crumbs):
    head = words.html("explain.more", n=len(crumbs))
    return f"<details><summary>{head}</summary>{''.join(crumbs)}</details>"


def _name(place, before, trace):
    """A number as HTML: its op, its layer, its cell; its position where that is another one."""
    role = trace.catalogue.op(place.op, place.layer).role
    name = words.short(place.op)
    if place.layer is not None:
        name = words.text("explain.of_layer", name=name, layer=place.layer)
    (first, *axes), parts = terms.axes_of(place.op), [f'<span class="{role}">{name}</span>']
    index = place.index[1:]
    if first == "head":  # of a map: head, query, key
        parts.append(f"{words.html('axes.head')} {place.index[0]}")
        axes, index = axes[1:], index[1:]
    parts += [_cell(axis, i, trace) for axis, i in zip(axes, index, strict=True)]
    if place.position != before:
        parts.append(terms.coordinate("seq", place.position, trace))
    return " ".join(parts)


def _cell(axis, i, trace):
    if axis in ("head", "kv_head"):
        return f"{words.html(f'axes.{axis}')} {i}"
    return terms.coordinate(axis, i, trace) if axis in ("key", "vocab") else f"[{i}]"
