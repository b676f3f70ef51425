"""Explain this number: operands, largest products, the rest, their sum, the recorded value, equal or not.

Shows an Explanation of core; computes nothing itself. Everything goes through the escaping renderer.
"""

from core.analyse import Explanation
from core.record.catalogue import CATALOGUE
from pages.parts import html, words
from pages.parts.html import number, token

SHOWN = 8


def show(explanation: Explanation, tokens, **place) -> None:
    """The panel for one number. tokens: display forms; place: layer, head and so on, for the first line."""
    top = explanation.top(SHOWN)
    parts = [
        f"<h4>{words.html('explain.title')}</h4>",
        f'<p class="tw-caption">{_where(explanation, tokens)}</p>',
        _terms(explanation, top, tokens) if top else "",
        _sums(explanation, len(top)),
    ]
    html.show(f'<div class="tw-explain" data-testid="explain">{"".join(parts)}</div>')


def _where(e, tokens):
    """Which cell: the op's axes with this index, tokens by name."""
    axes = CATALOGUE[e.op].axes if e.op not in ("logits", "probs") else ("seq", "vocab")
    parts = [f"<code>{e.op}</code>"] + ([words.html("explain.layer", layer=e.layer)] if e.layer is not None else [])
    for axis, i in zip(axes, e.index, strict=True):
        shown = words.html(f"axes.{axis}") + f" {i}"
        if axis in ("seq", "query", "key"):
            role = axis if axis != "seq" else ""
            shown = f"{words.html(f'axes.{axis}')} {token(tokens[i], role)} ({i})"
        parts.append(shown)
    return " · ".join(parts)


def _terms(e, top, tokens):
    """The largest terms, each with its operands, a bar and the sum so far."""
    sources = [_source(o) for o in top[0].operands]
    mixed = len({t.operands[0].source for t in top}) > 1
    head = [words.html("explain.number")] + ([words.html("explain.source")] if mixed else [])
    head += ["×".join(sources) if not mixed else words.html("explain.value")] + ["", "", words.html("explain.so_far")]
    rows, so_far = [], 0.0
    largest = max(abs(t.value) for t in top) or 1.0
    for t in top:
        so_far += t.value
        rows.append(_term(t, tokens, mixed, so_far, largest))
    rest = len(e.values) - len(top)
    if rest > 0:
        left = words.html("explain.rest", n=f"{rest:,}")
        rows.append(["", left, number(e.total - so_far), "", number(e.total)])
    return f'<div class="tw-scroll">{html.table(head, rows, "mono")}</div>'


def _term(t, tokens, mixed, so_far, largest):
    factors = " × ".join(
        f'<span class="{_role(o)}">{number(o.value)}</span>' for o in t.operands
    )
    width = f"{abs(t.value) / largest * 4.2:.2f}em"
    bar = f'<span class="tw-bar {"negative" if t.value < 0 else ""}" style="width:{width}"></span>'
    name = [_source(t.operands[0])] if mixed else []
    return [_label(t, tokens), *name, factors, f"<b>{number(t.value)}</b>", bar, number(so_far)]


def _label(t, tokens):
    """A term's own number; where terms run over positions, the token too."""
    first = t.operands[0]
    axes = CATALOGUE[first.source].axes if first.kind == "op" else ()
    if axes and axes[-1] == "key":
        return f"{t.number} {token(tokens[t.number], 'key')}"
    return f"{t.number}"


def _source(operand):
    """What an operand is called in the table's head, in its role's colour."""
    key = {"op": "ops", "weight": "weights", "constant": "constants"}[operand.kind]
    return f'<span class="{_role(operand)}">{words.html(f"{key}.{operand.source}")}</span>'


def _role(operand):
    return CATALOGUE[operand.source].role if operand.kind == "op" else ""


def _sums(e, n_shown):
    """From the sum through the last steps to the value, beside the recorded one."""
    lines = []
    if n_shown and len(e.values) > 1:
        lines.append((words.html("explain.sum", n=f"{len(e.values):,}"), number(e.total)))
    for step in e.steps:
        used = f" {number(step.value)}" if step.sign else ""
        lines.append((f"{step.sign}{used} {words.html(f'steps.{step.name}')}", number(step.result)))
    verdict = "equal" if e.equal else "unequal"
    word = words.html(f"explain.{verdict}", difference=f"{e.difference:.1e}", tolerance=f"{e.tolerance:.1e}")
    lines.append((f"<b>{words.html('explain.recorded')}</b>", f"<b>{number(e.recorded)}</b>"))
    body = "".join(f"<div><span>{left}</span><span>{right}</span></div>" for left, right in lines)
    sign = "✓" if e.equal else "✗"
    return f'<div class="tw-sums">{body}<div class="tw-{verdict}" data-verdict="{verdict}">{sign} {word}</div></div>'
