"""Write: a text that grows token by token, each with the distribution it came from."""

import streamlit as st

from core.analyse import source
from core.analyse import written as told
from core.decode import generate
from pages.parts import charts, run, session, settings, style, words, writing
from pages.parts.html import Made, Token, percent
from pages.parts.views import Shown
from pages.parts.words import text
from pages.views.loop import text_card, text_examples
from viz.curves import Line
from viz.series import series

HERE = "loop.text"
FIRST = ("temperature", "max_new_tokens", "seed")
MORE = (
    ("top_k", "top_p", "min_p"),
    ("typical_p", "repetition_penalty"),
    ("presence_penalty", "frequency_penalty"),
)


def view(trace, position: int) -> Shown:
    """The continuation of the prompt, as far as the reader has asked for it."""
    spec, most = settings.spec(trace.spec), writing.limit()
    wanted = min(max(session.get("cell") or 1, (session.get("at") or -1) + 1), most)
    found = writing.look(spec, wanted)
    return Shown(
        lambda: _draw(trace, spec, found, wanted, most),
        {"limit": most},
        lambda: _answer(trace, found, wanted),
        source.of(generate.passes),
        lambda: told.arrays(found.tokens[:wanted]),
    )


def _answer(trace, found, wanted):
    """Why it ends where it ends, and which token the model expected least."""
    tokens = found.tokens[:wanted]
    if not tokens:
        return dict.fromkeys(("why", "n", "n_sure", "least", "least_p"), "–")
    n_sure, least = told.surprises(tokens)
    why = writing.why(found, len(tokens), trace.model) or words.html(f"{HERE}.why_not_yet")
    return {
        "why": Made(why),
        "n": len(tokens),
        "n_sure": n_sure,
        "least": Token(trace.model.tokenizer.display(tokens[least].id)),
        "least_p": percent(tokens[least].prob),
    }


def _draw(trace, spec, found, wanted, most):
    text_examples.show()
    running = not found.has(wanted)
    _settings()
    ends = found.ended and len(found.tokens) <= wanted
    done = ends or wanted >= most
    writing.buttons([found], lambda: _n(found, wanted), running, done, most, at=None)
    n = _n(found, wanted)
    _text(trace, spec, found, n, wanted if running else None)
    at = _at(n, running)
    if not running:
        _why(trace, found, n)
    if at is not None:
        text_card.show(trace, found, at)
    if not running and n > 1:
        _curves(trace, found.tokens[:n], at)


def _at(n, running):
    """The token of the card: the chosen one, if it is there; the last one when all are."""
    at = session.get("at")
    if running:
        return at if at is not None and at < n else None
    at = session.below("at", n)
    return n - 1 if at is None and n else at


def _n(found, wanted):
    """How many tokens the page shows."""
    return min(wanted, len(found.tokens))


def _settings():
    """Three settings, and the others on demand."""
    _row(FIRST)
    names = [name for row in MORE for name in row] + ["order"]
    with st.expander(text(f"{HERE}.more"), expanded=bool({*names} & {*settings.changed()})):
        for row in MORE:
            _row(row)
        settings.control("order")
        st.button(text(f"{HERE}.usual"), key="writing_usual", on_click=settings.forget)


def _row(names):
    for name, column in zip(names, st.columns(len(names), gap="medium"), strict=True):
        settings.control(name, column)


# ---- figures -------------------------------------------------------------------------------------


def _text(trace, spec, found, n, wanted):
    """The first n tokens and what they cost. wanted: how many there will be, while it grows."""
    at = session.get("at")
    shown = at if at is not None and at < n else None if wanted else n - 1
    writing.text_strip(
        trace.model.tokenizer,
        found,
        n,
        key="loop_text",
        pick=lambda number: session.put(at=number),
        selected=shown if n else None,
        wanted=wanted and (spec, wanted, n),
        costs=found.tokens[:n],
    )


def _why(trace, found, n):
    if why := writing.why(found, n, trace.model):
        run.notice(why)


def _curves(trace, tokens, at):
    """Probability and time of each token."""
    words.heading(f"{HERE}.curves")
    words.caption(f"{HERE}.curves_caption")
    names = [trace.model.tokenizer.display(token.id) for token in tokens]
    probs = [token.prob for token in tokens]
    times = [1000 * token.event.seconds for token in tokens]
    _curve("prob", names, probs, [percent(p) for p in probs], at, "logits", (-0.03, 1.05))
    _curve("time", names, times, [f"{t:.1f} ms" for t in times], at, "attention", None)
    charts.save("written", CSV, [_csv(n, names[n], token) for n, token in enumerate(tokens)])


def _curve(name, names, values, said, at, role, span):
    details = [
        f"{n}: {token} · {each}" for n, (token, each) in enumerate(zip(names, said, strict=True), 1)
    ]
    line = Line(text(f"{HERE}.{name}"), values, role, details)
    how = {"title": text(f"{HERE}.{name}"), "step_title": text(f"{HERE}.number"), "span": span}
    drawn = series([line], chosen=at, dark=style.dark(), **how)
    charts.clickable(
        drawn,
        f"written_{name}",
        lambda number: session.put(at=number),
        name=f"written_{name}",
        alt=text(f"{HERE}.{name}_alt", n=len(values)),
    )


CSV = ("number", "token", "id", "prob_model", "logprob_model", "prob_drawn_from", "n_kept", "u")
CSV += ("place", "seconds", "n_cached", "cache_bytes")


def _csv(number, name, token):
    e = token.event
    u = "" if e.u is None else e.u
    own = (number + 1, name, e.id, token.prob, e.logprob, e.prob, e.n_kept, u)
    return (*own, token.place + 1, e.seconds, e.n_cached, e.cache_bytes)
