"""One token of a text: what it was chosen from, by which number, how long it took; and doors to
what another choice would have led to.
"""

import streamlit as st

from core.analyse import written as told
from core.analyse.withcache import may_differ
from pages import canvas
from pages.parts import charts, doors, explanation, html, inputs, run, session, views, words
from pages.parts.html import Token, number, percent
from pages.parts.words import text
from pages.views.loop import fork

HERE = "loop.text"


def show(trace, found, at: int) -> None:
    """The card of token `at`."""
    token, tokenizer = found.tokens[at], trace.model.tokenizer
    with st.container(border=True, key="written_card"):
        named = Token(tokenizer.display(token.id))
        words.heading(f"{HERE}.card", token=named, number=at + 1, id=token.id)
        html.show(f'<p class="tw-caption">{_how(token)}</p>')
        html.show(_table(tokenizer, token))
        canvas.doors("written_doors", lambda id: _branch(at, int(id)), "branch")
        words.caption(f"{HERE}.card_caption", n=len(token.best))
        if token.event.u is None:
            words.caption(f"{HERE}.card_greedy")
        _own(trace, found, at)
        _saved(tokenizer, token)
        _check(trace, found, at)
        # What follows the prompt is the draw that the page of sampling shows.
        same = ("sampling.stages", "sampling.draw") if at == 0 else ()
        doors.show(HERE, *same, "cache.grow", pos=None)


def _how(token):
    """How the token was chosen, as HTML."""
    e = token.event
    values = {"kept": f"{e.n_kept:,}", "prob": percent(e.prob), "ms": f"{1000 * e.seconds:.1f}"}
    if e.u is None:
        return words.html(f"{HERE}.greedy", **values)
    values |= {"u": f"{e.u:.4f}", "place": f"{token.place + 1:,}"}
    ends = {"from": f"{token.before:.4f}", "to": f"{token.before + e.prob:.4f}"}
    return words.html(f"{HERE}.drawn", **values, **ends)


# ---- candidates ----------------------------------------------------------------------------------


def candidates(token) -> list[tuple[int | None, int, float, float]]:
    """(rank or None, id, prob, drawn) of the first of the model, and of the token itself."""
    rows = [(n, each.id, each.prob, each.drawn) for n, each in enumerate(token.best, 1)]
    if token.id not in [row[1] for row in rows]:
        rows.append((None, token.id, token.prob, token.event.prob))
    return rows


def _table(tokenizer, token):
    head = [words.html(f"{HERE}.head_{name}") for name in ("token", "bar", "model", "drawn")]
    rows = [_row(tokenizer, token, *each) for each in candidates(token)]
    marks = [' class="tw-here"' * (each[1] == token.id) for each in candidates(token)]
    table = html.table([*head, ""], rows, "mono tw-written", marks)
    return html.scroll(table, text(f"{HERE}.candidates"), "tw-written-box")


def _row(tokenizer, token, place, id, prob, drawn):
    shown = html.token(tokenizer.display(id))
    cut = words.html(f"{HERE}.cut")
    bar = f'<span class="tw-bar tw-prob" style="width:{8 * prob:.2f}em"></span>'
    door = words.html(f"{HERE}.chosen") if id == token.id else _door(id)
    return [shown, bar, percent(prob), percent(drawn) if drawn else cut, door]


def _door(id):
    label = words.html(f"{HERE}.branch")
    return f'<button class="tw-to" data-branch="{id}" data-door>{label}</button>'


def _saved(tokenizer, token):
    rows = [
        ("" if n is None else n, tokenizer.display(id), id, p, d)
        for n, id, p, d in candidates(token)
    ]
    what = text(f"{HERE}.saved")
    charts.save("candidates", ("rank", "token", "id", "prob_model", "prob_drawn_from"), rows, what)


def _own(trace, found, at):
    """A box for another token."""

    def take(asked):
        if asked:
            fork.look_up(found, at, asked, trace.model.tokenizer, lambda id: _branch(at, id))

    label, empty = text(f"{HERE}.own"), text("target.empty")
    inputs.field(label, take, key="written_own", longest=fork.LONGEST, empty=empty, width=260)
    fork.note()


def _branch(at, id):
    views.go("loop", "text", "branch")
    session.put(at=at, target=id, cell=None)


# ---- the check -----------------------------------------------------------------------------------


def _check(trace, found, at):
    """The same probability from one pass over the whole text, without a cache; on demand."""
    if may_differ(trace.config):
        return
    box = st.expander(text(f"{HERE}.check"), key="written_check", on_change="rerun")
    if box.open:
        again, agreement = run.compute(told.again, found, at)
        recorded = found.tokens[at].event.logprob
        lines = [
            (words.html(f"{HERE}.check_again"), number(again)),
            (words.html(f"{HERE}.check_recorded"), number(recorded)),
        ]
        with box:
            explanation.agreed(agreement, lines, words.html(f"{HERE}.check_said"))
