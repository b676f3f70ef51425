"""Beams: several continuations at once as a tree, beside what greedy choice and dice write."""

from dataclasses import dataclass, replace

import streamlit as st

from core.analyse import source
from core.analyse.cachesize import cache_size
from core.decode import beside, tree
from core.decode.beam import beam_search
from core.decode.generate import generate
from pages.parts import html, run, session, settings, words
from pages.parts.html import Token, number
from pages.parts.views import Shown
from pages.parts.words import text
from pages.views.loop import beams_node, beams_run, beams_settings, beams_table, beams_tree

HERE = "loop.beams"
WAYS = ("greedy", "search", "sampled")  # in the order in which they are made


@dataclass(frozen=True)
class Race:
    """What was found from one start. levels: of the search. finished: its texts under the length
    penalty, best first. greedy, sampled: the texts of `generate`. whole: whether all is done.
    """

    levels: tuple
    finished: tuple
    greedy: beside.Continued
    sampled: beside.Continued
    whole: bool


def view(trace, position: int) -> Shown:
    """Beam search from the end of the text; the position does not matter."""
    n_beams, power, n = beams_settings.values()
    return Shown(
        lambda: _draw(trace),
        {"n_beams": n_beams, "power": f"{power:g}".replace("-", "−"), "n_new": n},
        lambda: _answer(trace),
        source.joined(
            source.of(beam_search), source.of(tree.score, tree.rescored), source.of(beside.times)
        ),
        lambda: _data(trace),
    )


# ---- what is computed ----------------------------------------------------------------------------


def _jobs(trace):
    """By name: what each computation is of, and how it begins."""
    n_beams, _, n = beams_settings.values()
    plain = replace(trace.spec, max_new_tokens=n)
    dice = replace(settings.spec(trace.spec), max_new_tokens=n)
    own = (plain.model, trace.key, n)
    chosen = tuple(replace(dice, prompt="", messages=None, ids=None).__dict__.items())
    return {
        "greedy": (("greedy", *own), lambda: _events(plain)),
        "search": (("search", *own, n_beams), lambda: beam_search(plain, n_beams)),
        "sampled": (("sampled", *own, chosen), lambda: _events(dice)),
    }


def _events(spec):
    """The events of a run without their arrays."""
    return (replace(event, draw=None, logits=None) for event in generate(spec))


def _race(trace) -> Race:
    found = {name: beams_run.so_far(name, key) for name, (key, _) in _jobs(trace).items()}
    levels, power = found["search"].steps, beams_settings.values()[1]
    finished = tree.rescored(levels[-1].finished if levels else (), power)
    greedy, sampled = (beside.continued(found[name].steps) for name in ("greedy", "sampled"))
    return Race(levels, finished, greedy, sampled, all(each.whole for each in found.values()))


def _answer(trace):
    """The best text of the beams beside the greedy one."""
    race = _race(trace)
    blank = dict.fromkeys(("greedy", "beam", "greedy_sum", "beam_sum", "times", "n_alike"), "–")
    if not (race.whole and race.greedy.n and race.levels and race.levels[-1].finished):
        return blank
    best = beams_table.most_probable(race)
    return {
        "greedy": Token(race.greedy.text),
        "beam": Token(best.text),
        "greedy_sum": number(race.greedy.sum),
        "beam_sum": number(best.sum),
        "times": number(beside.times(best.sum, race.greedy.sum), 2),
        "n_alike": beside.n_alike(best.ids, race.greedy.ids),
    }


def _data(trace):
    """Every branch, by level and place, and the texts that finished."""
    race = _race(trace)
    nodes = [node for level in race.levels for node in level.nodes]
    names = ("level", "place", "id", "logprob", "sum", "state")
    arrays = {f"branch_{name}": [getattr(node, name) for node in nodes] for name in names}
    arrays["branch_parent"] = [-1 if node.parent is None else node.parent for node in nodes]
    arrays |= {f"text_{name}": [getattr(each, name) for each in race.finished] for name in TEXTS}
    return arrays


TEXTS = ("text", "sum", "n")


# ---- while it grows ------------------------------------------------------------------------------


def _grow(trace) -> None:
    """Go on where it was left, step by step, until all is done or the reader stops it."""
    jobs, (_, _, n) = _jobs(trace), beams_settings.values()
    mark = tuple(key for key, _ in jobs.values())
    if _race(trace).whole:
        return
    if st.session_state.get("beams_stopped") == mark:
        return _stopped()
    place = st.empty()
    with place.container(key="beams_progress", border=True):
        bar, said = st.progress(0.0), st.empty()
        st.button(text(f"{HERE}.stop"), key="beams_stop", on_click=lambda: _stop(mark))
    _work(trace, jobs, n, bar, said, place.empty)
    place.empty()
    if session.get("reveal"):  # the answer was written before there was one
        st.rerun()


def _work(trace, jobs, n, bar, said, failed):
    for turn, (name, (key, begin)) in enumerate(jobs.items()):
        done = len(beams_run.so_far(name, key).steps)
        if beams_run.so_far(name, key).whole:
            continue
        while beams_run.step(name, key, begin, _n_bytes(trace, name), failed):
            done += 1
            share, what = (turn + min(done / n, 1)) / len(jobs), text(f"{HERE}.way_{name}")
            bar.progress(share, text(f"{HERE}.progress", what=what, n=done, last=n))
            said.html(f'<p class="tw-beams-now">{_best_so_far(trace, name)}</p>')


def _n_bytes(trace, name):
    """What a computation holds under way: keys and values of the text and of what it adds."""
    n_beams, _, n = beams_settings.values()
    here = cache_size(trace.config)
    return here.of(len(trace.ids) + n * (1 + n_beams * (name == "search")))


def _best_so_far(trace, name):
    """The text that is being written, as HTML."""
    race = _race(trace)
    if name != "search":
        shown = (race.greedy if name == "greedy" else race.sampled).text
    else:
        shown = beams_node.text_of(trace, race.levels, race.levels[-1].nodes[:1])
    return html.rich("[[shown]]", shown=Token(shown))


def _stop(mark):
    st.session_state["beams_stopped"] = mark


def _stopped():
    run.notice(words.html(f"{HERE}.stopped"))
    st.button(text(f"{HERE}.go_on"), key="beams_go_on", on_click=lambda: _stop(None))


# ---- figures -------------------------------------------------------------------------------------


def _draw(trace):
    beams_settings.controls()
    others = [each for each in settings.changed() if each != "max_new_tokens"]
    now = settings.values()
    values = {"temperature": f"{now['temperature']:g}", "seed": now["seed"]}
    names = settings.listed(others) or text(f"{HERE}.usual")
    words.caption(f"{HERE}.dice", names=names, **values)
    _grow(trace)
    race = _race(trace)
    if not race.levels:
        return beams_table.show(race, None) if race.greedy.n else None
    if race.levels[-1].stop == "nonfinite":
        op, layer = race.levels[-1].where
        return run.notice(
            words.html(f"{HERE}.nonfinite", op=op, layer="–" if layer is None else layer), "error"
        )
    node = beams_node.chosen(race)
    beams_table.show(race, node)
    beams_tree.show(trace, race, node)
    beams_node.show(trace, race, node)
