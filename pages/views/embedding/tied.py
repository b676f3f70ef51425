"""The table read the other way: the last vector against the row of each candidate."""

import streamlit as st

from core.analyse import explain, source, tied
from pages.parts import (
    charts,
    explanation,
    html,
    lesson,
    run,
    session,
    strip,
    terms,
    words,
)
from pages.parts.html import Token, number, percent
from pages.parts.views import Shown
from pages.parts.words import text

SCORES = tied.SCORES
HERE = "embedding.tied"


def view(trace, position: int) -> Shown:
    """The vector after a position and the candidates; one of them is taken apart."""
    best = run.compute(tied.candidates, trace, position, session.below("cell", trace.config.vocab))
    mine = next((c for c in best if c.id == session.get("cell")), best[0])
    values = lesson.sizes(trace) | lesson.token_values(trace, position)
    values |= {"candidate": Token(mine.text), "candidate_id": mine.id}

    def draw():
        strip.show(trace, position, key="tied_tokens")
        html.show(f"<p>{_shared(trace, values)}</p>")
        _bars(best, mine, values)
        _product(trace, position, mine, values)

    return Shown(draw, values, lambda: _answer(trace, position), _code(trace))


def _code(trace):
    """The output layer, and the search for the nearest row."""
    return source.joined(trace.catalogue.op(SCORES), source.of(tied.nearest))


def _shared(trace, values):
    """Whether the table serves twice, and what a second one costs or would cost."""
    seen = tied.shared(trace.model)
    sizes = {"table": f"{seen.table:,}", "otherwise": f"{seen.otherwise:,}"}
    kind = "tied" if trace.model.weights.tied else "untied"
    return words.html(f"{HERE}.{kind}", **values, **sizes, share=percent(seen.share))


def _answer(trace, position):
    """The winner by dot product beside the winner by cosine."""
    seen, display = run.compute(tied.nearest, trace, position), trace.model.tokenizer.display
    which = "same" if seen.by_dot == seen.by_cosine else "other"
    return {
        "by_dot": Token(display(seen.by_dot)),
        "logit": number(seen.logit),
        "by_cosine": Token(display(seen.by_cosine)),
        "cosine": number(seen.cosine),
        "verdict": text(f"{HERE}.{which}"),
    }


def _bars(best, mine, values):
    """The candidates with their dot products; a click takes one apart."""
    words.heading(f"{HERE}.bars", n=len(best), **values)
    charts.bars(
        [c.id for c in best],
        [c.text for c in best],
        [c.logit for c in best],
        key="tied_bars",
        chosen=mine.id,
        role_name="logits",
        title=text(f"{HERE}.axis"),
        digits=".4f",
        name="candidates",
        alt=text(f"{HERE}.alt", n=len(best)),
    )
    rows = [(c.rank, c.id, c.text, c.logit) for c in best]
    charts.save("candidates", ("rank", "id", "token", "logit"), rows)


def _product(trace, position, mine, values):
    """Vector and row above each other, then the sum of their products."""
    said = values | {"rank": f"{mine.rank:,}", "logit": number(mine.logit)}
    html.show(f"<p>{words.html(f'{HERE}.chosen', **said)}</p>")
    term = terms.chosen(SCORES)
    parts = run.compute(tied.operands, trace, position, mine.id, term)
    terms.show_parts(parts, trace, SCORES)
    explained = run.compute(explain, trace, SCORES, None, (position, mine.id))
    with st.container(border=True):
        explanation.show(explained, trace, terms.pointed(parts))
