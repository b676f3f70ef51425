"""Two jobs on a roofline: reading many tokens at once is held back by arithmetic, writing one by
memory.
"""

import streamlit as st

from core.analyse import passcost, roofline, source, twojobs
from pages.parts import charts, html, run, style, words
from pages.parts.views import Shown
from pages.parts.words import text
from pages.views.cache import kept, units
from viz import figure
from viz.roofline import Mark
from viz.roofline import roofline as plot

HERE = "cache.jobs"
RAN = ("step", "text", "long")
MACHINE = "machine"  # the limits are the same for every run


def view(trace, position: int) -> Shown:
    """The passes of this run, and what was measured."""
    limits, jobs = kept.get("limits", MACHINE), kept.get("jobs", trace.key)
    plan = run.compute(twojobs.planned, trace)
    n_text, n_long = map(len, twojobs.texts(trace))
    return Shown(
        lambda: _draw(trace, plan, limits, jobs),
        {"n_text": n_text, "n_long": n_long},
        lambda: _answer(trace),
        source.joined(source.of(passcost.cost), source.of(roofline.Limits, roofline.Point)),
    )


def _answer(trace):
    """How many times as long the long prefill takes; measured now, where it was not."""
    jobs = kept.get("jobs", trace.key)
    if jobs is None:
        with st.spinner(text(f"{HERE}.measuring")):
            jobs = run.compute(twojobs.measure, trace)
        kept.put("jobs", trace.key, jobs)
    times = {name: f"{value:.3g}" for name, value in jobs.times.items()}
    return {
        "long_time": units.ms(jobs.long.seconds),
        "step_time": units.ms(jobs.step.seconds),
        "times": times["time"],
        "flops": times["flops"],
        "bytes": times["bytes"],
        "per_token": units.ms(jobs.per_token),
    }


# ---- measuring -----------------------------------------------------------------------------------


def _draw(trace, plan, limits, jobs):
    label = text(f"{HERE}.again" if limits and jobs else f"{HERE}.measure")
    with st.container(key="jobs_measure"):
        if st.button(label, key="measure_jobs", type="primary"):
            _measure(trace)
    n_text = len(twojobs.texts(trace)[0])
    if n_text < len(trace.ids):
        words.caption(f"{HERE}.bounded", n=n_text, n_all=len(trace.ids))
    points = (jobs.points if jobs else plan) + roofline.calculated(trace.model, n_text)
    if limits is None:
        run.notice(words.html(f"{HERE}.press"))
    else:
        _limits(limits)
        _plot(points, limits, _named(trace))
    _table(trace, points, limits)
    words.caption(f"{HERE}.counted")


def _measure(trace):
    with st.spinner(text(f"{HERE}.measuring")):
        kept.put("limits", MACHINE, run.compute(roofline.measure))
        kept.put("jobs", trace.key, run.compute(twojobs.measure, trace))
    st.rerun()


# ---- figures -------------------------------------------------------------------------------------


def _limits(limits):
    """Both limits with how far their measurements lie apart, and where they meet."""
    lines = []
    for name, values, unit in (
        ("products", limits.products, "FLOP/s"),
        ("reads", limits.reads, "B/s"),
    ):
        middle = limits.flops_per_second if name == "products" else limits.bytes_per_second
        spread = {"low": units.amount(min(values), unit), "high": units.amount(max(values), unit)}
        said = words.html(f"{HERE}.limit_{name}", n=len(values), **spread)
        lines.append(f"<li>{said} <b>{units.amount(middle, unit)}</b></li>")
    ridge = words.html(f"{HERE}.ridge_said", ridge=f"{limits.ridge:.3g}")
    words.heading(f"{HERE}.limits", seconds=f"{limits.seconds:.1f}")
    html.show(f'<ul class="tw-beliefs">{"".join(lines)}<li>{ridge}</li></ul>')


def _named(trace):
    """What each pass is called; the prefills with how many tokens they read."""
    n_text, n_long = (f"{len(ids):,}" for ids in twojobs.texts(trace))
    named = {name: text(f"{HERE}.points.{name}", text=n_text, long=n_long) for name in RAN}
    for name, variant in roofline.VARIANTS.items():
        put = {"texts": variant.texts, "bits": int(8 * variant.weight_bytes)}
        named[name] = text(f"{HERE}.points.{name}", **put)
    return named


def _plot(points, limits, names):
    marks = [_mark(point, limits, names[point.name]) for point in points]
    words.heading(f"{HERE}.plot")
    words.caption(f"{HERE}.plot_caption")
    drawn = plot(
        marks,
        flops_per_second=limits.flops_per_second,
        bytes_per_second=limits.bytes_per_second,
        titles=(text(f"{HERE}.rate_axis"), text(f"{HERE}.intensity_axis")),
        limits=(text(f"{HERE}.memory_limit"), text(f"{HERE}.arithmetic_limit")),
        ridge=text(f"{HERE}.ridge"),
        dark=style.dark(),
    )
    saving = figure.saving("roofline")
    st.plotly_chart(drawn, key="roofline", config=saving, alt=text(f"{HERE}.alt"))


def _mark(point, limits, name):
    """A pass that did not run lies on the roof above its intensity."""
    rate = point.rate or limits.rate(point.intensity)
    if point.calculated:
        name = text(f"{HERE}.calculated", name=name)
    hover = f"{name} · {point.intensity:.3g} FLOP/B · {units.amount(rate, 'FLOP/s')}"
    return Mark(name, point.intensity, rate, point.calculated, hover)


def _table(trace, points, limits):
    """All passes; before the limits are known, what can be said without them."""
    names, n = _named(trace), dict(zip(("text", "long"), twojobs.texts(trace), strict=True))
    tokens = {name: len(ids) for name, ids in n.items()}
    words.heading(f"{HERE}.table")
    head = [words.html(f"{HERE}.columns.{name}") for name in COLUMNS]
    body = [_row(p, limits, names[p.name], tokens.get(p.name, p.texts)) for p in points]
    inside = html.table(head, body, "tw-tall")
    html.show(html.scroll(inside, text(f"{HERE}.table")))
    charts.save("roofline", SAVED, [_saved(p, limits) for p in points], text(f"{HERE}.table"))


COLUMNS = ("pass", "flops", "bytes", "intensity", "predicted", "measured", "reached")
COLUMNS += ("per_second", "limit")
SAVED = ("pass", "texts", "flops", "bytes", "flops_per_byte", "predicted_seconds")
SAVED += ("measured_seconds", "limit")


def _row(point, limits, name, n_tokens):
    said = [html.escape(name), units.amount(point.flops, "FLOP"), units.size(point.n_bytes)]
    said.append(f"{point.intensity:.3g}")
    ran = words.html(f"{HERE}.not_run") if point.calculated else units.ms(point.seconds)
    if limits is None:
        return [*said, "–", "–" if point.calculated else ran, "–", "–", "–"]
    predicted, reached = point.predicted(limits), point.reached(limits)
    per_second = f"{n_tokens / (point.seconds or predicted):,.0f}"
    known = [units.ms(predicted), ran, html.percent(reached) if reached else "–", per_second]
    return [*said, *known, words.html(f"{HERE}.{point.bound(limits)}")]


def _saved(point, limits):
    known = limits is not None
    return (
        point.name,
        point.texts,
        point.flops,
        point.n_bytes,
        point.intensity,
        point.predicted(limits) if known else "",
        "" if point.calculated else point.seconds,
        point.bound(limits) if known else "",
    )
