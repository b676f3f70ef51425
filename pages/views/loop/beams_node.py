"""One branch of the tree: the text that leads to it, its sums, and what it is worth."""

import streamlit as st

from core.analyse.agreement import compare
from core.analyse.withcache import may_differ
from core.decode import beside
from core.decode.tree import path, score
from pages.parts import charts, explanation, html, listing, run, session, words
from pages.parts.html import Token, number
from pages.parts.words import text
from pages.views.loop import beams_settings, beams_tree

HERE = "loop.beams"
ALLOWED = 1e-3  # nat for each token: two float32 passes in different order


def chosen(race):
    """The branch that is explained: the one that was clicked, else the last of the best text."""
    level, place = divmod(session.get("cell") or 0, beams_tree.APART)
    if 1 <= level <= len(race.levels) and place < len(race.levels[level - 1].nodes):
        return race.levels[level - 1].nodes[place]
    session.settle(cell=None)
    return beams_tree.best_node(race)


def text_of(trace, levels, nodes) -> str:
    """The text that leads to the first of some branches; an end token adds none."""
    ids = [each.id for node in nodes for each in path(levels, node) if not each.is_end]
    return trace.model.tokenizer.decode(ids)


def show(trace, race, node) -> None:
    """Its tokens with their log-probabilities and the sum so far, and its score."""
    way = path(race.levels, node)
    with st.container(border=True, key="beams_node"):
        words.heading(f"{HERE}.node", text=Token(text_of(trace, race.levels, [node])))
        words.caption(f"{HERE}.is_{_state(node)}")
        _tokens(way)
        _worth(trace, race, way)


def _state(node):
    if node.state == "finished":
        return "ended" if node.is_end else "limit"
    return "end_dropped" if node.is_end and node.state == "dropped" else node.state


def _tokens(way):
    head = [words.html(f"{HERE}.head_{each}") for each in ("level", "token", "logprob", "sum")]
    rows = [
        [str(each.level), html.token(each.text, "logits"), _exact(each.logprob), _exact(each.sum)]
        for each in way
    ]
    numbers = [each.level * beams_tree.APART + each.place for each in way]
    listing.show("branch", head, rows, numbers, numbers[-1], text(f"{HERE}.way"))
    listing.listen("branch", lambda each: session.put(cell=each))
    saved = [(each.level, each.text, each.id, each.logprob, each.sum) for each in way]
    charts.save("beam_path", ("level", "token", "id", "logprob", "sum"), saved)


def _exact(value):
    return f'<span title="{value!r}">{number(value)}</span>'


def _worth(trace, race, way):
    """score = sum / n^power with the numbers, and the same sum from one pass."""
    node, power = way[-1], beams_settings.values()[1]
    worth = number(score(node.sum, node.level, power))
    raised = f"{power:g}".replace("-", "−")
    made = f"{number(node.sum)} / {node.level}<sup>{raised}</sup>"
    key = "score" if node.state == "finished" else "score_if"
    lines = [(words.html(f"{HERE}.{key}"), f"{made} = <b>{worth}</b>")]
    if may_differ(trace.config):  # from one pass the sum truly is another
        return html.show(explanation.sums(lines, ""))
    own = (trace.key, tuple(each.id for each in way))
    if st.session_state.get("beams_checked") != own:
        html.show(explanation.sums(lines, ""))
        st.button(
            text(f"{HERE}.check"),
            key="beams_check",
            on_click=lambda: st.session_state.update(beams_checked=own),
        )
        return
    with st.spinner(text("run.running")):
        again = run.compute(beside.by_one_pass, trace, own[1])
    lines.append((words.html(f"{HERE}.checked"), number(sum(again))))
    found = compare(again, [each.logprob for each in way], ALLOWED)
    explanation.agreed(found, lines, words.html(f"{HERE}.why"))
