"""All layers at once: how long the rows of the stream are, what each layer adds to them, and how
long it took.
"""

import streamlit as st

from core.analyse import source, stream, vectors
from core.analyse.work import layer_seconds
from core.model import forward
from pages import canvas
from pages.parts import charts, html, lesson, panels, run, session, strip, walk, words
from pages.parts.html import Token, number
from pages.parts.words import text
from pages.parts.work import seconds
from pages.views.block import jump
from pages.views.block.jump import length
from viz.matrix import matrix

HERE = "block.layers"
TALLEST = 430  # pixels of the cells of the matrix
COLUMNS = ("layer", "parts", "attention", "mlp", "update", "cosine", "mean", "time", "took")
SAVED = ("layer", "length_before", "length_after", "attention", "mlp", "update")
SAVED += ("attention_share", "cosine", "mean_cosine", "attention_seconds", "mlp_seconds")


def show(trace, layer: int, position: int) -> None:
    """The view, below the page's title."""
    tags = frozenset().union(*(op.tags for op in trace.catalogue.blocks[layer].values()))
    this = words.view("block", "layers", tags)
    found = run.compute(stream.stream, trace)
    numbers = lesson.sizes(trace, layer)
    values = numbers | lesson.token_values(trace, position)
    gist = html.rich(this.gist, **values)
    html.show(f'<p class="tw-gist">{lesson.joined(f"<b>{html.rich(this.title)}</b>", gist)}</p>')
    with st.container(key="stage_layers"):
        left, right = st.columns([1, 2], gap="medium")
    with left:
        lesson.tabs(this, numbers, _code())
        lesson.look(this, "wide", **values)
        lesson.predict(this, values, lambda: _answer(found, position))
    with right:
        lesson.look(this, "narrow", **values)
        strip.show(trace, position, key="layers_tokens")
        _lengths(trace, found, layer, position)
        jump.show(trace)
        _each(trace, found, layer, position)
    with st.bottom:
        _bar(trace, layer)


def _code():
    """What adds to the stream, and what measured it."""
    rules = source.of(vectors.length, vectors.cosine, vectors.quotient)
    return source.joined(source.of(forward.block), source.of(stream.measured), rules)


def _answer(found, position):
    """In how many layers the MLP adds more, and how much each adds in the mean."""
    attention, mlp = found.attention[:, position], found.mlp[:, position]
    return {
        "n_mlp": int((mlp > attention).sum()),
        "mean_attention": length(attention.mean()),
        "mean_mlp": length(mlp.mean()),
    }


def _bar(trace, layer):
    """The layer, by buttons and by keys; the only step is this view, behind it comes the output."""
    first, steps = [*trace.catalogue.after][0], [text("block.way_layers")]

    def moved():
        move = st.session_state["walk_layers"]["move"]
        session.put(at_layer=move["layer"])
        if move["op"] is None:
            walk.to_page("output", op=first)

    data = {"steps": steps, "step": 0, "layer": layer, "n_layers": trace.config.n_layers}
    walk.bar(data | {"beyond": words.short(first)}, "walk_layers", moved)


# ---- the stream, layer by layer ------------------------------------------------------------------


def _lengths(trace, found, layer, position):
    """The length of every row of the stream, before the first layer and after each."""
    words.heading(f"{HERE}.lengths")
    words.caption(f"{HERE}.lengths_caption")

    def on_cell():
        row, column = st.session_state["stream_norms"]["cell"]
        session.put(at_layer=max(row - 1, 0), pos=column)

    n_rows, n_columns = found.norms.shape
    aria = text("matrix.aria", name=text(f"{HERE}.lengths"), rows=n_rows, columns=n_columns)
    least, most = float(found.norms.min()), float(found.norms.max())
    payload = matrix(
        found.norms,
        rows=[text(f"{HERE}.input"), *map(str, range(n_rows - 1))],
        columns=list(trace.tokens),
        row_title=text(f"{HERE}.after_layer"),
        column_title=text("axes.seq"),
        palette="amount",
        limit=most,
        low=least if 0 < least < most else None,
        selected=(layer + 1, position),
        labels=words.table("matrix", *panels.LABELS) | {"aria": aria},
        name="stream_norms",
        height=TALLEST,
        indent=panels.INDENT,
        square=False,
    )
    canvas.matrix(payload, key="stream_norms", on_cell=on_cell)


