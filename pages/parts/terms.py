"""The terms of an explained number as a list: which of them, in which order, and the one that the
pictures point at. A click on a term points at it, and so does a click in a picture. An operand that
an op made is a door to it.

Shows an Explanation of core; computes nothing itself. Everything goes through the escaping
renderer.
"""

import streamlit as st

from core.analyse import follow
from core.analyse.view import place_of_output
from core.model.axes import OP_AXES, VOCAB_OPS
from pages import canvas
from pages.parts import html, inputs, panels, session, walk, words
from pages.parts.html import number, token
from pages.parts.words import text

FEW = 8  # terms of a long sum that are shown at first
SHORT = 256  # a sum of so many is listed whole
LONGEST = 4096  # and one of so many where the reader asks for it


def show(e, trace, pointed: int | None, at: follow.Place) -> None:
    """The list, with the sum so far, and a switch for its order. pointed: a term's number. at:
    where the explained number is shown.
    """
    order = _order(len(e.values))
    listed = e.top(FEW) if order == "largest" else e.all(by_size=order == "size")
    with st.container(key="terms"):
        html.show(_table(e, listed, trace, pointed, at))
    if pointed is not None:
        canvas.rows(key="term_rows", on_row=lambda row: session.put(term=(e.op, row)))


def chosen(op: str) -> int | None:
    """The term that the reader pointed at in this op."""
    of, term = session.get("term") or (None, None)
    return term if of == op else None


def pointed(parts) -> int | None:
    """The number of the term that panels point at; None where they are of no sum."""
    panel = next((panel for panel in parts if panel.terms), None)
    return panel and _term(panel, panel.selected)


def show_parts(
    parts, trace, op: str, head: int = 0, whole: bool = False, saved=lambda panel: ""
) -> None:
    """Inputs and weights of a step as figures: the rows of numbers, or (`whole`) the matrices that
    are shown whole. head: the chosen query head. saved(panel) -> what its files are called.
    """
    for n, panel in enumerate(parts):
        if bool(panel.marks) == whole:
            key = f"part_{op}_{n}"
            on_cell = _picks(key, op, panel, trace, head)
            panels.show(panel, trace, key=key, on_cell=on_cell, saved=saved(panel))


def _picks(key, op, panel, trace, head):
    """A callback for a figure whose cells belong to terms; None for another. In a whole matrix a
    cell belongs to a number of the output as well.
    """
    if not panel.terms:
        return None

    def on_cell():
        cell = st.session_state[key]["cell"]
        session.put(term=(op, _term(panel, cell)))
        if panel.marks:
            _to_output(op, cell[0] if panel.terms == "columns" else cell[1], trace.config, head)

    return on_cell


def _term(panel, cell):
    return cell[1] if panel.terms == "columns" else panel.first_row + cell[0]


def _to_output(op, out, config, head):
    """The number of the output that a row of the matrix makes."""
    if op in VOCAB_OPS:
        return session.put(cell=out)
    head, column = place_of_output(config, op, out, head)
    session.put(at_head=head, cell=column, cell_axis=walk.column_axis(op))


# ---- order ---------------------------------------------------------------------------------------


def _order(n):
    """Which terms and how: "largest" for the first few, else "size" or "index"."""
    orders = ("size", "index") if n <= SHORT else ("largest", "size", "index")
    if n <= FEW or n > LONGEST:
        return orders[0]
    wanted = session.get("order")
    order = wanted if wanted in orders else orders[0]
    inputs.switch(
        orders,
        order,
        key="terms_order",
        label=text("explain.order"),
        name=lambda name: text(f"explain.by_{name}", few=FEW),
        pick=lambda picked: session.put(order=picked),
    )
    return order


# ---- the list ------------------------------------------------------------------------------------


def axes_of(op: str) -> tuple[str, ...]:
    """The axes of an index of an explanation; scores of the vocabulary have a position first."""
    return ("seq", *OP_AXES[op]) if op in VOCAB_OPS else OP_AXES[op]


def coordinate(axis: str, i: int, trace) -> str:
    """A number on an axis as HTML; where the axis counts positions or tokens, with the token."""
    if axis in ("seq", "query", "key"):
        return f"{token(trace.tokens[i], axis)} ({i})"
    if axis == "vocab":
        return f"{token(trace.model.tokenizer.display(i))} ({i})"
    return str(i)


def _table(e, listed, trace, pointed, at):
    """The terms, each with its operands, a bar and the sum so far."""
    several = len(e.values) > 1
    head = [_first_head(e, listed), _operands_head(e, listed), _terms_head(e), ""]
    head.append(words.html("explain.so_far") if several else "")
    rows, marks, so_far, largest = [], [], 0.0, abs(e.top(1)[0].value) or 1.0
    for t in listed:
        so_far += t.value
        label = _source(t.operands[0], e.layer) if _mixed(listed) else _label(t, e, trace)
        factors = _factors(t, e, pointed is not None, trace.config, at)
        value = [f"<b>{number(t.value, 3)}</b>", bar(t.value, largest)]
        rows.append([label, factors, *value, number(so_far, 3) if several else ""])
        marks.append(_mark(t, pointed))
    if (left := len(e.values) - len(listed)) > 0:
        rows.append([rest(left), "", number(e.rest(len(listed)), 3), "", number(e.total, 3)])
        marks.append("")
    return html.table(head, rows, "mono tw-terms", marks)


