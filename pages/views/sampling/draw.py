"""The draw: a line from 0 to 1 on which every token owns a piece, and a number that falls on it."""

import streamlit as st

from core.analyse import source
from core.analyse.agreement import compare
from core.analyse.output import ranking
from core.decode import line
from core.decode.sampling import Draw, draw, rolls
from pages.parts import explanation, html, inputs, run, session, settings, strip, words
from pages.parts.html import number, percent
from pages.parts.views import Shown
from pages.parts.words import text
from pages.views.sampling import draw_figures
from pages.views.sampling.tokens import token_of

HERE = "sampling.draw"
STEP = 0  # what is drawn here is the first token after the position
FIRST = 10  # tokens that are named
ROLLS = {"once": 1, "hundred": 100, "thousand": 1_000}
MOST = 1_000  # rolls of the answer


def view(trace, position: int) -> Shown:
    """The draw after the chosen position, with the settings of sampling."""
    drawn, spec = drawn_at(trace, position), settings.spec(trace.spec)
    place = _chosen(drawn)
    return Shown(
        lambda: _draw(trace, position, drawn, spec, place),
        {"top": token_of(trace, drawn.ids[0]), "u": number(drawn.u or 0.0), "n_kept": _n(drawn)},
        lambda: run.compute(_answer, trace, drawn, spec),
        source.joined(source.of(draw, Draw.place_of, rolls), source.of(line.walked, line.counted)),
        lambda: _data(drawn, spec),
    )


def drawn_at(trace, position: int):
    """The draw of the first token after a position, with the settings of sampling."""
    logits, seen = run.compute(ranking, trace, position).logits, trace.ids[: position + 1]
    return run.compute(draw, logits, seen, settings.spec(trace.spec), STEP)


def _chosen(drawn) -> int:
    """The place of the token that is explained: the one that was clicked, else the drawn one."""
    found = session.get("cell")
    places = (drawn.ids == found).nonzero()[0] if found is not None else ()
    if not len(places):
        session.settle(cell=None)
        return drawn.place
    return int(places[0])


def _n(drawn):
    return f"{drawn.n_kept:,}"


def _answer(trace, drawn, spec):
    """How often the most probable token comes in a thousand rolls, and how far that is off."""
    counts = rolls(drawn, spec, STEP, MOST)
    (first, *_) = line.counted(drawn, counts, 1)
    if drawn.greedy:
        return {"expected": f"{MOST:,}", "spread": number(0, 1), "count": f"{MOST:,}", "apart": 0}
    return {
        "expected": number(first.expected, 1),
        "spread": number(first.spread, 1),
        "count": f"{first.count:,}",
        "apart": number(first.apart, 1),
    }


def _data(drawn, spec):
    counts = rolls(drawn, spec, STEP, ROLLS[_kind()])
    return {
        "walk_ids": drawn.ids,
        "probs": drawn.probs,
        "cumulative": drawn.cumulative,
        "counts": counts,
    }


def _kind():
    return session.chosen("kind", tuple(ROLLS))


# ---- figures -------------------------------------------------------------------------------------


def _draw(trace, position, drawn, spec, place):
    strip.show(trace, position, key="draw_tokens")
    _controls()
    if drawn.greedy:
        return _greedy(trace, drawn, place)
    _sentence(trace, drawn, spec)
    draw_figures.show(trace, drawn, place, FIRST)
    _explained(trace, drawn, place)
    kind = inputs.choice("kind", tuple(ROLLS), key="draw_rolls", of=HERE)
    counts = run.compute(rolls, drawn, spec, STEP, ROLLS[kind]) if kind != "once" else None
    bins = () if counts is None else run.compute(line.counted, drawn, counts, FIRST)
    if bins:
        _verdict(trace, drawn, bins, ROLLS[kind])
        draw_figures.histogram(trace, drawn, bins, place)
    draw_figures.listed(trace, drawn, place, counts, FIRST)


def _controls():
    with st.container(key="draw_controls", horizontal=True, vertical_alignment="bottom"):
        for name in ("temperature", "top_p", "seed"):
            with st.container(width=190):
                settings.control(name)
        st.button(text(f"{HERE}.another"), key="draw_another", on_click=_another)
    others = [each for each in settings.changed() if each not in SHOWN]
    if others:
        words.caption(f"{HERE}.others", names=settings.listed(others))


SHOWN = ("temperature", "top_p", "seed", "max_new_tokens")


def _another():
    now = settings.values()["seed"]
    settings.put(seed=now + 1 if now < settings.WHOLE["seed"] else 0)


def _greedy(trace, drawn, place):
    """No dice: the first of the order, and how many share its score."""
    token = token_of(trace, drawn.id)
    run.notice(words.html(f"{HERE}.greedy", token=token) + " " + _tied(drawn))
    draw_figures.listed(trace, drawn, place, None, FIRST)


def _tied(drawn):
    return words.html(f"{HERE}.{'tied' if drawn.tied > 1 else 'not_tied'}", n=f"{drawn.tied:,}")


def _sentence(trace, drawn, spec):
    """What was drawn, in one line."""
    token, code = token_of(trace, drawn.id), f"default_rng([{spec.seed}, {STEP}]).random()"
    values = {"token": token, "u": repr(drawn.u), "share": percent(drawn.prob), "n": _n(drawn)}
    said = words.html(f"{HERE}.said", seed=spec.seed, step=STEP, code=code, **values)
    html.show(f'<p class="tw-draw-said">{said}</p>')
    if drawn.tied > 1:
        html.show(f'<p class="tw-caption">{_tied(drawn)}</p>')


def _verdict(trace, drawn, bins, n):
    """The largest deviation, or that none can be told."""
    worst = line.farthest(bins)
    if worst is None:
        return words.caption(f"{HERE}.none_told", fewest=line.FEWEST)
    values = {"count": f"{worst.count:,}", "expected": number(worst.expected, 1), "n": f"{n:,}"}
    values |= {"deviation": number(worst.deviation, 2), "fewest": line.FEWEST}
    values |= {"name": draw_figures.called(trace, drawn, worst.piece)}
    html.show(f"<p>{words.html(f'{HERE}.verdict', **values)}</p>")


def _explained(trace, drawn, place):
    """The arithmetic of the chosen token's piece."""
    start, stop = (float(each) for each in drawn.cumulative[place : place + 2])
    is_drawn = place == drawn.place
    with st.container(border=True, key="draw_explain"):
        words.heading(f"{HERE}.piece", token=token_of(trace, drawn.ids[place]), place=place + 1)
        lines = [
            (words.html(f"{HERE}.score"), number(float(drawn.scores[drawn.ids[place]]))),
            (words.html(f"{HERE}.share"), f"{float(drawn.probs[place]):.12g}"),
            (words.html(f"{HERE}.before", n=f"{place:,}"), f"{start:.12g}"),
            (words.html(f"{HERE}.after"), f"{stop:.12g}"),
            (words.html(f"{HERE}.number"), repr(drawn.u)),
        ]
        sign = ("≤" if start <= drawn.u else ">", "<" if drawn.u < stop else "≥")
        inside = f"{start:.6f} {sign[0]} {drawn.u:.6f} {sign[1]} {stop:.6f}"
        lines.append((words.html(f"{HERE}.{'yes' if is_drawn else 'no'}"), inside))
        by_hand = run.compute(line.walked, drawn)
        own = (drawn.place, *drawn.cumulative[drawn.place : drawn.place + 2])
        said = words.html(f"{HERE}.check", n=f"{drawn.place + 1:,}")
        explanation.agreed(compare([*by_hand], [*own]), [*lines, (said, "")])
