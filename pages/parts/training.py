"""The moments of a training, measured, and the bar that walks through them. Knows core's
measurements and the session; holds no maths, draws no figure.
"""

from dataclasses import dataclass

import streamlit as st

from core.analyse import learning
from core.analyse.learning import Moment, Skill
from core.files.checkpoints import Checkpoint, Training
from pages.parts import models, presets, run, session, walk, words
from pages.parts.html import number, percent
from pages.parts.words import text

SKILLS = ("previous", "induction")  # scores of heads, as in core.analyse.learning
HALF = 0.5  # the score from which the page says that a head does something


@dataclass(frozen=True)
class Told:
    """One checkpoint with what was measured on it just now."""

    checkpoint: Checkpoint
    skill: Skill
    moment: Moment

    @property
    def name(self) -> str:
        """What the link calls it."""
        return f"step-{self.checkpoint.step}"

    @property
    def step(self) -> str:
        """How many steps of training came before it."""
        return f"{self.checkpoint.step:,}"


@dataclass(frozen=True)
class Story:
    """All moments, and the floor of the loss."""

    moments: tuple[Told, ...]
    entropy: float

    @property
    def names(self) -> tuple[str, ...]:
        """The moments as a link calls them."""
        return tuple(told.name for told in self.moments)


def found(model) -> Training | None:
    """The checkpoints beside the chosen model, or None."""
    return run.compute(learning.training, model)


def story(training: Training) -> Story:
    """Every checkpoint, measured on the repeated words and on the reader's text."""
    spec = run.spec()
    with st.spinner(text("run.running")):
        moments = [run.compute(_told, checkpoint, spec) for checkpoint in training.checkpoints]
    return Story(tuple(moments), training.entropy)


def _told(checkpoint, spec):
    path = checkpoint.path
    return Told(checkpoint, learning.skill(path), learning.moment(path, spec))


def values(story: Story, at: int) -> dict:
    """What the page's sentences may name."""
    now, last = story.moments[at], story.moments[-1]
    return {
        "train_step": now.step,
        "loss": number(now.checkpoint.loss, 2),
        "copied": percent(now.skill.copied),
        "entropy": number(story.entropy, 2),
        "last_step": last.step,
        "n_moments": len(story.moments),
        "previous_step": _passed(story, "previous"),
        "induction_step": _passed(story, "induction"),
        "previous_head": head_name(*learning.best(last.skill.previous)[1:]),
        "induction_head": head_name(*learning.best(last.skill.induction)[1:]),
    }


def _passed(story, name):
    """The step of the first moment at which the best head's score is at least one half."""
    scores = [learning.best(getattr(told.skill, name))[0] for told in story.moments]
    n = learning.first_above(scores, HALF)
    return "–" if n is None else story.moments[n].step


def head_name(layer: int, head: int) -> str:
    """A head in words."""
    return text("learning.head", layer=layer, head=head)


def bar(story: Story, at: int) -> None:
    """Previous and next moment, by buttons and by arrow keys."""

    def moved():
        go_to(story, st.session_state["walk_training"]["move"]["step"])

    steps = [text("learning.step", step=told.step) for told in story.moments]
    data = {"steps": steps, "step": at, "layer": 0, "n_layers": 0}
    walk.bar(data, "walk_training", moved, aria=text("learning.aria"))


def go_to(story: Story, at: int) -> None:
    """Choose a moment, because the reader did."""
    session.put(op=story.names[at])


def elsewhere() -> None:
    """For a model without checkpoints: it says so, and Nano is one click away."""
    run.notice(words.html("learning.none", model=run.title()))
    go, nano = presets.to_model, models.NANO
    st.button(
        text("learning.open_nano"), key="open_nano", on_click=go, args=(nano,), type="primary"
    )
