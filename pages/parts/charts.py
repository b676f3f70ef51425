"""Charts of the output page: candidates as bars, the whole vocabulary as a histogram. Knows viz and
the session.
"""

import streamlit as st

from pages.parts import html, inputs, session, style, words
from pages.parts.words import text
from viz import figure

FIRST, ALL = 20, 256  # candidates that are shown first; of a small vocabulary all on demand
TALL = 560  # pixels in height of bars that can be scrolled


def how_many(vocab: int) -> int:
    """How many candidates are shown."""
    return vocab if vocab <= ALL and st.session_state.get("all_bars") else FIRST


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


def spread(counts, edges, *, name: str, title: str, count_title: str, alt: str, **how) -> None:
    """A histogram, and its bins as CSV. how: `role_name` and `marks`, as viz.figure takes them."""
    names = {"title": title, "count_title": count_title}
    drawn = figure.histogram(counts, edges, **names, **how, dark=style.dark())
    st.plotly_chart(drawn, key=name, config=figure.saving(name), alt=alt)
    columns = (edges[:-1].tolist(), edges[1:].tolist(), counts.tolist())
    save(name, ("from", "to", "count"), list(zip(*columns, strict=True)))


def pick_op(steps: tuple[str, ...], op: str) -> None:
    """The steps as a switch."""
    inputs.switch(
        steps,
        op,
        key="output_op",
        label=text("output.step"),
        name=words.short,
        pick=lambda picked: session.put(op=picked, cell=None),
    )


def chosen_id(best, vocab: int) -> int:
    """The token that is explained: the chosen one, else the most probable."""
    if session.get("op") == "final_norm":
        return best.top[0].id
    chosen = session.below("cell", vocab)
    return best.top[0].id if chosen is None else chosen


def candidates(best, op: str, id: int, vocab: int) -> None:
    """The first candidates with their logits or probabilities; clicking a bar explains it."""
    logits = op != "probs"
    title, whole = text(f"output.{op}_axis"), len(best.top) == vocab
    name = words.html("output.all_bars" if whole else f"output.{op}_bars", n=len(best.top))
    html.show(f'<p class="tw-panel-name">{name}</p>')
    if vocab <= ALL:  # on demand: a browser takes seconds to draw them
        st.toggle(text("output.show_all", n=vocab), key="all_bars")
    ids = [c.id for c in best.top]
    drawn = figure.bars(
        [c.text for c in best.top],
        [c.logit if logits else c.prob for c in best.top],
        role_name="logits",
        title=title,
        digits=".4f" if logits else ".2%",
        chosen=ids.index(id) if id in ids else None,
        dark=style.dark(),
        upper=None if logits else 1.0,
    )
    clickable(
        drawn,
        f"bars_{op}",
        lambda n: session.put(cell=ids[n]),
        name=op,
        alt=text(f"output.{op}_alt", n=len(best.top)),
        names=[c.text for c in best.top],
        chosen=ids.index(id) if id in ids else None,
        box=st.container(height=TALL, border=False) if whole else st,
    )
    rows = [(c.rank, c.id, c.text, c.logit, c.prob) for c in best.top]
    save(op, ("rank", "id", "token", "logit", "probability"), rows)


def vocabulary(best, mine, op: str, scores: str, last: str) -> None:
    """Where all scores of the vocabulary lie, with the chosen token marked.

    scores: which they are, "logits" or "logits_capped". last: those that the softmax reads.
    """
    html.show(f'<p class="tw-panel-name">{words.html("output.all")}</p>')
    kind = f"{scores}_caption" if scores == last else "uncapped_caption"
    caption = words.html(f"output.{kind}", log_sum_exp=html.number(best.log_sum_exp))
    html.show(f'<p class="tw-caption">{caption}</p>')
    spread(
        best.counts,
        best.edges,
        name="logits_histogram",
        role_name="logits",
        title=text(f"output.{scores}_axis"),
        count_title=text("output.count_axis"),
        marks=[(mine.logit, mine.text)],
        alt=text("output.all_alt"),
    )


def chosen(mine, scores: str, vocab: str) -> None:
    """One line: the place of a token, its logit and its probability. scores: as in `vocabulary`."""
    key = "output.chosen" if scores == "logits" else "output.chosen_capped"
    values = {"logit": html.number(mine.logit), "prob": html.percent(mine.prob)}
    values |= {"token": html.Token(mine.text), "rank": f"{mine.rank:,}", "vocab": vocab}
    html.show(words.html(key, **values))


def save(name: str, head: tuple[str, ...], rows) -> None:
    """A small button that saves a chart's data as CSV; the chart's own button saves it as SVG."""
    st.download_button(
        text("matrix.save_csv"),
        figure.table(head, rows),
        file_name=f"{name}.csv",
        mime="text/csv",
        key=f"save_{name}",
        on_click="ignore",
        type="tertiary",
    )