def _each(trace, found, layer, position):
    """What each layer adds to one token, how far it turns it, and how long it took."""
    took = layer_seconds(trace)
    words.heading(f"{HERE}.each", token=Token(trace.tokens[position]), position=position)
    words.caption(f"{HERE}.each_caption")
    slowest = float(took.sum(axis=1).max())
    rows = [_row(found, took, slowest, n, position) for n in range(len(took))]
    head = [words.html(f"{HERE}.{name}") for name in COLUMNS]
    marks = [_mark(n, n == layer) for n in range(len(took))]
    table = html.table(head, rows, "tw-layers", marks)
    html.show(html.scroll(table, text(f"{HERE}.each_aria")))
    canvas.rows("layer_rows", lambda n: session.put(at_layer=n), "layer")
    whole = {"whole": seconds(trace.seconds), "blocks": seconds(float(took.sum()))}
    words.caption(f"{HERE}.time_caption", **whole)
    _doors(found, took, layer, position)


def _doors(found, took, layer, position):
    """The chosen layer step by step; the table as a file."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            text(f"{HERE}.open", layer=layer),
            key="open_layer",
            on_click=session.put,
            kwargs={"walk": session.WALKS[0], "op": "resid_pre", "cell": None},
        )
        saved = [_saved(found, took, n, position) for n in range(len(took))]
        charts.save("layers", SAVED, saved)


def _mark(layer, here):
    """What makes a row clickable, with the chosen one marked."""
    chosen = ' class="tw-here" aria-current="true"' if here else ""
    return f' data-layer="{layer}" tabindex="0"{chosen}'


def _row(found, took, slowest, layer, position):
    """One layer as cells, in the order of COLUMNS."""
    at = layer, position
    attention, mlp = float(found.attention[at]), float(found.mlp[at])
    spent = took[layer].tolist()
    return [
        str(layer),
        _halves(attention, mlp, attention + mlp),
        length(attention),
        length(mlp),
        length(found.update[at]),
        _part(float(found.cosine[at])),
        _rounded(float(found.cosine[layer].mean())),
        _halves(*spent, slowest),
        seconds(sum(spent)),
    ]


def _saved(found, took, layer, position):
    """One layer as numbers, in the order of SAVED."""
    at = layer, position
    parts = (found.attention, found.mlp, found.update, found.share, found.cosine)
    norms = found.norms[layer : layer + 2, position].tolist()
    mean = float(found.cosine[layer].mean())
    return layer, *norms, *(float(part[at]) for part in parts), mean, *took[layer].tolist()


def _halves(attention, mlp, whole):
    """Two parts of a bar side by side: attention full, the MLP hatched."""
    parts = (("attention", attention), ("mlp", mlp))
    inside = "".join(
        f'<i class="{name}" style="width:{100 * value / (whole or 1):.1f}%"></i>'
        for name, value in parts
    )
    return f'<span class="tw-halves" aria-hidden="true">{inside}</span>'


def _part(cosine):
    """A cosine with a bar up to 1; a negative one has a bar of the other colour."""
    sign = " negative" if cosine < 0 else ""
    width = min(abs(cosine), 1) if cosine == cosine else 0
    bar = f'<i class="tw-bar{sign}" style="width:{width:.1%}"></i>'
    return f'<span class="tw-cosine" aria-hidden="true">{bar}</span>{_rounded(cosine)}'


def _rounded(cosine):
    """A cosine with two decimals: one near 0 reads 0.00 and has no exponent."""
    return number(round(cosine, 2), 2)
