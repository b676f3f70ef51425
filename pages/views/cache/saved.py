"""The same tokens with and without a KV cache: time, FLOPs and bytes of every step, and whether the
scores agree.
"""

import streamlit as st

from core.analyse import bothways, source, withcache
from core.analyse.withcache import Step
from pages.parts import charts, explanation, html, inputs, run, style, words
from pages.parts.html import Token, number
from pages.parts.views import Shown
from pages.parts.words import text
from pages.views.cache import kept, units
from viz import figure
from viz.curves import Line, curves

HERE = "cache.saved"
KINDS = ("time", "flops", "bytes")
ROLES = {"cached": "key", "whole": "residual"}


def view(trace, position: int) -> Shown:
    """What was measured of this run, if it was."""
    ids, n_steps = run.compute(bothways.tokens, trace)
    steps = kept.get("saved", trace.key, [])
    return Shown(
        lambda: _draw(trace, ids, n_steps, steps),
        {"n_steps": n_steps, "n_prefill": len(ids) - n_steps, "n_text": len(ids)},
        lambda: _answer(trace, ids, steps),
        source.of(withcache.steps, withcache.timed, withcache.agreed),
    )


def _answer(trace, ids, steps):
    """Of the last step; where nothing was measured, of that step alone."""
    if len(steps) < 2:
        steps = run.compute(_last, trace, ids)
    last = steps[-1]
    times = withcache.times(last.whole, last.cached)
    return {
        "n_again": last.n_after,
        **{name: f"{value:.3g}" for name, value in times.items()},
        "with": units.ms(last.cached.seconds),
        "without": units.ms(last.whole.seconds),
    }


def _last(trace, ids):
    return list(withcache.steps(trace.model, ids, min(1, len(ids) - 1), trace.spec.edits))


# ---- measuring -----------------------------------------------------------------------------------


def _draw(trace, ids, n_steps, steps):
    said = {"n_steps": n_steps, "n_prefill": len(ids) - n_steps, "longest": bothways.LONGEST}
    words.caption(f"{HERE}.bounds", **said)
    if not n_steps:
        return run.notice(words.html(f"{HERE}.nothing"))
    label = text(f"{HERE}.again" if steps else f"{HERE}.measure")
    place, shown = st.container(key="saved_measure"), st.empty()
    if place.button(label, key="measure_saved", type="primary"):
        with place:  # what was measured before is gone meanwhile
            _measure(trace, ids, n_steps)
    with shown.container():
        _show(trace, n_steps, steps)


def _show(trace, n_steps, steps):
    """What was measured, or that nothing is."""
    if len(steps) < 2:
        return run.notice(words.html(f"{HERE}.press"))
    if len(steps) < n_steps + 1:
        run.notice(words.html(f"{HERE}.stopped", n=len(steps) - 1, n_steps=n_steps))
    _chart(trace, steps)
    _agreement(trace, steps)
    _table(trace, steps)


def _measure(trace, ids, n_steps):
    """Step by step, so that others get their turn in between; what is done stays when a reader
    stops it or goes elsewhere.
    """
    bar, done = st.progress(0.0, text(f"{HERE}.measuring", n=0, n_steps=n_steps)), []
    st.button(text(f"{HERE}.stop"), key="stop_saved")
    kept.put("saved", trace.key, done)
    passes = withcache.steps(trace.model, ids, n_steps, trace.spec.edits)
    while (step := run.compute(next, passes, None)) is not None:
        done.append(step)
        said = text(f"{HERE}.measuring", n=step.index, n_steps=n_steps)
        bar.progress(step.index / n_steps, said)
    st.rerun()


# ---- figures -------------------------------------------------------------------------------------


def _amounts(kind, step: Step) -> tuple[float, float]:
    """Of a step: milliseconds, GFLOP or MiB, with the cache and without."""
    pair = step.cached, step.whole
    if kind == "time":
        return tuple(1000 * each.seconds for each in pair)
    return tuple(bothways.COSTS[kind](each.cost) / SCALES[kind] for each in pair)


SCALES = {"flops": 1e9, "bytes": 1 << 20}


