"""Explain this number: operands, largest products, the rest, their sum, the recorded value, equal
or not.

Shows an Explanation of core; computes nothing itself. Everything goes through the escaping
renderer.
"""

from core.analyse import Explanation
from core.record.catalogue import CATALOGUE
from pages.parts import html, words
from pages.parts.html import number, token

SHOWN = 8


def show(explanation: Explanation, trace) -> None:
    """The panel for one number of a trace."""
    top = explanation.top(SHOWN)
    parts = [
        f"<h4>{words.html('explain.title')}</h4>",
        f'<p class="tw-caption">{_where(explanation, trace)}</p>',
        _formula(explanation),
        _terms(explanation, top, trace) if top else f"<p>{words.html('explain.masked')}</p>",
        _sums(explanation),
    ]
    html.show(f'<div class="tw-explain" data-testid="explain">{"".join(parts)}</div>')


def _axes(op):
    return CATALOGUE[op].axes if op not in ("logits", "probs") else ("seq", "vocab")


def _where(e, trace):
    """Which cell: the op's axes with this index, tokens by name."""
    parts = [f"<code>{e.op}</code>"]
    if e.layer is not None:
        parts.append(words.html("explain.layer", layer=e.layer))
    for axis, i in zip(_axes(e.op), e.index, strict=True):
        parts.append(f"{words.html(f'axes.{axis}')} {_coordinate(axis, i, trace)}")
    return " · ".join(parts)


def _coordinate(axis, i, trace):
    """A number on an axis; where the axis counts positions or tokens, with the token."""
    if axis in ("seq", "query", "key"):
        return f"{token(trace.tokens[i], axis)} ({i})"
    if axis == "vocab":
        return f"{token(trace.model.tokenizer.display(i))} ({i})"
    return str(i)


def _formula(e):
    return f'<p class="tw-formula"><code>{html.rich(e.formula)}</code></p>'


def _terms(e, top, trace):
    """The largest terms, each with its operands, a bar and the sum so far."""
    head = [
        _first_head(top),
        _operands_head(e, top),
        words.html(f"terms.{CATALOGUE[e.op].kind}"),
        "",
        "",
    ]
    rows, so_far, largest = [], 0.0, max(abs(t.value) for t in top) or 1.0
    for t in top:
        so_far += t.value
        label = _source(t.operands[0], e.layer) if _mixed(top) else _label(t, trace)
        so_far_cell = number(so_far, 3) if len(e.values) > 1 else ""
        rows.append([label, *_term(t, largest), so_far_cell])
    head[-1] = words.html("explain.so_far") if len(e.values) > 1 else ""
    rest = len(e.values) - len(top)
    if rest > 0:
        left = f"<i class='tw-nowrap'>{words.html('explain.rest', n=f'{rest:,}')}</i>"
        rows.append([left, "", number(e.total - so_far, 3), "", number(e.total, 3)])
    return f'<div class="tw-scroll">{html.table(head, rows, "mono")}</div>'


def _mixed(top):
    """Whether the terms come from different places, as the two sides of a sum do."""
    return len({t.operands[0].source for t in top}) > 1


def _first_head(top):
    """What the first column counts."""
    first = top[0].operands[0]
    if _mixed(top) or first.kind != "op":
        return words.html("explain.source")
    return words.html(f"axes.{_axes(first.source)[-1]}")


def _operands_head(e, top):
    if _mixed(top):
        return words.html("explain.value")
    slots = zip(*(t.operands for t in top), strict=True)
    names = (" / ".join(dict.fromkeys(_source(o, e.layer) for o in slot)) for slot in slots)
    return " × ".join(dict.fromkeys(names))


def _term(t, largest):
    """Operands, value and bar of one term."""
    factors = " × ".join(
        f'<span class="{_role(o)}">{number(o.value, 3)}</span>' for o in t.operands
    )
    width = f"{abs(t.value) / largest * 2.2:.2f}em"
    bar = f'<span class="tw-bar {"negative" if t.value < 0 else ""}" style="width:{width}"></span>'
    return [f'<span class="tw-nowrap">{factors}</span>', f"<b>{number(t.value, 3)}</b>", bar]


def _label(t, trace):
    """Which number of its row the first operand is; on an axis of tokens, the token too."""
    first = t.operands[0]
    if first.kind != "op":
        return _source(first, first.layer)
    axis = _axes(first.source)[-1]
    if axis in ("key", "vocab"):
        return _coordinate(axis, first.index[-1], trace)
    return str(first.index[-1])


def _source(operand, layer):
    """What an operand is called, in its role's colour; with its layer where that is another one."""
    key = {"op": "ops", "weight": "weights", "constant": "constants"}[operand.kind]
    name = words.text(f"{key}.{operand.source}")
    if operand.layer not in (None, layer):
        name = words.text("explain.of_layer", name=name, layer=operand.layer)
    name = html.rich(name)
    return f'<span class="{_role(operand)}">{name}</span>'


def _role(operand):
    return CATALOGUE[operand.source].role if operand.kind == "op" else ""


def _sums(e):
    """From the sum through the last steps to the value, beside the recorded one."""
    lines = []
    if len(e.values) > 1:
        lines.append((words.html("explain.sum", n=f"{len(e.values):,}"), number(e.total)))
    for step in e.steps:
        used, name = number(step.value) if step.sign else "", words.text(f"steps.{step.name}")
        left = words.html("explain.step", sign=step.sign, value=used, name=name)
        lines.append((left, number(step.result)))
    lines.append((f"<b>{words.html('explain.recorded')}</b>", f"<b>{number(e.recorded)}</b>"))
    body = "".join(f"<div><span>{left}</span><span>{right}</span></div>" for left, right in lines)
    return f'<div class="tw-sums">{body}{_verdict(e)}</div>'


def _verdict(e):
    """Equal or not, with the difference and what is allowed."""
    name, sign = ("equal", "✓") if e.equal else ("unequal", "✗")
    word = words.html(f"explain.{name}")
    detail = words.html(
        "explain.difference", difference=f"{abs(e.difference):.1e}", tolerance=f"{e.tolerance:.1e}"
    )
    inside = f"<span>{sign} {word}</span><small>{detail}</small>"
    return f'<div class="tw-{name}" data-verdict="{name}">{inside}</div>'
