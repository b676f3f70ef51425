"""The stream where a block begins: what it is made of; before the first block, the row of the table
and what is done to it. Shows what core's writing says; computes nothing itself.
"""

from core.analyse import writing
from pages.parts import charts, explanation, html, run, terms, walk, words
from pages.parts.html import Token, number, percent
from pages.parts.words import text
from pages.views.block import each, residual, whole

HERE, HEADS = "block.stream", ("length", "share")


def draw(step) -> None:
    """The figures of an op that makes or hands on the stream."""
    BY_KIND[step.op.kind](step)


# ---- looked up -----------------------------------------------------------------------------------


def _row(step):
    """The row of the table with the number of the token's id."""
    whole.output(step)
    if step.together:
        return
    whole.parts(step)
    found = run.compute(writing.looked_up, step.trace, step.position)
    token = Token(step.trace.tokens[step.position])
    words.caption(f"{HERE}.row", token=token, id=found.id, length=number(found.length, 3))
    said = words.html(f"{HERE}.row_checked", n_equal=found.n_equal, n=found.n)
    explanation.agreed(found.agreement, said=said)


def _times(step):
    """Every number times one constant."""
    if step.together:
        return whole.output(step)
    for n, panel in enumerate((*step.view.inputs, step.view.output)):
        key = f"times_{step.id}_{n}"
        on_cell = walk.chosen(key, step.id, step.view.output)
        whole.show(step, panel, key=key, on_cell=on_cell)
    before, after = run.compute(writing.scaled, step.trace, step.id, step.position)
    (factor,) = step.trace.constants(step.id)
    values = {"before": number(before, 3), "after": number(after, 3), "factor": f"{factor:.6g}"}
    words.caption(f"{HERE}.times", **values)


# ---- what the stream is made of ------------------------------------------------------------------


def _copy(step):
    """What has been added up before this layer."""
    whole.output(step)
    if step.layer == 0:
        words.caption(f"{HERE}.first")
        whole.parts(step)
    elif step.together:
        _each(step)
    else:
        _parts(step)


def _parts(step):
    """The embedding and what each earlier layer added: how long, and how far along the stream."""
    parts = run.compute(writing.parts, step.trace, step.layer, step.position)
    words.heading(f"{HERE}.parts", token=Token(step.trace.tokens[step.position]))
    words.caption(f"{HERE}.parts_caption")
    longest = max(part.length for part in parts) or 1.0
    widest = max(abs(part.share) for part in parts) or 1.0
    head = [words.html(f"{HERE}.from"), "", *(words.html(f"{HERE}.{key}") for key in HEADS)]
    rows = [_line(part, longest, widest) for part in parts]
    shown = html.table(head, rows, "mono tw-rows tw-parts")
    html.show(html.scroll(shown, text(f"{HERE}.parts_label"), "tw-rows-box"))
    data = [("" if p.layer is None else p.layer, p.length, p.share) for p in parts]
    charts.save(step.file("stream"), ("layer", *HEADS), data)
    _most(parts)
    _again(step)


def _line(part, longest, widest):
    """One part: whose, how long, and its share."""
    share = f'<span class="tw-nowrap">{terms.bar(part.share, widest)} {percent(part.share)}</span>'
    bar = each.long_bar(part.length, longest, "residual")
    return [_name(part.layer), bar, number(part.length, 2), share]


def _name(layer):
    if layer is None:
        return words.html(f"{HERE}.embedding")
    return words.html("explain.layer", layer=layer)


def _most(parts):
    """All shares together, and the largest of them."""
    most = max(parts, key=lambda part: part.share)
    key = "most_start" if most.layer is None else "most_layer"
    total = percent(sum(part.share for part in parts))
    words.caption(f"{HERE}.{key}", layer=most.layer, share=percent(most.share), total=total)


def _again(step):
    """The last of these layers, run again: its two parts, beside the two recorded streams."""
    found = run.compute(writing.again, step.trace, step.layer - 1, step.position)
    values = {"layer": found.layer}
    values |= {"attention": number(found.attention, 2), "mlp": number(found.mlp, 2)}
    explanation.agreed(found.agreement, said=words.html(f"{HERE}.again", **values))


def _each(step):
    """How long the stream of every token was at the start, and is here."""
    found = run.compute(writing.grown, step.trace, step.layer)
    columns = {"start": found.start, "here": found.here, "kept": found.kept}
    each.table(step, "stream", columns, bars=("here",))


BY_KIND = {"row": _row, "times": _times, "position": residual.draw, "copy": _copy}
