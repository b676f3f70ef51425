"""Explain this number: operands, largest products, the rest, their sum, the recorded value, equal
or not.

Shows an Explanation of core; computes nothing itself. Everything goes through the escaping
renderer.
"""

from core.analyse import Explanation
from core.model.axes import OP_AXES, VOCAB_OPS
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
        _terms(explanation, top, trace) if top else _hidden(explanation, trace),
        _sums(explanation),
    ]
    html.show(f'<div class="tw-explain" data-testid="explain">{"".join(parts)}</div>')


def _axes(op):
    return ("seq", *OP_AXES[op]) if op in VOCAB_OPS else OP_AXES[op]


def _hidden(e, trace):
    """Why a cell of an attention map holds no score."""
    _, query, key = e.index
    window = trace.config.windows[e.layer]
    why = "explain.masked" if key > query else "explain.outside"
    return f"<p>{words.html(why, window=window)}</p>"


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
        _terms_head(e),
        "",
        "",
    ]
    rows, so_far, largest = [], 0.0, max(abs(t.value) for t in top) or 1.0
    for t in top:
        so_far += t.value
        label = _source(t.operands[0], e.layer) if _mixed(top) else _label(t, e, trace)
        so_far_cell = number(so_far, 3) if len(e.values) > 1 else ""
        rows.append([label, *_term(t, e, largest), so_far_cell])
    head[-1] = words.html("explain.so_far") if len(e.values) > 1 else ""
    rest = len(e.values) - len(top)
    if rest > 0:
        left = f"<i class='tw-nowrap'>{words.html('explain.rest', n=f'{rest:,}')}</i>"
        rows.append([left, "", number(e.rest(len(top)), 3), "", number(e.total, 3)])
    return f'<div class="tw-scroll">{html.table(head, rows, "mono")}</div>'


def _terms_head(e):
    """What a term is; a number that a rotation lets pass is no product."""
    kept = e.kind == "rotate" and len(e.values) == 1
    return words.html("terms.copy" if kept else f"terms.{e.kind}")


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
    return _between(e).join(dict.fromkeys(names))


def _between(e):
    """What stands between the operands of a term: LayerNorm's are a number and the mean."""
    return " − " if e.kind == "layer_norm" else " × "


def _term(t, e, largest):
    """Operands, value and bar of one term."""
    between, (first, *others) = _between(e), t.operands
    used = [number(first.value, 3), *(_used(between, o.value, 3) for o in others)]
    factors = between.join(
        f'<span class="{o.role}">{value}</span>' for o, value in zip(t.operands, used, strict=True)
    )
    width = f"{abs(t.value) / largest * 2.2:.2f}em"
    bar = f'<span class="tw-bar {"negative" if t.value < 0 else ""}" style="width:{width}"></span>'
    return [f'<span class="tw-nowrap">{factors}</span>', f"<b>{number(t.value, 3)}</b>", bar]


def _used(sign, value, digits=4):
    """A number behind its sign: negative in brackets, where a second minus would stand beside."""
    shown = number(value, digits)
    return f"({shown})" if sign.strip() in ("+", "−") and shown.startswith("−") else shown


def _label(t, e, trace):
    """Which number of its row the first operand is; on an axis of tokens, the token too; with its
    head where the sum runs over all heads.
    """
    first = t.operands[0]
    if first.kind != "op":
        return _source(first, first.layer)
    axis = _axes(first.source)[-1]
    if axis in ("key", "vocab"):
        return _coordinate(axis, first.index[-1], trace)
    if len(first.index) > len(e.index) or e.kind == "norm_all_heads":
        return f"{words.html('axes.head')} {first.index[1]} · {first.index[2]}"
    return str(first.index[-1])


def _source(operand, layer):
    """What an operand is called, in its role's colour; with its layer where that is another one."""
    key = {"op": "ops", "weight": "weights", "constant": "constants"}[operand.kind]
    name = words.text(f"{key}.{operand.source}")
    if operand.layer not in (None, layer):
        name = words.text("explain.of_layer", name=name, layer=operand.layer)
    name = html.rich(name)
    return f'<span class="{operand.role}">{name}</span>'


def _sums(e):
    """From the sum through the last steps to the value, beside the recorded one."""
    lines = []
    if len(e.values) > 1:
        lines.append((words.html("explain.sum", n=f"{len(e.values):,}"), number(e.total)))
    for step in e.steps:
        used = _used(step.sign, step.value) if step.sign else ""
        name = words.text(f"steps.{step.name}")
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