def _chart(trace, steps):
    """Two curves over the steps; the prefill, which both share, is the first point."""
    kind = inputs.choice("kind", KINDS, key="saved_kind", of=HERE)
    words.heading(f"{HERE}.chart_{kind}")
    words.caption(f"{HERE}.chart_caption_{kind}")
    pairs = [_amounts(kind, step) for step in steps]
    moments = [_moment(step) for step in steps]
    title = text(f"{HERE}.axis_{kind}")
    lines = [
        Line(text(f"{HERE}.{way}"), values, ROLES[way], [_hover(trace, s, v, title)
             for s, v in zip(steps, values, strict=True)])
        for way, values in zip(ROLES, zip(*pairs, strict=True), strict=True)
    ]  # fmt: skip
    how = {"title": title, "moment_title": text(f"{HERE}.step_axis"), "chosen": len(steps) - 1}
    drawn = curves(moments, lines, **how, dark=style.dark())
    saving = figure.saving(f"cache_{kind}")
    st.plotly_chart(drawn, key=f"saved_{kind}", config=saving, alt=text(f"{HERE}.alt"))
    found = bothways.sums(steps)[kind]
    said = {"n": len(steps) - 1, "with": _total(kind, found[0]), "without": _total(kind, found[1])}
    words.caption(f"{HERE}.total", **said, times=f"{found[1] / found[0]:.3g}")


def _moment(step):
    return str(step.index) if step.index else text(f"{HERE}.prefill")


def _hover(trace, step, value, title):
    token = trace.model.tokenizer.display(step.id)
    return f"{token} · {step.n_after} · {value:.4g} · {title}"


def _total(kind, value):
    if kind == "time":
        return units.ms(value)
    return units.amount(value, "FLOP") if kind == "flops" else units.size(value)


def _agreement(trace, steps):
    """Whether both ways give the same scores, in the step where they are furthest apart."""
    words.heading(f"{HERE}.agree")
    found = bothways.worst(steps)
    n_alike = sum(step.same_best for step in steps)
    lines = [
        (words.html(f"{HERE}.furthest"), number(found.difference)),
        (words.html(f"{HERE}.alike", n=len(steps)), f"{n_alike:,}"),
    ]
    explanation.agreed(found, lines)
    words.caption(f"{HERE}.why")
    if withcache.may_differ(trace.config):
        run.notice(words.html(f"{HERE}.may_differ"))


def _table(trace, steps):
    words.heading(f"{HERE}.table")
    head = [words.html(f"{HERE}.columns.{name}") for name in COLUMNS]
    display = trace.model.tokenizer.display
    body = [_row(step, html.token(Token(display(step.id)))) for step in steps]
    inside = html.table(head, body, "tw-steps")
    html.show(html.scroll(inside, text(f"{HERE}.table")))
    rows = [(s.index, display(s.id), s.n_after, s.cached.seconds, s.whole.seconds,
             s.cached.cost.flops, s.whole.cost.flops, s.cached.cost.n_bytes,
             s.whole.cost.n_bytes, s.agreement.difference, s.same_best) for s in steps]  # fmt: skip
    charts.save("with_and_without_cache", SAVED, rows, text(f"{HERE}.table"))


COLUMNS = ("step", "token", "positions", "time", "flops", "bytes", "difference")
SAVED = ("step", "token", "positions", "seconds_cached", "seconds_whole", "flops_cached")
SAVED += ("flops_whole", "bytes_cached", "bytes_whole", "largest_difference", "same_best")


def _row(step, token):
    pair = step.cached, step.whole
    return [
        _moment(step),
        token,
        str(step.n_after),
        _pair(units.ms(each.seconds) for each in pair),
        _pair(units.amount(each.cost.flops, "FLOP") for each in pair),
        _pair(units.size(each.cost.n_bytes) for each in pair),
        number(step.agreement.difference) if step.agreement.difference else "0",
    ]


def _pair(texts):
    """Both ways beside each other; below each other where there is no room."""
    return " | ".join(f'<span class="tw-nowrap">{html.escape(each)}</span>' for each in texts)
