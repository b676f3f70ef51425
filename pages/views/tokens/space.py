"""A space at the end of the text: the next token without it and with it."""

import streamlit as st

from core import RunSpec
from core.analyse import source
from core.analyse.trailing import TOLERANCE, own_space, trailing
from pages.parts import charts, explanation, html, run, session, style, words
from pages.parts.html import Token, percent, token
from pages.parts.views import Shown
from pages.parts.words import text
from viz import figure

LAST = 6  # tokens shown of each text
CHARACTER, MOST_NAMED = 9, 20  # pixels of a character beside a bar; characters that have room
HERE = "tokens.space"


def view(trace, position: int) -> Shown:
    """The view. It runs the reader's text as plain text, whatever the page runs."""
    control = bool(session.get("control"))
    spec = RunSpec(run.model_name(), prompt=session.prompt(), control=control)
    found = run.compute(trailing, spec)
    if found is None:
        answer = {"answer": text(f"{HERE}.answer_none")}
        return Shown(lambda: run.notice(words.html(f"{HERE}.only_spaces")), {}, lambda: answer)
    return Shown(lambda: _draw(found), {}, lambda: _answer(spec), source.of(trailing, own_space))


def _answer(spec):
    """How much goes to tokens that bring their own space, in either run."""
    without, with_it = map(percent, run.compute(own_space, spec))
    return {"answer": text(f"{HERE}.answer", without=without, with_it=with_it)}


def _draw(found):
    with st.container(key="space_pair"):
        for column, name in zip(st.columns(2, gap="medium"), ("unspaced", "spaced"), strict=True):
            with column:
                _ending(found, name)
    html.show("".join(f"<p>{sentence}</p>" for sentence in _sentences(found)))
    if found.drift is not None:
        html.show(_same_guess(found))
    rows = [
        (name, c.rank, c.id, c.text, c.prob)
        for name in ("unspaced", "spaced")
        for c in getattr(found, name).top
    ]
    charts.save("trailing_space", ("text", "rank", "id", "token", "probability"), rows)


def _ending(found, name):
    """The end of one text as tokens, and the most probable tokens after it."""
    ending = getattr(found, name)
    words.heading(f"{HERE}.{name}")
    html.show(_chips(ending, found.n_shared))
    drawn = figure.bars(
        [c.text for c in ending.top],
        [c.prob for c in ending.top],
        role_name="logits",
        title=text(f"{HERE}.axis"),
        digits=".2%",
        chosen=0,
        dark=style.dark(),
        upper=1.15,
        left=_left(found),
    )
    alt, settings = text(f"{HERE}.alt_{name}"), figure.saving(f"next_{name}")
    st.plotly_chart(drawn, key=f"space_{name}", config=settings, alt=alt)


def _left(found):
    """Pixels left of the bars of both charts, for the longest of their tokens."""
    shown = (c.text for ending in (found.unspaced, found.spaced) for c in ending.top)
    return min(max(map(len, shown)), MOST_NAMED) * CHARACTER + 14


def _chips(ending, n_shared):
    """The last tokens with their ids; those that the other text has not are marked."""
    first = max(0, len(ending.ids) - LAST)
    chips = ["…"] * (first > 0)
    for n in range(first, len(ending.ids)):
        own = " own" if n >= n_shared else ""
        inside = f"{token(ending.tokens[n])}<small>{ending.ids[n]}</small>"
        chips.append(f'<span class="tw-end{own}">{inside}</span>')
    return f'<div class="tw-ends" dir="ltr">{"".join(chips)}</div>'


def _sentences(found):
    """Where the best token of each text stands after the other."""
    before, after = found.unspaced.top[0], found.best_spaced
    yield _where("falls", before, after)
    if found.bare is not None:
        yield _where("bare", before, found.bare)
    if found.spaced.top[0].id != before.id:
        yield _where("back", found.spaced.top[0], found.best_unspaced)
    if found.n_spaces > 1:
        yield words.html(f"{HERE}.several", n=found.n_spaces)


def _same_guess(found):
    """The guess before the space, in both runs: equal or not."""
    said = words.html(f"{HERE}.drift", last=Token(found.unspaced.tokens[-1]))
    verdict = explanation.verdict(found.drift <= TOLERANCE, found.drift, TOLERANCE)
    return explanation.sums([(said, "")], verdict)


def _where(key, here, there):
    """A token in the one ranking and in the other."""
    values = {"token": Token(here.text), "prob": percent(here.prob)}
    values |= {"other": Token(there.text), "rank": f"{there.rank:,}"}
    return words.html(f"{HERE}.{key}", **values, there=percent(there.prob))
