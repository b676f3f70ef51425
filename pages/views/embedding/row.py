"""One token's row: looked up, in its table, in the file, and its length among all rows. Where the
model changes the row before the first block, these steps too.
"""

from dataclasses import replace

import streamlit as st

from core.analyse import explain, follow, rows, source
from core.analyse.sizes import is_nano
from core.analyse.view import step_view
from core.files import place
from core.record.catalogue import Op
from pages.parts import (
    charts,
    explanation,
    html,
    lesson,
    panels,
    run,
    session,
    strip,
    terms,
    trail,
    walk,
    words,
)
from pages.parts.html import Token, number
from pages.parts.views import Shown
from pages.parts.words import text

HERE = "embedding.row"
LINE = 16  # bytes in a line
FEW = 12  # positions of an equal row that are named


def view(trace, position: int) -> Shown:
    """The row of the chosen token, and one number of it."""
    looked_up = run.compute(step_view, trace, "embed", None, 0, position, walk.column("embed"))
    walk.settle(looked_up)
    values = {"id": trace.ids[position], "column": looked_up.index[-1]}
    values |= lesson.sizes(trace) | lesson.token_values(trace, position)

    def draw():
        _row(trace, position, looked_up, values)
        _table(trace, position, values)
        _file(trace, position, values)
        _length(trace, position, values)
        _further(trace, position, values)

    return Shown(draw, values, lambda: _answer(trace, position), _code(trace.catalogue.op("embed")))


def _code(op: Op):
    """The lookup, and what makes numbers of bytes."""
    return source.joined(op, source.of(place.read_row, place.stored, place.take_apart))


def _answer(trace, position):
    return {"n_same": run.compute(rows.n_entering, trace, position)}


# ---- looked up, and in its table -----------------------------------------------------------------


def _row(trace, position, looked_up, values):
    """The tokens, and the rows that they picked."""
    trail.show(_place(trace, position, values["column"]), trace)
    strip.show(trace, position, key="row_tokens")
    html.show(f"<p>{words.html(f'{HERE}.chosen', **values)}</p>")
    on_cell = walk.chosen("row_embed", "embed", looked_up.output)
    panels.show(looked_up.output, trace, key="row_embed", on_cell=on_cell)
    if others := run.compute(rows.again, trace, position):
        where = ", ".join(map(str, others[:FEW])) + (" …" if len(others) > FEW else "")
        words.caption(f"{HERE}.again", token=values["token"], positions=where)


def _place(trace, position, column):
    """Where the chosen number of the row stands."""
    stands = follow.place(trace.config, "embed", None, (position, column))
    return replace(stands, page="embedding", step=None)


def _table(trace, position, values):
    """The row among all rows; where these had to be put together, among its neighbours too, and
    folded away at first.
    """
    whole = run.compute(rows.table, trace.model, trace.ids[position], values["column"])
    fits = whole.block == (1, 1)
    label = text(f"{HERE}.table", vocab=values["vocab"])
    with st.expander(label, expanded=fits, key="row_in_table"):
        words.caption(f"{HERE}.table_{'whole' if fits else 'reduced'}", **values)
        if is_nano(trace.model):
            words.caption(f"{HERE}.table_nano")
        if not fits:
            near = rows.around(trace.model, trace.ids[position], values["column"])
            panels.show(near, trace, key="row_around", on_cell=_same_row("row_around", near))
        on_cell = _same_row("row_table", whole) if fits else None
        panels.show(whole, trace, key="row_table", on_cell=on_cell)


def _same_row(key, panel):
    """A callback: the column of a cell of the table becomes the chosen number of the row."""
    axis = 1 if panel.columns == "embedding" else 0  # a wide table lies on its side
    return lambda: session.put(cell=st.session_state[key]["cell"][axis], cell_axis="embedding")


# ---- in the file ---------------------------------------------------------------------------------


def _file(trace, position, values):
    """Where the row lies, the bytes that are there now, and what they say."""
    found = run.compute(rows.from_file, trace, position, values["column"])
    here, id = trace.model.source.embed, trace.ids[position]
    words.heading(f"{HERE}.file", **values)
    facts = [[words.html(f"{HERE}.{name}"), shown] for name, shown in _facts(here, id)]
    html.show(html.table([], facts, "left tw-facts"))
    kind = ("library", "float", "scaled")[len(found.stored.spans)]
    words.caption(f"{HERE}.bytes_{kind}", **values, dtype=here.dtype)
    html.show(_dump(found.stored, text(f"{HERE}.file", column=values["column"])))
    html.show(_sums(found, here, values, kind))


