"""Neighbours: the rows of the table that point most nearly the same way as a token's own."""

import streamlit as st

from core.analyse import near, source
from pages import canvas
from pages.parts import charts, html, inputs, run, session, strip, words
from pages.parts.html import Token, number
from pages.parts.views import Shown
from pages.parts.words import text
from pages.views.embedding import products
from viz.tokens import token_strip

FIRST = 15  # neighbours that are shown
LONGEST = 60  # characters of the reader's own word
HERE = "embedding.neighbours"


def view(trace, position: int) -> Shown:
    """The neighbours of the chosen token's row, or of a row of the reader's own word."""
    forms = run.compute(_forms, trace.model.tokenizer)
    id = forms[_chosen_form(forms)] if forms else trace.ids[position]
    found = run.compute(near.cosines, trace.model, trace.model.weights.embed[id])
    best = near.nearest(found, FIRST, [id])
    other = _chosen(best)
    return Shown(
        lambda: _draw(trace, position, forms, id, found, best, other),
        {"chosen": _named(trace, id), "n_first": len(best)},
        lambda: run.compute(_answer, trace, id, best),
        source.of(near.cosines, near.nearest, near.n_mutual, near.dot, near.cosine),
    )


def _named(trace, id):
    return Token(trace.model.tokenizer.display(id))


def _forms(tokenizer):
    """The rows that the reader's own word offers; none where there is no word."""
    asked = session.typed("ask", LONGEST)
    return near.forms(tokenizer, asked) if asked else ()


def _chosen_form(forms):
    return session.below("at", len(forms)) or 0


def _chosen(best):
    """The neighbour that is explained: the one that was clicked, else the first; None of none."""
    ids = [id for id, _ in best]
    if session.get("cell") not in ids:
        session.settle(cell=None)
        return ids[0] if ids else None
    return session.get("cell")


def _answer(trace, id, best):
    """Of the nearest rows: whether this one is nearest from there, too, and which are spellings."""
    if not best:
        return dict.fromkeys(ANSWERS, "–")
    tokenizer, (first, value) = trace.model.tokenizer, best[0]
    spelled = [each for each, _ in best if near.same_word(tokenizer, id, each)]
    back = near.cosines(trace.model, trace.model.weights.embed[first])
    return {
        "nearest": _named(trace, first),
        "cosine": number(value),
        "n_spelled": len(spelled),
        "n_mutual": near.n_mutual(trace.model, id, [each for each, _ in best]),
        "back": _named(trace, near.nearest(back, 1, [first])[0][0]),
        "rank_back": f"{near.rank(back, id, [first]):,}",
    }


ANSWERS = ("nearest", "cosine", "n_spelled", "n_mutual", "back", "rank_back")


# ---- figures -------------------------------------------------------------------------------------


def _draw(trace, position, forms, id, found, best, other):
    label, empty = text(f"{HERE}.ask"), text(f"{HERE}.empty")
    put = {"at": None, "cell": None}
    inputs.box("ask", label, key="neighbours_ask", longest=LONGEST, empty=empty, **put)
    if forms:
        _own_word(trace, forms)
    else:
        if session.get("ask"):
            run.notice(words.html(f"{HERE}.no_token", word=Token(session.get("ask"))))
        strip.show(trace, position, key="neighbours_tokens")
    if other is None:
        return run.notice(words.html(f"{HERE}.no_direction", token=_named(trace, id)))
    if n := near.n_alike(found, [id]):
        values = {"token": _named(trace, id), "n": n, "least": near.ALIKE}
        run.notice(words.html(f"{HERE}.alike", **values))
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


def _own_word(trace, forms):
    """What the word is made of, and its rows to choose from."""
    tokenizer, asked = trace.model.tokenizer, session.get("ask")
    read = near.word(tokenizer, asked)
    key = "many" if read.id is None else ("spaced" if len(forms) > 1 else "one")
    words.caption(f"{HERE}.{key}", word=Token(asked), n=len(read.ids))
    payload = token_strip(
        [tokenizer.display(id) for id in forms],
        forms,
        selected=_chosen_form(forms),
        labels={"aria": text(f"{HERE}.forms"), "token": text("strip.token")},
    )
    key = "neighbours_forms"
    canvas.tokens(payload, key, lambda: session.put(at=st.session_state[key]["position"]))


def _bars(trace, id, best, other):
    ids = [each for each, _ in best]
    words.heading(f"{HERE}.bars", token=_named(trace, id), n=len(ids))
    words.caption(f"{HERE}.itself")
    names = [trace.model.tokenizer.display(each) for each in ids]
    charts.bars(
        ids,
        [charts.short(each) for each in names],
        [value for _, value in best],
        key="neighbours_bars",
        chosen=other,
        names=names,
        role_name="residual",
        title=text(f"{HERE}.axis"),
        digits=".4f",
        upper=1.18,
        name="neighbours",
        alt=text(f"{HERE}.bars_alt", n=len(ids)),
    )
    rows = [(n, names[n - 1], *pair) for n, pair in enumerate(best, 1)]
    charts.save("neighbours", ("rank", "token", "id", "cosine"), rows)


def _histogram(trace, id, found, other):
    """All cosines of the vocabulary, with the chosen one marked."""
    every, mine = near.spread(found, [id]), float(found[other])
    values = {"median": number(every.median), "n": f"{int(every.counts.sum()):,}"}
    values |= {"rank": f"{near.rank(found, other, [id]):,}", "token": _named(trace, other)}
    words.heading(f"{HERE}.all")
    words.caption(f"{HERE}.all_caption", **values)
    charts.spread(
        every.counts,
        every.edges,
        name="all_cosines",
        role_name="residual",
        title=text(f"{HERE}.axis"),
        count_title=text(f"{HERE}.count"),
        marks=[(mine, trace.model.tokenizer.display(other))],
        alt=text(f"{HERE}.all_alt"),
    )
