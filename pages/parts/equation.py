"""The formula of an explained number with its numbers put in: one line of HTML. Formats what an
Explanation holds; computes nothing itself.
"""

import re
from html import escape

from pages.parts.html import number

FEW = 3  # terms of a long sum that are written out


def line(e, window: int | None = None) -> str:
    """The line for an Explanation. window: of the layer, where a query sees only so many tokens."""
    letter = re.split(" [=≈] ", e.formula)[0]
    if e.kind == "mask":
        return escape(f"{letter} = {_masked(e, window)}")
    made = KINDS[e.kind](e)
    return escape(" = ".join([letter, *([made] if made else []), number(e.value)]))


def _signed(values):
    """Numbers added up, each with its sign: the first one's only where it is negative."""
    first, *rest = values
    return " ".join([number(first), *map(_plus, rest)])


def _plus(value):
    """A number that is added to what stands before."""
    return _with_sign(number(value))


def _with_sign(shown):
    return f"− {shown[1:]}" if shown.startswith("−") else f"+ {shown}"


def _times(*factors):
    """Numbers multiplied, a negative one in brackets but at the start."""
    first, *rest = (number(factor) for factor in factors)
    return " · ".join([first, *(f"({n})" if n.startswith("−") else n for n in rest)])


def _sum(e):
    """The largest terms of a sum, whether there are more, and what is added behind them."""
    added = [step.value for step in e.steps if step.sign == "+"]
    few = [term.value for term in e.top(FEW)]
    if len(e.values) <= FEW:
        return _signed(few + added)
    return " ".join([_signed(few), "+ …", *map(_plus, added)])


def _score(e):
    """The sum, and its scale: one over the root of how many products there are, or the model's."""
    (scale,) = e.steps
    usual = scale.name == "score_scale"
    return f"({_sum(e)})" + (f" / √{len(e.values)}" if usual else f" · {number(scale.value)}")


def _turned(e):
    """A number and its partner, each times its part of the angle."""
    if len(e.values) == 1:
        return ""
    own, partner = (_times(*(o.value for o in e.term(j).operands)) for j in (0, 1))
    return f"{own} {_with_sign(partner)}"


def _norm(e):
    used = {step.name: step.value for step in e.steps}
    return f"{_times(used['weight'], used['own'])} / {_root(e)}"


def _layer_norm(e):
    used = {step.name: step.value for step in e.steps}
    centred = _signed([used["own_start"], -used["mean"]])
    return f"{number(used['weight'])} · ({centred}) / {_root(e)} {_plus(used['bias'])}"


def _root(e):
    """What a norm divides by: the root of the mean square (or variance) and a little more."""
    return f"√({number(e.total)} + {e.steps[0].value:g})"


def _softmax(e):
    own, most, _, share = e.steps
    return f"exp({_signed([own.value, -most.value])}) / {number(share.value)}"


def _capped(e):
    cap = number(e.steps[0].value)
    return f"{cap} · tanh({number(e.total)} / {cap})"


def _bent(e):
    """x · (1 + tanh(inner)) / 2"""
    return f"{number(e.total)} · (1 + tanh({number(e.steps[0].value)})) / 2"


def _looked_up(e):
    (cell,) = e.term(0).operands
    return f"E{list(cell.index)}"


def _masked(e, window):
    """The score, or nothing, and which of the two conditions decides."""
    _, query, key = e.index
    if key > query:
        return f"−∞ (s = {key} > t = {query})"
    if not len(e.values):
        return f"−∞ (s = {key} ≤ t − w = {query - window})"
    return f"{number(e.value)} (s = {key} ≤ t = {query})"


KINDS = {
    "row": _looked_up,
    "copy": lambda e: "",
    "times": lambda e: _times(e.steps[0].value, e.total),
    "position": lambda e: _signed(e.values),
    "sum": lambda e: _signed(e.values),
    "softcap": _capped,
    "norm": _norm,
    "norm_all_heads": _norm,
    "layer_norm": _layer_norm,
    "dot": _sum,
    "mix": _sum,
    "score": _score,
    "rotate": _turned,
    "softmax": _softmax,
    "silu": lambda e: f"{number(e.total)} · σ({number(e.total)})",
    "gelu_tanh": _bent,
    "gelu_erf": lambda e: f"{number(e.total)} · Φ({number(e.total)})",
    "product": lambda e: _times(*(o.value for o in e.term(0).operands)),
}
