"""The scores of the output page: candidates as bars, the whole vocabulary as a histogram. Knows
charts and the session.
"""

import streamlit as st

from pages.parts import charts, html, inputs, session, words
from pages.parts.words import text

FIRST, ALL = 20, 256  # candidates that are shown first; of a small vocabulary all on demand
TALL = 560  # pixels in height of bars that can be scrolled


def how_many(vocab: int) -> int:
    """How many candidates are shown."""
    return vocab if vocab <= ALL and st.session_state.get("all_bars") else FIRST


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
    words.heading("output.all_bars" if whole else f"output.{op}_bars", n=len(best.top))
    if vocab <= ALL:  # on demand: a browser takes seconds to draw them
        st.toggle(text("output.show_all", n=vocab), key="all_bars")
    charts.bars(
        [c.id for c in best.top],
        [c.text for c in best.top],
        [c.logit if logits else c.prob for c in best.top],
        key=f"bars_{op}",
        chosen=id,
        role_name="logits",
        title=title,
        digits=".4f" if logits else ".2%",
        upper=None if logits else 1.0,
        name=op,
        alt=text(f"output.{op}_alt", n=len(best.top)),
        box=st.container(height=TALL, border=False) if whole else st,
    )
    rows = [(c.rank, c.id, c.text, c.logit, c.prob) for c in best.top]
    charts.save(op, ("rank", "id", "token", "logit", "probability"), rows)


def vocabulary(best, mine, op: str, scores: str, last: str) -> None:
    """Where all scores of the vocabulary lie, with the chosen token marked.

    scores: which they are, "logits" or "logits_capped". last: those that the softmax reads.
    """
    kind = f"{scores}_caption" if scores == last else "uncapped_caption"
    words.heading("output.all")
    words.caption(f"output.{kind}", log_sum_exp=html.number(best.log_sum_exp))
    charts.spread(
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
