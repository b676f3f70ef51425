"""Branch: another token at one place, and what both texts become from there."""

import streamlit as st

from core.analyse import source
from core.analyse import written as told
from core.decode import background
from pages.parts import inputs, run, session, settings, words, writing
from pages.parts.html import Token, number, percent
from pages.parts.views import Shown
from pages.parts.words import text
from pages.views.loop import branch_sides, fork
from pages.views.loop.branch_sides import Both

HERE = "loop.branch"
VALUES = ("token", "other", "prob", "other_prob", "number", "n")
ANSWER = ("k", "original", "branch", "ahead", "n_alike", "n_places")


def view(trace, position: int) -> Shown:
    """The text and its branch, as far as the reader has asked for them."""
    spec, most = settings.spec(trace.spec), writing.limit()
    at = fork.place(most)
    wanted = max(min(session.get("cell") or most, most), at + 1)
    found = writing.look(spec, wanted)
    if len(found.tokens) <= at and found.ended:  # it ends before the place of the link
        session.settle(at=None)
        at = 0
    if len(found.tokens) <= at:  # not there yet, or there is none
        return Shown(lambda: _wait(trace, found, spec, at), dict.fromkeys(VALUES, "–"), _nothing)
    both = _both(trace, spec, found, at, wanted)
    return Shown(
        lambda: _draw(trace, both, most),
        _values(trace, both),
        lambda: _answer(both),
        source.joined(source.of(background.branched), source.of(told.Side)),
        lambda: branch_sides.arrays(both),
    )


def _nothing():
    return dict.fromkeys(ANSWER, "–")


def _both(trace, spec, found, at, wanted):
    other = fork.other(trace, found, at)
    ends = other in trace.model.tokenizer.end_ids
    full = trace.config.context <= len(found.ids) + at  # no room behind the other token
    shut, further = "end" if ends else "context" if full else None, wanted - at - 1
    texts = {"found": (found, wanted)}
    after_spec = after = None
    if further and not shut:
        after_spec = background.branched(found, at, other)
        after = writing.look(after_spec, further)
        texts["after"] = (after, further)
    growing = frozenset(name for name, (text, n) in texts.items() if not text.has(n))
    return Both(spec, found, at, other, wanted, shut, after_spec, after, growing)


def _values(trace, both):
    shown, token = trace.model.tokenizer.display, both.found.tokens[both.at]
    return {
        "token": Token(shown(token.id)),
        "other": Token(shown(both.other)),
        "prob": percent(token.prob),
        "other_prob": percent(run.compute(lambda: both.branch.probs[0])),
        "number": both.at + 1,
        "n": both.wanted,
    }


def _answer(both):
    """Whose sum is larger after equally many tokens."""
    one, two = both.original, both.branch
    k = min(len(one.ids), len(two.ids))
    a, b = one.running[k - 1], two.running[k - 1]
    ahead = "equal" if a == b else "original" if a > b else "branch"
    return {
        "k": k,
        "original": number(a, 2),
        "branch": number(b, 2),
        "ahead": text(f"{HERE}.ahead_{ahead}"),
        "n_alike": told.n_alike(one, two),
        "n_places": k - 1,
    }


# ---- the page ------------------------------------------------------------------------------------


def _wait(trace, found, spec, at):
    """The text has not come to the place of the fork."""
    if why := writing.why(found, len(found.tokens), trace.model):
        return run.notice(why)
    words.caption(f"{HERE}.wait")
    branch_sides.before_the_fork(trace, spec, found, at)


def _draw(trace, both, most):
    _settings()
    _choose(trace, both)
    running = bool(both.growing)
    done = not running and (both.wanted >= most or both.ended)
    texts = [each for each in (both.found, both.after) if each]
    how = {"stopped": lambda: both.n_stopped}
    writing.buttons(texts, lambda: both.n_shown, running, done, most, **how)
    branch_sides.texts(trace, both)
    if not running:
        branch_sides.numbers(trace, both)
        branch_sides.curve(trace, both)


def _settings():
    names = ("temperature", "max_new_tokens", "seed")
    for name, column in zip(names, st.columns(3, gap="medium"), strict=True):
        settings.control(name, column)
    more = {*settings.changed()} - {*names}
    if more:
        names = [text(f"settings.{name}") for name in sorted(more)]
        shown = text("settings.between").join(names)
        words.caption(f"{HERE}.more_settings", names=shown)


def _choose(trace, both):
    """The tokens that could stand in the place of the one at the fork."""
    token, tokenizer = both.found.tokens[both.at], trace.model.tokenizer
    probs = {each.id: each.prob for each in token.best if each.id != token.id}
    options = [*probs, *[both.other] * (both.other not in probs)]
    st.session_state["fork_list"] = both.other

    def named(id):
        share = probs.get(id)
        return tokenizer.display(id) + (f"  {percent(share)}" if share is not None else "")

    def take(id):
        session.put(target=id)

    def typed(asked):
        if asked:
            fork.look_up(both.found, both.at, asked, tokenizer, take)

    with st.container(horizontal=True, key="fork", vertical_alignment="bottom"):
        st.selectbox(
            text(f"{HERE}.instead"),
            options,
            format_func=named,
            key="fork_list",
            on_change=lambda: take(st.session_state["fork_list"]),
            width=260,
        )
        how = {"longest": fork.LONGEST, "empty": text("target.empty"), "width": 200}
        inputs.field(text("target.own"), typed, key="fork_own", **how)
    fork.note()
