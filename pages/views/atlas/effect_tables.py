"""What one head writes towards a token, key by key, and beside that what muting it does. Knows
core's muting and words.
"""

from core.analyse import muting
from pages.parts import charts, explanation, html, run, words
from pages.parts.html import Token, number, percent
from pages.parts.words import text

HERE = "atlas.effect"
WIDEST = 5  # of a bar, in letters
COMPARED = {1: "same_way", -1: "opposite", 0: "nothing"}  # what is said of both effects


def by_key(trace, position, place, id, found) -> None:
    """How much the head looks at each key beside what that adds to the token's logit."""
    target = Token(trace.model.tokenizer.display(id))
    named = {"token": Token(trace.tokens[position]), "target": target}
    words.heading(f"{HERE}.by_key", **named)
    words.caption(f"{HERE}.by_key_caption", **named)
    shown = found.few()
    n, weight, part = found.rest(shown)
    most = found.most(shown) or 1.0
    rows = [_row(trace, key, found, most) for key in shown]
    if n:
        rest = words.html(f"{HERE}.rest", n=n)
        rows.append([rest, number(weight), _share(weight), "", number(part), _bar(part, most)])
    whole = [words.html(f"{HERE}.sum"), number(found.looked), "", "", number(found.total)]
    rows.append([f"<b>{cell}</b>" if cell else "" for cell in [*whole, ""]])
    head = ("key", "weight", "", "value", "adds", "")
    head = [name and words.html(f"{HERE}.head_{name}") for name in head]
    table = html.table(head, rows, "mono tw-rows tw-effect")
    html.show(html.scroll(table, text(f"{HERE}.by_key_label")))
    lines = [(words.html(f"{HERE}.of_mix"), number(found.recorded, 6))]
    lines.insert(0, (words.html(f"{HERE}.of_keys"), number(found.total, 6)))
    explanation.agreed(found.agreement, lines)
    _save(trace, position, place, found)


def _row(trace, key, found, most):
    weight, value, part = (float(each[key]) for each in (found.weights, found.values, found.parts))
    name = f'<span class="tw-nowrap">{html.token(trace.tokens[key], "key")} ({key})</span>'
    numbers = [number(weight), _share(weight), number(value, 3), f"<b>{number(part)}</b>"]
    return [name, *numbers, _bar(part, most)]


def _share(part):
    """A bar for a share of 1, whose full length is 1."""
    return f'<span class="tw-bar tw-share" style="width:{part * WIDEST:.2f}em"></span>'


def _bar(value, most):
    """A bar to the right of the middle for what adds, to the left for what takes away."""
    width, sign = 50 * min(1.0, abs(value) / most), "negative" if value < 0 else ""
    return f'<span class="tw-twoway {sign}"><i style="width:{width:.1f}%"></i></span>'


def _save(trace, position, place, found):
    name = f"written_layer{place[0]}_head{place[1]}_pos{position}"
    columns = (found.weights.tolist(), found.values.tolist(), found.parts.tolist())
    rows = zip(range(len(found.parts)), trace.tokens, *columns, strict=False)
    head = ("position", "token", "weight", "value towards it", "adds")
    charts.save(name, head, list(rows), text(f"{HERE}.saved"))


def direct_and_total(trace, position, place, id, found, effect) -> None:
    """What the head writes towards the token itself, and what all that follows from it does.
    effect: of muting; None where the head is not muted.
    """
    named = {"target": Token(trace.model.tokenizer.display(id))}
    words.heading(f"{HERE}.effects", **named)
    rows = [[words.html(f"{HERE}.direct"), f"<b>{_signed(found.total)}</b>"]]
    at = run.compute(muting.place, trace, *place, id, position)
    every = trace.config.n_layers * trace.config.n_heads
    rows.append([words.html(f"{HERE}.place"), words.html(f"{HERE}.of", n=at, every=every)])
    if effect:
        rows += _totals(effect, id)
    table = html.table(["", html.token(named["target"])], rows, "mono left tw-effect-two")
    html.show(html.scroll(table, text(f"{HERE}.effects_label")))
    said = COMPARED[found.beside(effect.total(id))] if effect else "unknown"
    words.caption(f"{HERE}.{said}", **named)


def _totals(effect, id):
    """The total effect on the logit, and the logit and the probability with and without."""
    logits = [number(float(each[id])) for each in effect.logits]
    probs = [percent(float(each[id])) for each in effect.probs]
    return [
        [words.html(f"{HERE}.total"), f"<b>{_signed(effect.total(id))}</b>"],
        [words.html(f"{HERE}.logit"), " → ".join(logits)],
        [words.html(f"{HERE}.prob"), " → ".join(probs)],
    ]


def _signed(value):
    """A number with its sign, also where that is +."""
    return f"+{number(value)}" if value > 0 else number(value)
