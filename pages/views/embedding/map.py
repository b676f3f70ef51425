"""Map: a few rows of the table on a plane, and what the plane leaves out."""

import streamlit as st

from core.analyse import near, plane, source
from pages.parts import charts, explanation, html, inputs, models, run, session, style, words
from pages.parts.html import number, percent
from pages.parts.views import Shown
from pages.parts.words import text
from pages.views.embedding import products
from viz.plane import scatter

GROUPS = 5  # lists of words that are offered; after them the tokens of the text
LONGEST = 600  # characters of the reader's own list
HERE = "embedding.map"


def view(trace, position: int) -> Shown:
    """The map of a group of words, of the reader's own list, or of the text's tokens."""
    every, lacking = _rows(trace)
    ids = every[: plane.MOST]
    drawn = run.compute(plane.plane, trace.model, ids) if len(ids) >= plane.FEWEST else None
    if drawn and drawn.flat:
        drawn = None
    return Shown(
        lambda: _draw(trace, every, lacking, drawn),
        {"n_points": len(ids), "left_out": percent(drawn.left_out) if drawn else "–"},
        lambda: {"n_kept": plane.neighbours_kept(drawn) if drawn else "–"},
        source.of(plane.plane, plane.components_of, plane.distances, plane.closest),
    )


# ---- which rows ----------------------------------------------------------------------------------


def _group():
    """The chosen group's number, the first at first; None where the reader's own list counts."""
    if session.get("ask"):
        return None
    return session.below("at", GROUPS + 1) or 0


def _rows(trace):
    """Ids of different tokens, and the words that have no row."""
    if (group := _group()) == GROUPS:
        return tuple(dict.fromkeys(trace.ids)), []
    asked = session.typed("ask", LONGEST) or text(f"{_set()}.example_{group + 1}")
    tokenizer = trace.model.tokenizer
    read = [run.compute(near.word, tokenizer, each) for each in near.listed(asked)]
    ids = dict.fromkeys(word.id for word in read if word.id is not None)
    return tuple(ids), [word for word in read if word.id is None]


def _set():
    """Where the groups of words for the chosen model stand."""
    return f"{HERE}.{models.presets(session.get('model'))[0].of}"


def _choose():
    """The groups as a switch, and the box for a list of the reader's own."""
    names = [text(f"{_set()}.name_{n}") for n in range(GROUPS)] + [text(f"{HERE}.of_text")]
    inputs.switch(
        range(GROUPS + 1),
        _group(),
        key="map_group",
        label=text(f"{HERE}.group"),
        name=names.__getitem__,
        pick=lambda n: session.put(at=n, ask=None, cell=None),
        named=True,
    )
    label, empty = text(f"{HERE}.ask", most=plane.MOST), text(f"{HERE}.empty")
    inputs.box("ask", label, key="map_ask", longest=LONGEST, empty=empty, cell=None)


# ---- figures -------------------------------------------------------------------------------------


def _draw(trace, every, lacking, drawn):
    ids = every[: plane.MOST]
    _choose()
    if len(every) > len(ids):
        words.caption(f"{HERE}.cut", n=len(every), most=plane.MOST)
    if lacking:
        left = " ".join(html.token(word.text) for word in lacking)
        html.show(f'<p class="tw-caption">{words.html(f"{HERE}.lacking")} {left}</p>')
    if drawn is None:
        key = "too_few" if len(ids) < plane.FEWEST else "flat"
        return run.notice(words.html(f"{HERE}.{key}", n=len(ids), fewest=plane.FEWEST))
    names = [trace.model.tokenizer.display(id) for id in ids]
    chosen = _chosen(ids)
    _scatter(drawn, names, chosen)
    with st.container(key="near_pair"):
        left, right = st.columns(2, gap="medium")
    with left:
        _honest(drawn, names)
    with right:
        _explained(drawn, names, chosen)


def _chosen(ids):
    """The number of the point that is explained: the one that was clicked, else the first."""
    if session.get("cell") not in ids:
        session.settle(cell=None)
        return 0
    return ids.index(session.get("cell"))


def _scatter(drawn, names, chosen):
    shares = [percent(share) for share in drawn.shares.tolist()]
    values = {"first": shares[0], "second": shares[1], "left_out": percent(drawn.left_out)}
    words.heading(f"{HERE}.points", n=len(names))
    words.caption(f"{HERE}.shares", **values)
    titles = [text(f"{HERE}.axis", n=n, share=share) for n, share in enumerate(shares, 1)]
    shown = scatter(
        drawn.points,
        names,
        titles=tuple(titles),
        role_name="residual",
        chosen=chosen,
        dark=style.dark(),
    )
    charts.clickable(
        shown,
        "map_points",
        lambda n: session.put(cell=drawn.ids[n]),
        name="map",
        alt=text(f"{HERE}.alt", n=len(names)),
        names=names,
        chosen=chosen,
    )
    rows = zip(names, drawn.ids, *drawn.points.T.tolist(), strict=True)
    charts.save("map", ("token", "id", "component 1", "component 2"), list(rows))


def _honest(drawn, names):
    """The two nearest rows and the two nearest points: the same pair or not."""
    pairs = [plane.closest(drawn.in_space), plane.closest(drawn.on_map)]
    same = pairs[0] == pairs[1]
    head = [words.html(f"{HERE}.{name}") for name in ("pair", "in_space", "on_map")]
    rows = [_pair(drawn, names, pair) for pair in dict.fromkeys(pairs)]
    words.heading(f"{HERE}.closest")
    html.show(html.table(head, rows))
    words.caption(f"{HERE}.{'agree' if same else 'differ'}")


def _pair(drawn, names, pair):
    """A line of the table: two tokens and both distances."""
    both = " · ".join(html.token(names[n]) for n in pair)
    return [both, number(float(drawn.in_space[pair])), number(float(drawn.on_map[pair]))]


def _explained(drawn, names, chosen):
    """Both coordinates of a point, computed again."""
    name = html.token(names[chosen])
    with st.container(key="explain", gap="xsmall"):
        html.show(f"<h4>{words.html(f'{HERE}.explain')} {name}</h4>")
        for component in range(2):
            dot, check = run.compute(plane.coordinate, drawn, chosen, component)
            title = words.html(f"{HERE}.component", n=component + 1)
            both = (words.html(f"{HERE}.centred"), title)
            lines = [
                products.line("dot", check.value, n=f"{len(dot.products):,}"),
                (words.html(f"{HERE}.shown"), number(check.shown)),
            ]
            with st.expander(title, expanded=component == 0, key=f"map_component_{component}"):
                html.show(products.table(dot, both))
                html.show(explanation.sums(lines, products.checked(check)))
