"""A norm: what it measures in the row of a token, the row at its standard size, the weight, the
result. Shows what core's norming says; computes nothing itself.
"""

import functools

import streamlit as st

from core.analyse import norming
from core.analyse.view import place_of_output
from pages import canvas
from pages.parts import explanation, html, lesson, panels, run, session, terms, walk, words
from pages.parts.html import number, percent
from pages.views.block import each, whole

HERE = "block.norm"
FEW = 3  # numbers with the largest squares
HALF = 0.5  # of the mean square: a number with more decides the scale alone


def draw(step) -> None:
    """The figures of a norm."""
    if step.together:
        whole.output(step)
        _each(step)
        return
    place = (step.trace, step.id, step.layer, step.view.index)
    row, own = run.compute(norming.of_cell, *place)
    _measured(row)
    _largest(step, row)
    _strips(step, row)
    _checked(row, own)


# ---- what is measured ----------------------------------------------------------------------------


def _measured(row):
    """From the squares to the scale, and the size of the row before, between and after."""
    words.heading(f"{HERE}.measured", n=len(row.before))
    facts = [
        [words.html(f"{HERE}.{key}", **said), number(float(value))]
        for key, said, value in _facts(row)
    ]
    html.show(html.table([], facts, "tw-norm"))


def _facts(row):
    n, layer = {"n": len(row.before)}, row.bias is not None
    if layer:
        yield "mean", n, row.mean
    yield "variance" if layer else "mean_square", n, row.mean_square
    yield "deviation" if layer else "root", {}, row.root
    yield "scale", {"eps": f"{row.eps:g}"}, row.scale
    yield "standard_root", {}, row.standard_root
    yield "after_bias" if layer else "after_weight", {}, row.after_root


def _largest(step, row):
    """Which squares make up the mean square, and whether one of them decides the scale."""
    found = norming.largest_squares(row, FEW)
    if not found:
        return
    parts = [(_name(step, part.number), part.share) for part in found]
    others = words.html(f"{HERE}.rest", n=len(row.before) - len(found))
    lead = words.html(f"{HERE}.squares{'' if row.bias is None else '_centred'}")
    said = functools.reduce(lesson.joined, _sentences(step, row, found[0]))
    shown = _stacked([*parts, (others, norming.rest(found))])
    html.show(f'<p class="tw-caption">{lead}</p>{shown}<p class="tw-caption">{said}</p>')


def _sentences(step, row, first):
    """What the largest square is, and what would be without it."""
    values = {"number": _name(step, first.number), "share": percent(first.share)}
    yield words.html(f"{HERE}.{'alone' if first.share > HALF else 'several'}", **values)
    if row.bias is None:
        factor = number(first.factor, 2)
        yield words.html(f"{HERE}.without", number=values["number"], factor=factor)


def _stacked(parts):
    """Shares of 1 as one bar, with their names and numbers below it."""
    drawn = "".join(f'<i style="width:{share:.2%}"></i>' for _, share in parts)
    named = " · ".join(f"<b>{name}</b> {percent(share)}" for name, share in parts)
    bar = f'<div class="tw-stacked" aria-hidden="true">{drawn}</div>'
    return f'{bar}<p class="tw-caption">{named}</p>'


def _name(step, at):
    """Which number of the row; where all heads are one row, as the list of terms names it: its
    head, which of that, and which of all.
    """
    if step.op.kind != "norm_all_heads":
        return str(at)
    return "{} · {} [{}]".format(*divmod(at, step.config.head_dim), at)


# ---- the strips ----------------------------------------------------------------------------------


def _strips(step, row):
    """Before, at its standard size, weight and bias, after: column below column."""
    (before,), weights = step.view.inputs, step.view.weights
    _strip(step, before, 0)
    standard, key = norming.standard_strip(row, before), f"standard_{step.id}"
    way = "scaled" if row.bias is None else "centred"
    said = {"scale": number(float(row.scale)), "mean": terms.in_brackets("−", float(row.mean))}
    words.heading(f"{HERE}.{way}", **said)
    drawn = panels.payload(standard, step.trace, saved=step.saved(standard))
    canvas.matrix(drawn, key=key, on_cell=_chosen(key, step))
    for n, weight in enumerate(weights, start=1):
        _strip(step, weight, n)
    whole.output(step)


def _strip(step, panel, n):
    key = f"part_{step.id}_{n}"
    whole.show(step, panel, key=key, on_cell=_chosen(key, step))


def _chosen(key, step):
    """A callback: a column of a strip becomes the chosen number of the result."""

    def on_cell():
        column = st.session_state[key]["cell"][1]
        if step.op.kind == "norm_all_heads":
            head, column = place_of_output(step.config, step.id, column, step.head)
            session.put(at_head=head)
        session.put(cell=column, cell_axis=walk.column_axis(step.id))

    return on_cell


def _checked(row, own):
    """The chosen number in one line, and the whole row computed again."""
    line, n = html.rich("`[[line]]`", line=_line(row, own)), len(row.before)
    html.show(f'<p class="tw-formula">{line}</p>')
    explanation.agreed(row.agreement, said=words.html(f"{HERE}.checked", n=n))


def _line(row, own):
    """x × scale × weight = result, in numbers; with the mean taken off and a bias added where the
    norm does so.
    """
    first, scale, weight = (number(float(x)) for x in (row.before[own], row.scale, row.weight[own]))
    last = number(float(row.recorded[own]))
    if row.bias is None:
        return f"{first} × {scale} × {weight} = {last}"
    mean, bias = (terms.in_brackets("+", float(x)) for x in (row.mean, row.bias[own]))
    return f"({first} − {mean}) × {scale} × {weight} + {bias} = {last}"


# ---- all positions -------------------------------------------------------------------------------


def _each(step):
    """Each token is scaled by its own number."""
    rows = run.compute(norming.of_all, step.trace, step.id, step.layer, step.view.index)
    columns = {"before_each": rows.root, "scale_each": rows.scale}
    columns |= {"standard_each": rows.standard_root, "after_each": rows.after_root}
    if rows.bias is not None:
        columns = {"mean_each": rows.mean} | columns
    each.table(step, "norm", columns, bars=("before_each", "after_each"), digits=4)
