"""Charts that a reader can click, and their data as files. Knows viz and the session; no page."""

import streamlit as st

from pages.parts import session, style
from pages.parts.words import text
from viz import figure

LONGEST = 14  # letters of a token beside a bar of half a page, so that its number is not cut off


def clickable(
    drawn, key: str, pick, *, name: str, alt: str, box=st, names=(), chosen: int | None = None
) -> None:
    """A figure whose points can be clicked: pick(number of the point) is called before the next
    run. name: what the saved picture is called. alt: the figure in words. box: where it is shown.
    names: of the points, to choose by keyboard from a list; chosen: the number of one.
    """

    def on_select():
        points = st.session_state[key]["selection"]["point_indices"]
        if points:
            pick(points[0])

    saving, selects = figure.saving(name), {"on_select": on_select, "selection_mode": "points"}
    box.plotly_chart(drawn, key=key, config=saving, alt=alt, **selects)
    if names:
        _listed(f"{key}_list", pick, list(names), chosen)


def short(token: str) -> str:
    """A token as it stands beside a bar; elsewhere on the page it has its full name."""
    return token if len(token) <= LONGEST else token[: LONGEST - 1] + "…"


def _listed(key, pick, names, chosen):
    """The points of a figure as a list, for who has no mouse."""
    st.session_state[key] = chosen
    st.selectbox(
        text("output.list"),
        range(len(names)),
        format_func=names.__getitem__,
        key=key,
        placeholder=text("output.list"),
        on_change=lambda: pick(st.session_state[key]),
        label_visibility="collapsed",
        width=240,
    )


def bars(ids, texts, values, *, key: str, chosen: int | None, names=(), **how) -> None:
    """Bars of tokens, the chosen one full: a click on one makes its id the cell of the page.

    ids: of the tokens, in order; chosen: one of them. names: what the list calls them, the texts
    beside the bars by default. how: what `clickable` takes, and viz.figure.bars.
    """
    shown = {each: how.pop(each) for each in ("name", "alt", "box") if each in how}
    at = ids.index(chosen) if chosen in ids else None
    drawn = figure.bars(texts, values, chosen=at, dark=style.dark(), **how)
    pick = {"names": names or texts, "chosen": at, **shown}
    clickable(drawn, key, lambda n: session.put(cell=ids[n]), **pick)


def spread(counts, edges, *, name: str, title: str, count_title: str, alt: str, **how) -> None:
    """A histogram, and its bins as CSV. how: `role_name` and `marks`, as viz.figure takes them."""
    names = {"title": title, "count_title": count_title}
    drawn = figure.histogram(counts, edges, **names, **how, dark=style.dark())
    st.plotly_chart(drawn, key=name, config=figure.saving(name), alt=alt)
    columns = (edges[:-1].tolist(), edges[1:].tolist(), counts.tolist())
    save(name, ("from", "to", "count"), list(zip(*columns, strict=True)))


def save(name: str, head: tuple[str, ...], rows, what: str | None = None) -> None:
    """A small button that saves a chart's data as CSV; the chart's own button saves it as SVG.
    what: it saves, in words, where a page has several such buttons.
    """
    st.download_button(
        text("matrix.save_csv_of", what=what) if what else text("matrix.save_csv"),
        figure.table(head, rows),
        file_name=f"{name}.csv",
        mime="text/csv",
        key=f"save_{name}",
        on_click="ignore",
        type="tertiary",
    )
