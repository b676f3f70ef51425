"""Who wrote it: the score of one token as the sum of what the embedding, every head and every MLP
wrote into the stream.
"""

from functools import reduce

import streamlit as st

from core.analyse import attribution, source, through
from core.analyse.attribution import AVERAGE
from core.analyse.panel import magnitude
from pages import canvas
from pages.parts import (
    charts,
    doors,
    explanation,
    html,
    lesson,
    listing,
    panels,
    run,
    session,
    views,
    walk,
    words,
)
from pages.parts.html import Token, number
from pages.parts.words import text
from pages.views.lens import aim, running
from viz.matrix import matrix

HERE = "lens.parts"
FIRST = 10  # parts that are listed
TALLEST = 340  # pixels of the cells of the picture


def view(trace, position: int) -> views.Shown:
    """The parts of the chosen token's score after the chosen position."""
    asked = aim.chosen(trace, position)
    found = run.compute(_found, trace, asked, position)
    return views.Shown(
        lambda: _draw(trace, position, asked, found),
        aim.tokens(trace, asked) | {"score": number(found.recorded, 2)},
        lambda: run.compute(_answer, trace, asked, position),
        source.joined(
            source.of(attribution.attribution, attribution.direction, attribution.through_norm),
            source.of(through.through),
        ),
        lambda: _arrays(found),
    )


def _found(trace, asked, position):
    return attribution.attribution(trace, asked.token, asked.against, position)


def _answer(trace, asked, position):
    """The largest part of the logit, what it adds to the average token, and the largest part above
    the average.
    """
    alone = attribution.attribution(trace, asked.token, None, position)
    above = attribution.attribution(trace, asked.token, AVERAGE, position)
    (first,), (first_above,) = alone.largest(1), above.largest(1)
    left = above.parts[alone.parts.index(first)].value
    return {
        "part": html.Made(_name(first)),
        "value": number(first.value, 2),
        "common": number(first.value - left, 2),
        "left": number(left, 2),
        "above": html.Made(_name(first_above)),
        "value_above": number(first_above.value, 2),
    }


def _arrays(found):
    single = {name: [getattr(found, name)] for name in ("embedding", "norm", "recorded", "divisor")}
    ids = {"token": found.token, "against": str(found.against)}
    return {"heads": found.heads, "biases": found.biases, "mlps": found.mlps, **single, **ids}


# ---- the parts by number and by name -------------------------------------------------------------


def _chosen(found):
    """The number of the part that is explained: the one that was clicked, else the largest head."""
    cell = session.below("cell", len(found.parts))
    if cell is not None:
        return cell
    return found.parts.index(found.largest_head())


def _choose(found, part):
    session.put(cell=found.parts.index(part))


def _name(part) -> str:
    """What a part is called, as HTML."""
    return words.html(f"{HERE}.name_{part.kind}", layer=part.layer, head=part.head)


def _label(part) -> str:
    """The same at the beginning of a line."""
    return words.html(f"{HERE}.label_{part.kind}", layer=part.layer, head=part.head)


# ---- figures -------------------------------------------------------------------------------------


def _draw(trace, position, asked, found):
    aim.controls(trace, position, "parts")
    chosen = found.parts[_chosen(found)]
    running.show(trace, asked, found, chosen, lambda part: _choose(found, part))
    _check(trace, position, asked, found)
    _picture(trace, found, chosen)
    with st.container(key="parts_pair"):
        left, right = st.columns([3, 2], gap="medium")
    with left:
        _largest(trace, asked, found, chosen)
    with right:
        _explained(trace, position, asked, found, chosen)
    _doors(position, asked, chosen)


def _check(trace, position, asked, found):
    """The sum of all parts beside the record."""
    c = trace.config
    there = {"biases": "attn_out" in c.biases, "norm": bool(found.norm)}
    parts = {kind: value for kind, value in found.sums.items() if there.get(kind, True)}
    sizes = {"n_heads": f"{found.heads.size:,}", "n_layers": c.n_layers}
    lines = [(words.html(f"{HERE}.sum_{key}", **sizes), number(v)) for key, v in parts.items()]
    lines.append((words.html(f"{HERE}.sum_all"), number(found.total)))
    recorded = words.html(f"{HERE}.recorded", score=aim.named(trace, asked))
    lines.append((f"<b>{recorded}</b>", f"<b>{number(found.recorded)}</b>"))
    said = [words.html(f"{HERE}.fixed", divisor=number(found.divisor))]
    if c.norm_place != "before":
        said.append(words.html(f"{HERE}.behind"))
    if c.logit_softcap:
        capped = number(float(trace.logits(position)[asked.token]))
        said.append(words.html(f"{HERE}.capped", cap=f"{c.logit_softcap:g}", capped=capped))
    explanation.agreed(found.agreement, lines, reduce(lesson.joined, said))


