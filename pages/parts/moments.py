"""Charts of a training over its moments, and the guesses of all moments beside each other.

Knows viz and words; what was measured is given.
"""

from core.analyse import learning
from pages.parts import charts, html, style, training, words
from pages.parts.html import number, percent, token
from pages.parts.words import text
from viz.curves import Line, curves


def loss(story, at: int) -> None:
    """The loss on held-out texts, with its floor."""
    _heading("loss")
    values = [told.checkpoint.loss for told in story.moments]
    details = [
        text("learning.loss_hover", step=told.step, loss=number(told.checkpoint.loss, 3))
        for told in story.moments
    ]
    line = Line(text("learning.loss"), values, "logits", details)
    name = text("learning.floor", entropy=number(story.entropy, 2))
    title = text("learning.loss_axis")
    drawn = _curves(story, at, [line], title=title, floor=(story.entropy, name))
    _chart("training_loss", drawn, story)
    rows = [(told.checkpoint.step, told.checkpoint.loss) for told in story.moments]
    charts.save("training_loss", ("step", "loss_nat_per_token"), rows)


def skills(story, at: int) -> None:
    """The best head of each kind, and what the model can do with them."""
    _heading("skills")
    lines = [_best(story, name) for name in training.SKILLS]
    copied = [told.skill.copied for told in story.moments]
    details = [
        text("learning.copied_hover", step=told.step, share=percent(told.skill.copied))
        for told in story.moments
    ]
    lines.append(Line(text("learning.copied"), copied, "logits", details))
    drawn = _curves(story, at, lines, title=text("learning.score_axis"), upper=1.05)
    _chart("training_scores", drawn, story)
    steps = [told.checkpoint.step for told in story.moments]
    rows = list(zip(steps, *(line.values for line in lines), strict=True))
    charts.save("training_scores", ("step", *training.SKILLS, "copied"), rows)


def _heading(name):
    """What a chart shows, and where its numbers come from."""
    said = {"n_sequences": learning.SEQUENCES, "period": learning.PERIOD, "seed": learning.SEED}
    caption = words.html(f"learning.{name}_caption", **said)
    html.show(f'<p class="tw-panel-name">{words.html(f"learning.{name}_name")}</p>')
    html.show(f'<p class="tw-caption">{caption}</p>')


def _best(story, name):
    """The best score of all heads at each moment; the hover says whose it is."""
    found = [learning.best(getattr(told.skill, name)) for told in story.moments]
    details = [
        text(
            f"learning.{name}_hover", step=told.step, score=number(score, 2), layer=layer, head=head
        )
        for told, (score, layer, head) in zip(story.moments, found, strict=True)
    ]
    return Line(text(f"learning.{name}"), [score for score, *_ in found], "attention", details)


def _curves(story, at, lines, **options):
    moments = [told.step for told in story.moments]
    step = text("learning.step_axis")
    return curves(moments, lines, moment_title=step, chosen=at, dark=style.dark(), **options)


def _chart(name, drawn, story):
    """A chart whose points choose a moment."""
    alt = text(f"learning.{name}_alt")
    charts.clickable(drawn, name, lambda n: training.go_to(story, n), name=name, alt=alt)


def guesses(story, at: int, values: dict) -> None:
    """The first candidates after the reader's text, moment beside moment."""
    html.show(f'<p class="tw-panel-name">{words.html("learning.guesses", **values)}</p>')
    html.show(f'<p class="tw-caption">{words.html("learning.guesses_caption")}</p>')
    cards = [_guess(told, n == at) for n, told in enumerate(story.moments)]
    html.show(f'<div class="tw-moments">{"".join(cards)}</div>')


def _guess(told, here):
    rows = [[token(c.text), _share(c.prob), percent(c.prob)] for c in told.moment.guess.top]
    title = words.html("learning.step", step=told.step)
    mark = ' class="here" aria-current="true"' if here else ""
    return (
        f"<section{mark}><h4>{title}</h4>{html.table([], rows, 'bars')}{_own_loss(told)}</section>"
    )


def _share(prob):
    css = f"width:{100 * prob:.1f}%;background:var(--tw-logits)"
    return f'<span class="tw-bar" style="{css}"></span>'


def _own_loss(told):
    if told.moment.loss is None:
        return ""
    said = words.html("learning.own_loss", loss=number(told.moment.loss, 2))
    return f'<p class="tw-caption">{said}</p>'
