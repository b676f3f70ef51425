"""A lesson on the page: title, idea, maths, code, what to look for, predict then reveal. Knows
lessons and sizes.
"""

import math

import streamlit as st

import lessons
from lessons.loader import BETWEEN_LINES
from pages.parts import html, session, words
from pages.parts.html import Token, rich
from pages.parts.words import text


def sizes(trace, layer: int | None = None) -> dict:
    """The numbers that a lesson may name: the sizes of this model and of this run, and those of a
    layer. What the model or the layer has not is missing.
    """
    own = _of_layer(trace.config, layer) if layer is not None else {}
    return of_model(trace.model) | own | {"n_tokens": len(trace.ids)}


def of_model(model) -> dict:
    """The numbers of an opened model, whatever it runs."""
    c = model.config
    return _choices(c) | {
        "n_layers": c.n_layers,
        "n_heads": c.n_heads,
        "n_kv_heads": c.n_kv_heads,
        "group": c.group,
        "head_dim": c.head_dim,
        "sqrt_head_dim": f"{math.sqrt(c.head_dim):g}",
        "width": c.width,
        "neurons": f"{c.neurons:,}",
        "vocab": f"{c.vocab:,}",
        "eps": f"{c.norm_eps:g}",
        "context": f"{c.context:,}",
        "n_all_heads": c.n_layers * c.n_heads,
        "n_weights": f"{model.weights.n_parameters:,}",
    }


def _choices(c):
    """Constants that only some families have, but for the scale of the scores."""
    scale = {"score_scale": f"{c.score_scale:.4g}", "score_divisor": f"{1 / c.score_scale:.4g}"}
    caps = {"attn_softcap": c.attn_softcap, "logit_softcap": c.logit_softcap}
    own = {"embed_scale": f"{c.embed_scale:.6g}"} if c.embed_scale else {}
    return scale | own | {name: f"{cap:g}" for name, cap in caps.items() if cap}


def _of_layer(c, layer):
    """How a layer rotates, and its window."""
    rope, window, own = c.ropes[layer], c.windows[layer], {}
    if rope:
        theta = f"{rope.theta:,.0f}"
        own |= {"rot_dim": rope.dim, "n_pairs": rope.dim // 2, "theta": theta}
    return own | ({"window": f"{window:,}"} if window else {})


def token_values(trace, position: int) -> dict:
    """The tokens that a lesson may name; `token` is the one at the chosen position."""
    tokens = trace.tokens
    return {
        "token": Token(tokens[position]),
        "first_token": Token(tokens[0]),
        "last_token": Token(tokens[-1]),
        "position": position,
    }


def joined(first: str, second: str) -> str:
    """Two sentences, as HTML, joined as the language joins them: Chinese sets no space between."""
    return BETWEEN_LINES[session.language()].join((first, second))


def heading(lesson: lessons.Lesson, **values) -> None:
    """The question as the page's title, and one line below it."""
    title, gist = rich(lesson.title, **values), rich(lesson.gist, **values)
    html.show(f'<h1 class="tw-title">{title}</h1><p class="tw-gist">{gist}</p>')


def tabs(lesson: lessons.Lesson, numbers: dict, op=None) -> None:
    """Idea, maths and the code, where there are some: one click deeper each.

    op: whatever has a `source`: an op of the catalogue, or the code of a view.
    """
    names = ["idea"] + ["maths"] * bool(lesson.maths) + ["code"] * (op is not None)
    tabs = dict(zip(names, st.tabs([text(f"lesson.{name}") for name in names]), strict=True))
    for name in names[:2]:
        if name != "code":
            tabs[name].markdown(lessons.fill(getattr(lesson, name), **numbers))
    if op is not None:
        tabs["code"].code(op.source, language="python", wrap_lines=True)
        tabs["code"].caption(text("lesson.code_from", file=op.file))


def look(lesson: lessons.Lesson, where: str = "", **values) -> None:
    """What to look for in the figure. where: "wide" or "narrow" windows, of a box that stands twice
    on the page, so that it is read before the figures in both.
    """
    body = html.paragraphs(rich(lesson.look, **values))
    lead = f"<b>{words.html('lesson.look')}</b>"
    html.show(f'<div class="tw-look {where}">{joined(lead, body)}</div>')


def predict(lesson: lessons.Lesson, values: dict, answer) -> None:
    """A question, and the answer of this very run behind a click. answer() -> what else the answer
    names, computed when it is asked for.
    """
    with st.container(border=True):
        question = rich(lesson.predict, **values)
        lead = f"<b>{words.html('lesson.predict')}</b>"
        html.show(f"<p>{joined(lead, question)}</p>")
        box = st.expander(text("lesson.reveal"), key="reveal", on_change="rerun")
        if box.open:
            box.html(html.paragraphs(rich(lesson.reveal, **values, **answer())))