def _mark(t, pointed):
    """What makes a row clickable, and the one that is pointed at stand out."""
    if pointed is None:
        return ""
    here = ' class="tw-here"' if t.number == pointed else ""
    return f' data-row="{t.number}"{here}'


def _terms_head(e):
    """What a term is; a number that a rotation lets pass is no product."""
    kept = e.kind == "rotate" and len(e.values) == 1
    return words.html("terms.copy" if kept else f"terms.{e.kind}")


def _mixed(listed):
    """Whether the terms come from different places, as the two sides of a sum do."""
    return len({t.operands[0].source for t in listed}) > 1


def _first_head(e, listed):
    """What the first column counts."""
    first = listed[0].operands[0]
    if _mixed(listed) or first.kind != "op":
        return words.html("explain.source")
    of_head = f"{words.html('axes.head')} · " if _over_heads(first, e) else ""
    return of_head + words.html(f"axes.{axes_of(first.source)[-1]}")


def _over_heads(operand, e):
    """Whether the sum runs over all heads, so that an operand has a head of its own."""
    return len(operand.index) > len(e.index) or e.kind == "norm_all_heads"


def _operands_head(e, listed):
    if _mixed(listed):
        return words.html("explain.value")
    slots = zip(*(t.operands for t in listed), strict=True)
    names = (" / ".join(dict.fromkeys(_named(o, e) for o in slot)) for slot in slots)
    return _between(e).join(dict.fromkeys(names))


def _named(operand, e):
    """What an operand is called; of a matrix, which row."""
    name = _source(operand, e.layer)
    if operand.kind == "weight" and len(operand.index) == 2 and e.kind == "dot":
        return f"{name} {words.html('explain.row', row=operand.index[0])}"
    return name


def _between(e):
    """What stands between the operands of a term: the mean, or the largest, is taken off."""
    return " − " if e.kind in ("layer_norm", "softmax") else " × "


def _factors(t, e, points, config, at):
    """The operands of one term. points: whether a weight can be pointed at in the pictures."""
    between, (first, *others) = _between(e), t.operands
    used = [number(first.value, 3), *(in_brackets(between, o.value, 3) for o in others)]
    factors = []
    for slot, (operand, shown) in enumerate(zip(t.operands, used, strict=True)):
        way = f'data-door="term {t.number} {slot}"' if follow.origin(operand, config, at) else ""
        if not way and points and operand.kind == "weight":
            way = f'data-row="{t.number}"'
        factors.append(door(way, shown, operand.role))
    exact = between.join(f"{o.value:.9g}" for o in t.operands)
    return f'<span class="tw-nowrap" title="{exact}">{between.join(factors)}</span>'


def door(way: str, shown: str, role: str = "", title: str = "") -> str:
    """A number as HTML: a button where a way leads on from it. way: an attribute, or nothing."""
    named = f' title="{title}"' if title else ""
    if not way:
        return f'<span class="{role}"{named}>{shown}</span>'
    return f'<button type="button" class="tw-to {role}" {way}{named}>{shown}</button>'


def bar(value: float, largest: float, widest: float = 2.2) -> str:
    """A number's size beside the largest one's, as HTML. widest: in letters (em)."""
    width, sign = f"{abs(value) / largest * widest:.2f}em", "negative" if value < 0 else ""
    return f'<span class="tw-bar {sign}" style="width:{width}"></span>'


def rest(n: int) -> str:
    """What the line of all terms that are not listed is called, as HTML."""
    return f"<i class='tw-nowrap'>{words.html('explain.rest', n=f'{n:,}')}</i>"


def in_brackets(sign: str, value: float, digits: int = 4) -> str:
    """A number behind its sign: negative in brackets, where a second minus would stand beside."""
    shown = number(value, digits)
    return f"({shown})" if sign.strip() in ("+", "−") and shown.startswith("−") else shown


def _label(t, e, trace):
    """Which number of its row the first operand is; on an axis of tokens, the token too. Where the
    sum runs over all heads: its head, which number of that, and which of all.
    """
    first = t.operands[0]
    if first.kind != "op":
        return _source(first, first.layer)
    axis = axes_of(first.source)[-1]
    if axis in ("key", "vocab"):
        return coordinate(axis, first.index[-1], trace)
    if _over_heads(first, e):
        return f"{first.index[1]} · {first.index[2]} [{t.number}]"
    return str(first.index[-1])


def _source(operand, layer):
    """What an operand is called, in its role's colour; with its layer where that is another one."""
    key = {"op": "ops", "weight": "weights", "constant": "constants"}[operand.kind]
    name = words.text(f"{key}.{operand.source}")
    if operand.layer not in (None, layer):
        name = words.text("explain.of_layer", name=name, layer=operand.layer)
    name = html.rich(name)
    return f'<span class="{operand.role}">{name}</span>'
