"""Positions, longer texts: ways to stretch the rotation of this model, on the same axes."""

import streamlit as st

from core.analyse import source, stretching
from core.analyse.stretching import FACTORS, METHODS, SETTINGS
from core.model import rope
from pages.parts import charts, html, inputs, run, session, style, words
from pages.parts.html import number
from pages.parts.views import Shown
from pages.parts.words import text
from viz import figure, stretches

FACTOR = 4  # at first
HERE = "positions.longer"


def view(trace, position: int) -> Shown:
    """The rotation of the chosen layer, stretched by the chosen factor."""
    config, (layer, _) = trace.config, session.layer_and_head(trace.config)
    factor = _factor()
    if config.ropes[layer] is None:
        kind = "learned" if config.learned_positions else "unturned"
        return Shown(lambda: run.notice(words.html(f"{HERE}.{kind}")), {})
    ways = run.compute(stretching.stretches, config, layer, factor)
    length = stretching.first_length(config, layer)
    code = source.of(*(rope.FREQUENCIES[name] for name in ("linear", "yarn", "llama3")))
    values = {"factor": factor, "n_pairs": len(ways[0].slowed)}
    return Shown(
        lambda: _draw(ways, factor, length, layer),
        values,
        lambda: _answer(ways, length, factor),
        code,
    )


def _factor():
    """The chosen factor, if it is one that is offered."""
    if session.get("factor") not in FACTORS:
        session.settle(factor=None)
    return session.get("factor") or FACTOR


def _name(way):
    return text(f"{HERE}.{way.name}")


def _answer(ways, length, factor):
    """How many pairs come to new angles, with each way and without."""
    found = [way for way in ways if way.name in ("plain", *METHODS)]
    return {f"new_{way.name}": way.n_new(length, factor) for way in found}


def _draw(ways, factor, length, layer):
    _pick(factor)
    if ways[-1].name == "own":
        own = ways[-1].rope.scaling
        key = "has_own" if own.factor > 1 else "has_factors"  # some files give one per pair
        run.notice(
            words.html(f"{HERE}.{key}", layer=layer, kind=own.kind, factor=f"{own.factor:g}")
        )
    lengths = {"length": f"{length:,}", "longer": f"{factor * length:,}"}
    words.heading(f"{HERE}.figure", **lengths)
    words.caption(f"{HERE}.honest")
    _figure(ways, factor, length)
    _summary(ways)
    words.caption(f"{HERE}.settings", **lengths, **_settings(length))
    _all_pairs(ways)


def _pick(factor):
    """How many times longer the text is to become: the one control."""
    inputs.switch(
        FACTORS,
        factor,
        key="longer_factor",
        label=text(f"{HERE}.factor"),
        name=lambda n: f"× {n}",
        pick=lambda n: session.put(factor=n),
        named=True,
    )


def _settings(length):
    """The published constants that the figure uses."""
    s = SETTINGS
    short, long = f"{length / s.high:,.0f}", f"{length / s.low:,.0f}"
    return {"fast": f"{s.fast:g}", "slow": f"{s.slow:g}", "short": short, "long": long}


def _figure(ways, factor, length):
    levels = [(length, "level"), (factor * length, "level_longer")]
    drawn = stretches.stretches(
        [stretches.Way(_name(way), way.wavelengths, way.slowed) for way in ways],
        levels=[(n, text(f"{HERE}.{name}", n=f"{n:,}")) for n, name in levels],
        titles=tuple(text(f"{HERE}.{name}_axis") for name in ("wavelength", "slowed", "pair")),
        hovers=(_hover("wavelength", "%{y:,.1f}"), _hover("slowed", "%{y:.3f}")),
        dark=style.dark(),
    )
    settings, alt = figure.saving("rope_scalings"), text(f"{HERE}.alt", n=len(ways[0].slowed))
    st.plotly_chart(drawn, key="longer_figure", config=settings, alt=alt)


def _hover(name, value):
    """What is said of a point; `value` is a number as Plotly writes it."""
    return text(f"{HERE}.hover_{name}", x="%{x}", y=value)


def _summary(ways):
    """What each way does to how many pairs."""
    names = ("way", "kept", "between", "full", "fastest", "slowest", "amplitude")
    head = [words.html(f"{HERE}.col_{name}") for name in names]
    rows = [_row(way) for way in ways[1:]]
    html.show(html.scroll(html.table(head, rows), text(f"{HERE}.summary")))


def _row(way):
    """One way as cells."""
    counts = (way.n_kept, way.n_between, way.n_full if way.factor > 1 else "–")
    ends = (words.html(f"{HERE}.times", n=f"{way.slowed[end]:.4g}") for end in (0, -1))
    return [html.rich(_name(way)), *map(str, counts), *ends, number(way.amplitude)]


def _all_pairs(ways):
    """Every pair with its wavelengths, as a table and as CSV."""
    rows = [
        (pair, *each)
        for pair, each in enumerate(zip(*(w.wavelengths.tolist() for w in ways), strict=True))
    ]
    with st.expander(text(f"{HERE}.all_pairs")):
        head = [words.html(f"{HERE}.col_pair"), *(html.rich(_name(way)) for way in ways)]
        cells = [[str(pair), *map(html.wavelength, each)] for pair, *each in rows]
        html.show(html.scroll(html.table(head, cells), text(f"{HERE}.all_pairs")))
    charts.save("rope_scalings", ("pair", *(way.name for way in ways)), rows)
