"""Neighbours: the rows of the table that point most nearly the same way as a token's own."""

import streamlit as st

from core.analyse import near, source
from pages import canvas
from pages.parts import charts, html, run, session, strip, style, words
from pages.parts.html import Token, number
from pages.parts.views import Shown
from pages.parts.words import text
from pages.views.embedding import products
from viz import figure
from viz.tokens import token_strip

FIRST = 15  # neighbours that are shown
LONGEST = 60  # characters of the reader's own word
ME = "embedding.neighbours"


def view(trace, position: int) -> Shown:
    """The neighbours of the chosen token's row, or of a row of the reader's own word."""
    forms = run.compute(_forms, trace.model.tokenizer)
    id = forms[_chosen_form(forms)] if forms else trace.ids[position]
    found = run.compute(near.cosines, trace.model, trace.model.weights.embed[id])
    best = near.nearest(found, FIRST, [id])
    other = _chosen(best)
    return Shown(
        lambda: _draw(trace, position, forms, id, found, best, other),
        {"chosen": _named(trace, id), "n_first": FIRST},
        lambda: run.compute(_answer, trace, id, best),
        source.of(near.cosines, near.nearest, near.dot, near.cosine),
    )


def _named(trace, id):
    return Token(trace.model.tokenizer.display(id))


def _forms(tokenizer):
    """The rows that the reader's own word offers; none where there is no word."""
    asked = session.get("ask")
    if asked and len(asked) > LONGEST:
        session.settle(ask=asked[:LONGEST])
    return near.forms(tokenizer, session.get("ask")) if asked else ()


def _chosen_form(forms):
    at = session.get("at") or 0
    if at >= len(forms):
        session.settle(at=None)
        return 0
    return at


def _chosen(best):
    """The neighbour that is explained: the one that was clicked, else the first; None of none."""
    ids = [id for id, _ in best]
    if session.get("cell") not in ids:
        session.settle(cell=None)
        return ids[0] if ids else None
    return session.get("cell")


def _answer(trace, id, best):
    """Of the nearest row: what kind of word it is, and whether it is nearest the other way too."""
    if not best:
        return dict.fromkeys(ANSWERS, "–")
    tokenizer, (first, value) = trace.model.tokenizer, best[0]
    spelled = [each for each, _ in best if near.same_word(tokenizer, id, each)]
    back = near.cosines(trace.model, trace.model.weights.embed[first])
    return {
        "nearest": _named(trace, first),
        "cosine": number(value),
        "kind": text(f"{ME}.{'same' if first in spelled else 'another'}"),
        "n_spelled": len(spelled),
        "back": _named(trace, near.nearest(back, 1, [first])[0][0]),
        "rank_back": f"{near.rank(back, id, [first]):,}",
    }


ANSWERS = ("nearest", "cosine", "kind", "n_spelled", "back", "rank_back")


# ---- figures -------------------------------------------------------------------------------------


def _draw(trace, position, forms, id, found, best, other):
    _box()
    if forms:
        _own_word(trace, forms)
    else:
        if session.get("ask"):
            run.notice(words.html(f"{ME}.no_token", word=Token(session.get("ask"))))
        strip.show(trace, position, key="neighbours_tokens")
    if other is None:
        return run.notice(words.html(f"{ME}.no_direction", token=_named(trace, id)))
    with st.container(key="near_pair"):
        left, right = st.columns(2, gap="medium")
    with left:
        _bars(trace, id, best, other)
    with right:
        rows = trace.model.weights.embed[id], trace.model.weights.embed[other]
        made = run.compute(near.cosine, *rows, dict(best)[other])
        names = (html.token(_named(trace, id)), html.token(_named(trace, other)))
        products.cosine(made, names)
    _histogram(trace, id, found, other)


def _box():
    """The box for a word of the reader's own."""

    def typed():
        session.put(ask=st.session_state["neighbours_ask"] or None, at=None, cell=None)

    st.session_state["neighbours_ask"] = session.get("ask") or ""
    st.text_input(
        text(f"{ME}.ask"),
        key="neighbours_ask",
        max_chars=LONGEST,
        placeholder=text(f"{ME}.empty"),
        on_change=typed,
    )


def _own_word(trace, forms):
    """What the word is made of, and its rows to choose from."""
    tokenizer, asked = trace.model.tokenizer, session.get("ask")
    read = near.word(tokenizer, asked)
    key = "many" if read.id is None else ("spaced" if len(forms) > 1 else "one")
    said = words.html(f"{ME}.{key}", word=Token(asked), n=len(read.ids))
    html.show(f'<p class="tw-caption">{said}</p>')
    payload = token_strip(
        [tokenizer.display(id) for id in forms],
        forms,
        selected=_chosen_form(forms),
        labels={"aria": text(f"{ME}.forms"), "token": text("strip.token")},
    )
    key = "neighbours_forms"
    canvas.tokens(payload, key, lambda: session.put(at=st.session_state[key]["position"]))


def _bars(trace, id, best, other):
    ids = [each for each, _ in best]
    name = words.html(f"{ME}.bars", token=_named(trace, id), n=len(ids))
    itself = words.html(f"{ME}.itself")
    html.show(f'<p class="tw-panel-name">{name}</p><p class="tw-caption">{itself}</p>')
    names = [trace.model.tokenizer.display(each) for each in ids]
    drawn = figure.bars(
        names,
        [value for _, value in best],
        role_name="residual",
        title=text(f"{ME}.axis"),
        digits=".4f",
        chosen=ids.index(other),
        dark=style.dark(),
        upper=1.18,
    )

    def on_select():
        points = st.session_state["neighbours_bars"]["selection"]["point_indices"]
        if points:
            session.put(cell=ids[points[0]])

    st.plotly_chart(
        drawn,
        key="neighbours_bars",
        on_select=on_select,
        selection_mode="points",
        config=figure.saving("neighbours"),
        alt=text(f"{ME}.bars_alt", n=len(ids)),
    )
    rows = [(n, names[n - 1], *pair) for n, pair in enumerate(best, 1)]
    charts.save("neighbours", ("rank", "token", "id", "cosine"), rows)


def _histogram(trace, id, found, other):
    """All cosines of the vocabulary, with the chosen one marked."""
    every, mine = near.spread(found, [id]), float(found[other])
    values = {"median": number(every.median), "n": f"{int(every.counts.sum()):,}"}
    values |= {"rank": f"{near.rank(found, other, [id]):,}", "token": _named(trace, other)}
    name, caption = words.html(f"{ME}.all"), words.html(f"{ME}.all_caption", **values)
    html.show(f'<p class="tw-panel-name">{name}</p><p class="tw-caption">{caption}</p>')
    drawn = figure.histogram(
        every.counts,
        every.edges,
        role_name="residual",
        title=text(f"{ME}.axis"),
        count_title=text(f"{ME}.count"),
        marks=[(mine, trace.model.tokenizer.display(other))],
        dark=style.dark(),
    )
    settings = figure.saving("all_cosines")
    st.plotly_chart(drawn, key="all_cosines", config=settings, alt=text(f"{ME}.all_alt"))
    edges = every.edges.tolist()
    bins = list(zip(edges[:-1], edges[1:], every.counts.tolist(), strict=True))
    charts.save("all_cosines", ("from", "to", "count"), bins)
