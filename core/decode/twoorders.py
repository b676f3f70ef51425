"""The same settings in the two orders of stages: what both keep, what one alone keeps, and what
makes them differ. Knows stages; no model, no text, no sentences.
"""

from dataclasses import dataclass, replace

import numpy as np

from . import filters
from .sampling import ORDERS, Draw, Stage, drawn, stages

READING = ("top_p", "min_p", "typical")  # filters that read probabilities, not only their order


@dataclass(frozen=True, eq=False)
class Run:
    """One order: its stages and the draw behind them."""

    order: str
    stages: tuple[Stage, ...]
    draw: Draw

    @property
    def active(self) -> tuple[Stage, ...]:
        """The stages that do anything, without the logits."""
        return tuple(stage for stage in self.stages[1:] if stage.active)

    @property
    def last(self) -> Stage:
        """The stage whose tokens are drawn from."""
        return self.stages[-1]


@dataclass(frozen=True, eq=False)
class Both:
    """Two orders side by side.

    Attributes:
        first, second: the runs in transformers' order and in llama.cpp's.
        shared, only_first, only_second: ids that are kept at the end by both or by one, the most
            probable first.
        why: "off" where no filter is on; "one" at temperature 1, where only the typical filter has
            another place; "rank" where the filters read the order of the scores alone; "greedy" at
            temperature 0; "hot" or "cold" where the temperature changes what the filters read;
            "typical" where that filter's place does.
    """

    first: Run
    second: Run
    shared: np.ndarray
    only_first: np.ndarray
    only_second: np.ndarray
    why: str

    @property
    def same(self) -> bool:
        """Whether both draw from the same tokens: then the probabilities are the same, too."""
        return not len(self.only_first) and not len(self.only_second)

    @property
    def may_differ(self) -> bool:
        """Whether other numbers in the same settings could make them differ."""
        if self.why == "greedy":
            return any(stage.name == "typical" for stage in self.first.active)
        return self.why in ("hot", "cold", "typical")


def both(logits, seen, spec, step: int = 0) -> Both:
    """The stages of the spec's settings in each order, and one draw each with the same u.

    logits: [vocab], finite; seen: ids of prompt and continuation; step: as `draw`.
    """
    first, second = (_run(logits, seen, replace(spec, order=order), step) for order in ORDERS)
    a, b = first.last.scores, second.last.scores
    in_a, in_b = a > -np.inf, b > -np.inf
    return Both(
        first,
        second,
        shared=_ranked(a, in_a & in_b),
        only_first=_ranked(a, in_a & ~in_b),
        only_second=_ranked(b, in_b & ~in_a),
        why=_why(first, spec),
    )


def _run(logits, seen, spec, step):
    found = stages(logits, seen, spec)
    return Run(spec.order, found, drawn(found, spec, step))


def _ranked(scores, among):
    return filters.descending(np.where(among, scores, -np.inf))


def _why(run, spec):
    on = {stage.name for stage in run.active}
    if not on & {"top_k", *READING}:
        return "off"
    if spec.temperature == 0:
        return "greedy"
    if spec.temperature != 1:
        return ("hot" if spec.temperature > 1 else "cold") if on & {*READING} else "rank"
    return "typical" if "typical" in on and on & {"top_p", "min_p"} else "one"