def _picture(trace, found, chosen):
    """Every head and every MLP as a cell: layers from left to right."""
    words.heading(f"{HERE}.picture")
    values = found.picture
    limit = magnitude(values)
    words.caption(f"{HERE}.picture_caption", limit=number(limit, 2))
    n_heads, n_layers = found.heads.shape[1], len(values[0])
    rows = [text(f"{HERE}.row_head", head=head) for head in range(n_heads)]
    rows.append(text(f"{HERE}.row_mlp"))
    named = text("matrix.aria", name=text(f"{HERE}.picture"), rows=len(rows), columns=n_layers)
    labels = panels.cell_labels(named)
    labels |= {key: text(f"{HERE}.cell") for key in ("tooltip", "selected")}
    payload = matrix(
        values,
        rows=rows,
        columns=[str(layer) for layer in range(n_layers)],
        row_title=text(f"{HERE}.part"),
        column_title=text(f"{HERE}.layer"),
        palette="signed",
        limit=limit,
        selected=_cell_of(chosen, n_heads),
        labels=labels,
        name="parts",
        height=TALLEST,
        indent=panels.INDENT,
    )

    def on_cell():
        row, layer = st.session_state["parts_picture"]["cell"]
        kind, head = ("mlp", None) if row == n_heads else ("head", row)
        _choose(found, found.part(kind, layer, head))

    canvas.matrix(payload, key="parts_picture", on_cell=on_cell)


def _cell_of(part, n_heads):
    if part.kind not in ("head", "mlp"):
        return None
    return (n_heads if part.kind == "mlp" else part.head), part.layer


def _largest(trace, asked, found, chosen):
    """The largest parts as a list; all of them as a file."""
    listed = found.largest(FIRST)
    if chosen not in listed:
        listed.append(chosen)
    words.heading(f"{HERE}.largest", n=FIRST)
    most = abs(listed[0].value) or 1.0
    rows = [
        [_label(part), listing.short(part.value, 3), listing.bar(part.value, most, 7)]
        for part in listed
    ]
    numbers = [found.parts.index(part) for part in listed]
    head = [words.html(f"{HERE}.part"), words.html(f"{HERE}.adds"), ""]
    here = found.parts.index(chosen)
    listing.show("part", head, rows, numbers, here, text(f"{HERE}.largest", n=FIRST))
    listing.listen("part", lambda n: session.put(cell=n))
    saved = [(part.kind, part.layer, part.head, part.value) for part in found.parts]
    head, what = ("part", "layer", "head", "added"), text(f"{HERE}.saved")
    charts.save("who_wrote_it", head, saved, what)


# ---- one part ------------------------------------------------------------------------------------


def _explained(trace, position, asked, found, part):
    """One part in words, and the way to what shows more of it."""
    values = {"layer": part.layer, "head": part.head, "value": number(abs(part.value), 3)}
    values |= {"score": aim.named(trace, asked), "token": Token(trace.tokens[position])}
    sign = "lowers" if part.value < 0 else "raises"
    with st.container(border=True, key="parts_one"):
        words.heading(f"{HERE}.label_{part.kind}", layer=part.layer, head=part.head)
        said = [words.html(f"{HERE}.{sign}", **values)]
        if part.kind == "head":
            way = run.compute(through.through, trace, position)
            key, weight = way.looked_at(part.layer, part.head)
            looked = {"key": Token(trace.tokens[key]), "at": key, "weight": f"{weight:.3f}"}
            said.append(words.html(f"{HERE}.looks", **looked, **values))
        said.append(words.html(f"{HERE}.about_{part.kind}"))
        html.show(html.paragraphs("\n\n".join(said)))
        _door(asked, position, part)


def _door(asked, position, part):
    """A button to the page that shows more of a part, where one does."""

    def go():
        if part.kind == "mlp":
            views.go("lens", "parts", "neurons")
            return session.put(at=part.layer, kind=asked.stored)
        if part.kind == "embedding":
            return walk.to_page("embedding", pos=position)
        place = {"at_layer": part.layer, "at_head": part.head, "pos": position}
        walk.to_page("atlas", op="effect", target=asked.token, **place)

    if part.kind in ("head", "mlp", "embedding"):
        label = text(f"{HERE}.to_{part.kind}", layer=part.layer, head=part.head)
        st.button(label, key="open_part", on_click=go)


def _doors(position, asked, part):
    """To the other views of this token, of the chosen head where one is."""
    place = {"pos": position, "target": asked.token}
    if part.kind == "head":
        place |= {"at_layer": part.layer, "at_head": part.head}
    doors.show(HERE, "lens.neurons", "atlas.effect", "lens.layers", **place)
