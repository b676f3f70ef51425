"""The last card: what is drawn from, the token of this seed and of the next ones, and the check
beside the record.
"""

from core.analyse import sampled
from core.decode import reasons
from core.decode.sampling import by_seed, drawn
from pages.parts import doors, explanation, html, run, words
from pages.parts.html import Made, number, percent, token
from pages.views.sampling import stages_card
from pages.views.sampling.tokens import token_of

HERE = "sampling.stages"
SEEDS = 10  # how many are tried
STEP = 0  # the first token after the position


def show(trace, position: int, spec, found, id: int, number: int) -> None:
    """What the stages left, and one draw."""
    made = run.compute(drawn, found, spec, STEP)
    with stages_card.card(number, "last", words.html(f"{HERE}.last_title")):
        left, right = stages_card.pair("last")
        with left:
            stages_card.bars(trace, id, _rows(found[-1], id), "last")
        with right:
            html.show("".join(f"<p>{line}</p>" for line in _said(trace, spec, found, made)))
            html.show(_share(trace, found[-1], id))
        _check(trace, position, found)
        doors.show("sampling.stages", "sampling.draw", "sampling.orders")


def _rows(last, id):
    """The first of the tokens that are left."""
    return reasons.rows(last, stages_card.FIRST, id, left=True)


def _said(trace, spec, found, made):
    """How many are left, and what is drawn."""
    last, changed = found[-1], any(stage.active for stage in found[1:])
    vocab, n = f"{len(last.scores):,}", f"{last.n_kept:,}"
    yield words.html(f"{HERE}.{'left' if changed else 'nothing_on'}", n=n, vocab=vocab)
    if made.greedy:
        yield words.html(f"{HERE}.greedy", token=token_of(trace, made.id))
        if made.tied > 1:
            yield words.html(f"{HERE}.tied", n=f"{made.tied:,}")
        return
    values = {"seed": spec.seed, "u": number(made.u), "prob": percent(made.prob)}
    yield words.html(f"{HERE}.drawn", token=token_of(trace, made.id), **values)
    seeds = range(spec.seed, spec.seed + SEEDS)
    tokens = [token(token_of(trace, id)) for id in by_seed(made, spec, STEP, seeds)]
    values = {"first": seeds[0], "last": seeds[-1], "tokens": Made(" ".join(tokens))}
    yield words.html(f"{HERE}.seeds", **values)


def _share(trace, last, id):
    """The softmax of the followed token with its numbers."""
    if last.scores[id] == -float("inf"):
        said = words.html(f"{HERE}.fate_gone")
        return f'<p class="tw-formula">{token(token_of(trace, id))} {said}</p>'
    made = reasons.share(last.scores, id)
    letters = "p = exp(z − max(z)) / Σ exp(z − max(z))"
    largest = f"({number(made.largest)})" if made.largest < 0 else number(made.largest)
    line = f"exp({number(made.score)} − {largest}) / {number(made.total)} = {number(made.prob)}"
    lines = f"<code>{letters}</code>", f"{token(token_of(trace, id))} <code>{line}</code>"
    return "".join(f'<p class="tw-formula">{line}</p>' for line in lines)


def _check(trace, position, found):
    """The probabilities before all stages, made again, beside those of the run."""
    agreement = run.compute(sampled.recorded, trace, position, found[0])
    explanation.agreed(agreement, said=words.html(f"{HERE}.again"))
