"""One head from noise to structure: its attention map or its weights at every moment of a training,
and at the chosen one large. Knows canvas, viz and words; what was measured is given.
"""

import streamlit as st

from core.analyse import learning
from core.analyse.panel import magnitude
from pages import canvas
from pages.parts import html, journey, panels, run, session, training, words
from pages.parts.words import text
from viz.matrix import matrix

MAPS, WEIGHTS = ("repeat", "own"), ("attn_q", "attn_k")
SMALL, LARGE, BESIDE = 150, 430, 3  # pixels in height; small pictures in a row


def show(story, at: int, trace) -> None:
    """The controls, the chosen moment large, all of them small."""
    html.show(f'<p class="tw-panel-name">{words.html("learning.inside")}</p>')
    with st.container(key="stage_pick"):
        left, right = st.columns([1, 1.25], gap="medium")
    with left:
        layer, head = _pick_head(story, trace.config)
    with right:
        shown = _pick_view()
    pictures = _pictures(story, shown, layer, head)
    draw = _drawing(shown, trace, layer, head, magnitude(pictures))
    with st.container(key="stage_inner"):
        left, right = st.columns([1, 1.25], gap="medium")
    with left:
        _titled(story.moments[at])
        canvas.matrix(draw(pictures[at], "large"), key="inner_large")
        values = {"step": story.moments[at].step, "layer": layer, "head": head}
        html.show(f'<p class="tw-caption">{words.html(f"learning.about_{shown}", **values)}</p>')
        _door(layer, head)
    with right:
        for first in range(0, len(pictures), BESIDE):
            for n, column in enumerate(st.columns(BESIDE)[: len(pictures) - first], first):
                with column:
                    _titled(story.moments[n], n == at)
                    canvas.matrix(draw(pictures[n], "small"), key=f"inner_{n}")


def _titled(told, here: bool = False):
    """The step above a picture; the chosen one is set apart."""
    mark = ' here" aria-current="true' if here else ""
    title = words.html("learning.step", step=told.step)
    html.show(f'<p class="tw-panel-name tw-moment{mark}">{title}</p>')


def _pick_head(story, config):
    """The head to look into: the chosen one, else the best induction head of the trained model."""
    heads = [(layer, head) for layer in range(config.n_layers) for head in range(config.n_heads)]
    last = story.moments[-1].skill
    if (session.get("cell") or 0) >= len(heads):
        session.settle(cell=None)
    chosen = session.get("cell")
    if chosen is None:
        chosen = heads.index(learning.best(last.induction)[1:])

    def picked():
        session.put(cell=st.session_state["inner_head"])

    st.session_state["inner_head"] = chosen
    st.selectbox(
        text("learning.pick_head"),
        range(len(heads)),
        format_func=[_scored(last, *place) for place in heads].__getitem__,
        key="inner_head",
        on_change=picked,
    )
    return heads[chosen]


def _scored(skill, layer, head):
    """A head in words, with its scores."""
    scores = {name: f"{getattr(skill, name)[layer, head]:.2f}" for name in training.SKILLS}
    return text("learning.head_scores", name=training.head_name(layer, head), **scores)


def _pick_view():
    """What of the head is shown: where it looks, or its weights."""
    return st.segmented_control(
        text("learning.pick_view"),
        MAPS + WEIGHTS,
        default=MAPS[0],
        required=True,
        format_func=lambda name: text(f"learning.view_{name}"),
        key="inner_view",
    )


def _pictures(story, shown, layer, head):
    """[moment, row, column], all cells."""
    paths = [told.checkpoint.path for told in story.moments]
    if shown in WEIGHTS:
        return run.compute(learning.head_weights, paths, shown, layer, head)
    spec = run.compute(learning.repeated, paths[0]) if shown == "repeat" else run.spec()
    return run.compute(learning.attention_maps, paths, spec, layer, head)


def _drawing(shown, trace, layer, head, limit):
    """A function from a picture and its size to a payload: all on one scale."""
    options = _weights(trace, shown, head, limit) if shown in WEIGHTS else _map(trace, shown)
    options["name"] = f"{shown}_{layer}_{head}"
    aria = {"aria": text("learning.inner_aria", layer=layer, head=head)}
    options["labels"] = words.table("matrix", *panels.LABELS) | aria

    def draw(values, size):
        if size == "large":
            return matrix(values, **options, height=LARGE)
        blank = {"rows": [""] * len(values), "columns": None, "marks": ()}
        own = {"lens": False, "saves": False, "indent": 4, "height": SMALL}
        return matrix(values, **options | blank | own)

    return draw


def _map(trace, shown):
    """How a map is drawn; outlined is where an induction head looks in a text said twice."""
    display, ids = trace.model.tokenizer.display, trace.ids
    if shown == "repeat":
        ids = learning.repeats(trace.model)[0]
    names = [display(id) for id in ids]
    return {
        "rows": names,
        "columns": names,
        "row_title": text("axes.query"),
        "column_title": text("axes.key"),
        "palette": "amount",
        "limit": 1.0,
        "causal": True,
        "marks": _outlined(len(ids)) if shown == "repeat" else (),
    }


def _outlined(n):
    """Parts of a map of two copies: the rows of the second, then where an induction head looks."""
    cells = learning.induction_cells(n)
    first = cells[0][0]
    return [(first, 0, n, n), *((query, key, query + 1, key + 1) for query, key in cells)]


def _weights(trace, shown, head, limit):
    """How the rows of a weight matrix that belong to a head are drawn."""
    first, stop = learning.head_rows(trace.config, shown, head)
    return {
        "rows": [str(row) for row in range(first, stop)],
        "row_title": text("axes.out"),
        "column_title": text("axes.embedding"),
        "palette": "signed",
        "limit": limit,
        "first_row": first,
    }


def _door(layer, head):
    """To the same head of the whole model, on the block page."""
    if st.button(text("learning.open_block"), key="open_block", type="tertiary"):
        journey.go("block", op="attn.weights", at_layer=layer, at_head=head, together=True)
