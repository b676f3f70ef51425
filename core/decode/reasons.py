"""Why a stage kept a token or cut it: what its filter reads of every token, and the bound that it
compares with. Knows stages and the spec's settings; no model, no text, no sentences.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from . import filters
from .sampling import Stage


@dataclass(frozen=True, eq=False)
class Rule:
    """What a filter compares. A token stays where its measure is on the right side of the bound.

    Attributes:
        measure: float64 [vocab]. top_k, min_p and temperature 0: the score; top_p: the probability
            of the more probable tokens before it; typical: abs(-ln p - H) in nat. Infinite where
            the token was cut before.
        bound: top_k: the k-th largest score; min_p: max + ln p; top_p: p; typical: the largest
            measure that stays; temperature 0: the largest score.
        aside: what the bound or the measure is made of: the largest score of min_p, the entropy H
            of typical; None for the others.
    """

    measure: np.ndarray
    bound: float
    aside: float | None = None


@dataclass(frozen=True)
class Fate:
    """What a stage did to one token.

    Attributes:
        before, after: its score. prob: its probability before; surprise: -ln of that, in nat.
        measure: as in Rule; None where the stage compares nothing. count: how often the token is in
            the text so far. gone: whether an earlier stage had cut it. kept: whether it is not cut
            behind this one.
    """

    id: int
    before: float
    after: float
    prob: float
    surprise: float
    measure: float | None
    count: int
    gone: bool
    kept: bool


def rule(stage: Stage, spec) -> Rule | None:
    """What the stage compares; None for a stage that cuts nothing by comparing."""
    make = RULES.get(stage.name)
    return make(stage, spec) if make and stage.active else None


def _zero(stage, spec):
    if spec.temperature == 0:
        return Rule(stage.before, float(np.max(stage.before)))


def _top_k(stage, spec):
    return Rule(stage.before, float(filters.kth_largest(stage.before, spec.top_k)))


def _top_p(stage, spec):
    ids, before = filters.mass_before(stage.before)
    measure = np.full(len(stage.before), np.inf)
    measure[ids] = before
    return Rule(measure, spec.top_p)


def _min_p(stage, spec):
    least = filters.least_score(stage.before, spec.min_p)
    return Rule(stage.before, float(least), float(np.max(stage.before)))


def _typical(stage, spec):
    away = filters.from_entropy(stage.before)
    farthest = np.max(away[stage.scores > -np.inf])
    return Rule(away, float(farthest), float(filters.entropy(stage.before)))


RULES: dict[str, Callable] = {
    "temperature": _zero,
    "top_k": _top_k,
    "top_p": _top_p,
    "min_p": _min_p,
    "typical": _typical,
}


def fate(stage: Stage, found: Rule | None, seen, id: int) -> Fate:
    """What the stage did to a token. found: its rule; seen: ids of prompt and continuation."""
    before, prob = float(stage.before[id]), float(_before(stage)[id])
    gone = before == -np.inf
    return Fate(
        id=id,
        before=before,
        after=float(stage.scores[id]),
        prob=prob,
        surprise=np.inf if gone else -float(filters.log_softmax(stage.before)[id]),
        measure=None if found is None else float(found.measure[id]),
        count=int(np.count_nonzero(np.asarray(seen) == id)),
        gone=gone,
        kept=bool(stage.scores[id] > -np.inf),
    )


def overflows(stage: Stage, spec) -> bool:
    """Whether a temperature above 0 is so small that scores divided by it leave float64."""
    if stage.name != "temperature" or spec.temperature == 0:
        return False
    return stage.n_cut > 0 or shift(stage, spec) is not None


def shift(stage: Stage, spec) -> float | None:
    """The largest score, where it would leave float64 and is subtracted from all first; else None.
    As in filters.temper.
    """
    if stage.name != "temperature" or spec.temperature == 0:
        return None
    largest = float(np.max(stage.before))
    return None if math.isfinite(largest / spec.temperature) else largest


def beyond(stage: Stage, k: int) -> int:
    """How many tokens top-k kept beyond k, because their score equals the k-th."""
    return max(0, stage.n_kept - k)


@dataclass(frozen=True)
class Share:
    """A probability from its score: exp(score - largest) / total."""

    score: float
    largest: float
    power: float
    total: float
    prob: float


def share(scores, id: int) -> Share:  # [vocab]
    """The softmax of one token, step by step, in float64."""
    scores = np.asarray(scores, np.float64)
    largest = float(np.max(scores))
    power, total = float(np.exp(scores[id] - largest)), float(np.exp(scores - largest).sum())
    return Share(float(scores[id]), largest, power, total, power / total)


@dataclass(frozen=True, eq=False)
class Row:
    """A token beside a stage's bar: its probability before and after; 0 and `cut` where it fell."""

    id: int
    before: float
    after: float
    cut: bool


def rows(stage: Stage, n: int, also: int | None = None, left: bool = False) -> list[Row]:
    """What a stage made of the n most probable tokens before it, and of `also`; see `first`. left:
    of those behind it instead, as they are there.
    """
    ids = first(stage.scores if left else stage.before, n, also)
    after = stage.probs[ids]
    before = after if left else _before(stage)[ids]
    cut = stage.scores[ids] == -np.inf
    columns = ids, before.tolist(), after.tolist(), cut.tolist()
    return [Row(*each) for each in zip(*columns, strict=True)]


def first(scores, n: int, also: int | None = None) -> list[int]:  # [vocab]
    """The n most probable tokens, and behind them `also`, if it is not among them and not cut."""
    ids = filters.descending(scores, n).tolist()
    missing = also is not None and also not in ids and scores[also] > -np.inf
    return [*ids, also] if missing else ids


def _before(stage):
    return filters.softmax(stage.before)