def _facts(here, id):
    """(what, value as HTML) of the place of a row."""
    sizes = {"rows": f"{here.shape[0]:,}", "width": here.shape[1], "dtype": here.dtype}
    sizes |= {"per_block": here.per_block, "block_bytes": here.block_bytes}
    sizes |= {"row_bytes": here.row_bytes, "offset": f"{here.offset:,}", "id": id}
    each = "type_blocks" if here.per_block > 1 else "type_each"
    yield "file_name", html.rich("`[[name]]`", name=here.path.name)
    yield "tensor", html.rich("`[[name]]` · [[rows]] × [[width]]", name=here.tensor, **sizes)
    yield "type", words.html(f"{HERE}.{each}", **sizes)
    blocks = "[[width]] ÷ [[per_block]]" if here.per_block > 1 else "[[width]]"
    yield "row_bytes", html.rich(f"{blocks} × [[block_bytes]] = [[row_bytes]]", **sizes)
    yield "table_offset", f"{here.offset:,}"
    at = f"<b>{here.row_offset(id):,}</b>"
    yield "row_offset", html.rich("[[offset]] + [[id]] × [[row_bytes]] = ", **sizes) + at


def _dump(stored, label):
    """Bytes as lines, each with its place in the file; those that make the number stand out."""
    kinds = {}
    for kind, (first, stop) in zip(("own", "scale"), stored.spans[::-1], strict=False):
        kinds |= dict.fromkeys(range(first, stop), kind)
    cells = [f'<b class="{kinds.get(i, "")}">{byte:02X}</b>' for i, byte in enumerate(stored.raw)]
    lines = [
        f"<span>{stored.offset + at:,}</span>{''.join(cells[at : at + LINE])}"
        for at in range(0, len(cells), LINE)
    ]
    return html.scroll("".join(f"<div>{line}</div>" for line in lines), label, "tw-hex")


def _sums(found, here, values, kind):
    """From the bytes to the number, beside the one of the run."""
    own = [found.stored.raw[first:stop].hex(" ").upper() for first, stop in found.stored.spans]
    names = {"scaled": ("scale", "whole")}.get(kind, (kind,))
    lines = []
    for n, name in enumerate(names):
        said = {"bytes": own[n] if own else "", "dtype": here.dtype, "column": values["column"]}
        left = words.html(f"{HERE}.sum_{name}", **said)
        lines.append((left, _exact(found.stored.parts[n])))
    if len(names) > 1:
        lines.append((words.html(f"{HERE}.product"), _exact(found.stored.value)))
    recorded = words.html("explain.recorded")
    lines.append((f"<b>{recorded}</b>", f"<b>{_exact(found.recorded)}</b>"))
    return explanation.sums(lines, explanation.verdict(found.equal, found.difference, 0.0))


def _exact(value):
    """As many digits as tell any two float32 apart."""
    return f"{value:.9g}".replace("-", "−")


# ---- its length ----------------------------------------------------------------------------------


def _length(trace, position, values):
    """The length of the row on the histogram of all lengths, with the two ends by name."""
    seen = run.compute(rows.among, trace.model, trace.ids[position])
    norms, display = rows.norms(trace.model), trace.model.tokenizer.display
    words.heading(f"{HERE}.length", **values)
    ends = {"shortest": Token(display(seen.shortest)), "longest": Token(display(seen.longest))}
    n_shorter = f"{seen.n_shorter:,}"
    words.caption(
        f"{HERE}.length_caption", length=number(seen.length), n_shorter=n_shorter, **ends, **values
    )
    ids = dict.fromkeys((seen.shortest, trace.ids[position], seen.longest))
    charts.spread(
        seen.counts,
        seen.edges,
        name="row_lengths",
        role_name="residual",
        title=text(f"{HERE}.length_axis"),
        count_title=text(f"{HERE}.count_axis"),
        marks=[(float(norms[id]), display(id)) for id in ids],
        alt=text(f"{HERE}.length_alt", length=number(seen.length)),
    )


# ---- what comes before the first block -----------------------------------------------------------


def _further(trace, position, values):
    """The steps that change the row before the first block, where the model has some."""
    for op in list(trace.catalogue.before)[1:]:
        step = run.compute(step_view, trace, op, None, 0, position, values["column"])
        entry = trace.catalogue.op(op)
        this = words.op(entry)
        title, gist = html.rich(this.title), html.rich(this.gist)
        html.show(f'<p class="tw-panel-name">{title}</p><p class="tw-caption">{gist}</p>')
        panels.show(step.output, trace, key=f"row_{op}")
        terms.show_parts(step.inputs + step.weights, trace, op)
        with st.container(border=True):
            explained = run.compute(explain, trace, op, None, step.index)
            explanation.show(explained, trace, crumbs=False)
        with st.expander(text("output.about_step", name=this.title)):
            lesson.tabs(this, lesson.sizes(trace), entry)
            lesson.look(this, **values)
