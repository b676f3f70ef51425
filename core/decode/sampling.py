"""Scores become one token: stages in a stated order, then one draw. Knows logits only; no model, no
text.

The rule of every draw: the candidates walk from the most probable to the least, equal scores by the
smaller id first. `u` is a number in [0, 1) that the seed and the step decide
(numpy's default_rng([seed, step])). The token is the first whose cumulative probability exceeds u.
At temperature 0 nothing is drawn: the first of that order is the token.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from . import filters
from .filters import log_softmax, softmax

# What each stage does, (scores [vocab], ids so far, spec) -> scores [vocab], by its name.
STAGES = {
    "repetition": lambda x, seen, spec: filters.penalize(x, seen, spec.repetition_penalty),
    "presence": lambda x, seen, spec: filters.presence(x, seen, spec.presence_penalty),
    "frequency": lambda x, seen, spec: filters.frequency(x, seen, spec.frequency_penalty),
    "temperature": lambda x, seen, spec: filters.temper(x, spec.temperature),
    "top_k": lambda x, seen, spec: filters.keep_top_k(x, spec.top_k),
    "top_p": lambda x, seen, spec: filters.keep_top_p(x, spec.top_p),
    "min_p": lambda x, seen, spec: filters.keep_min_p(x, spec.min_p),
    "typical": lambda x, seen, spec: filters.keep_typical(x, spec.typical_p),
}
_PENALTIES = ("repetition", "presence", "frequency")
# The same filters in the order of two engines (transformers has no presence or frequency penalty of
# its own; they stand where others that follow it have them).
ORDERS = {
    "transformers": (*_PENALTIES, "temperature", "top_k", "top_p", "min_p", "typical"),
    "llama.cpp": (*_PENALTIES, "top_k", "typical", "top_p", "min_p", "temperature"),
}


@dataclass(frozen=True, eq=False)
class Stage:
    """What one step of the order made of the scores.

    Attributes:
        name: "logits" for the scores as the model gave them, then the names of an order.
        active: whether its setting does anything; if not, scores is the array of the stage before.
        scores: float64 [vocab], read-only; minus infinity where a token was cut.
        before: the scores of the stage before; of the first stage its own.
    """

    name: str
    active: bool
    scores: np.ndarray
    before: np.ndarray

    @cached_property
    def n_kept(self) -> int:
        """Tokens that are not cut after this stage."""
        return int(np.count_nonzero(self.scores > -np.inf))

    @cached_property
    def n_cut(self) -> int:
        """Tokens that this stage cut."""
        return int(np.count_nonzero(self.before > -np.inf)) - self.n_kept

    @cached_property
    def probs(self) -> np.ndarray:
        """What would be drawn from if the order ended here: softmax, float64 [vocab], read-only."""
        return _frozen(softmax(self.scores))

    @cached_property
    def mass_kept(self) -> float:
        """The share of the probability of the stage before that the kept tokens held."""
        return float(1 - softmax(self.before)[self.scores == -np.inf].sum())

    def n_holding(self, share: float) -> int:
        """How many tokens it takes after this stage, the most probable first, to hold at least a
        share of 1.
        """
        return _n_holding(self.scores, share)

    def n_held_before(self, share: float) -> int:
        """The same before this stage."""
        return _n_holding(self.before, share)

    def moved(self, n: int | None = None) -> np.ndarray:
        """Ids of the tokens whose score this stage changed without cutting them, the most probable
        before first; the first n.
        """
        moved = (self.scores != self.before) & (self.scores > -np.inf)
        return filters.descending(np.where(moved, self.before, -np.inf), n)

    def kept(self, n: int | None = None) -> np.ndarray:
        """Ids of the kept tokens, the most probable first; the first n of them."""
        return filters.descending(self.scores, n)

    def cut(self, n: int | None = None) -> np.ndarray:
        """Ids of the tokens that this stage cut, the most probable before first; the first n."""
        gone = (self.scores == -np.inf) & (self.before > -np.inf)
        return filters.descending(np.where(gone, self.before, -np.inf), n)


def stages(logits, seen, spec) -> tuple[Stage, ...]:  # [vocab], [seq]
    """Every stage of the spec's order, the logits first. seen: ids of prompt and continuation."""
    scores = _frozen(np.array(logits, np.float64))
    found = [Stage("logits", True, scores, scores)]
    for name in ORDERS[spec.order]:
        after = STAGES[name](scores, seen, spec)
        found.append(Stage(name, after is not scores, _frozen(after), scores))
        scores = after
    return tuple(found)


@dataclass(frozen=True, eq=False)
class Draw:
    """One token and the distribution it was drawn from; what is not asked for is not computed.

    Attributes:
        scores: float64 [vocab], read-only, minus infinity for what was cut: those behind the last
            stage; of a greedy choice those before the temperature, of which it is the largest.
        u: the number that was drawn; None for a greedy choice.
    """

    scores: np.ndarray
    u: float | None

    @property
    def greedy(self) -> bool:
        """Whether the most probable token was taken without a draw."""
        return self.u is None

    @cached_property
    def shares(self) -> np.ndarray:
        """The probability of every token, 0 for what was cut: float64 [vocab], read-only."""
        return _frozen(softmax(self.scores))

    @cached_property
    def _walked(self):
        """The beginning of `ids` and of `cumulative`, as far as u is beyond doubt."""
        return filters.walk(self.scores, self.shares, self.u)

    @cached_property
    def id(self) -> int:
        """The token."""
        return int(np.argmax(self.scores) if self.greedy else self._walked[0][self.place])

    @cached_property
    def place(self) -> int:
        """Where the token stands in `ids`."""
        return 0 if self.greedy else int(_walk(self._walked[1], self.u))

    @property
    def before(self) -> float:
        """The probability of all tokens before it in `ids`; of a greedy choice there is none."""
        return 0.0 if self.greedy else float(self._walked[1][self.place])

    @property
    def prob(self) -> float:
        """The probability of the token."""
        return float(self.shares[self.id])

    def place_of(self, u: float) -> int:
        """The place of the first token whose cumulative probability exceeds u."""
        return int(_walk(self.cumulative, u))

    @cached_property
    def ids(self) -> np.ndarray:
        """The kept tokens in the order of the walk: int [kept]."""
        return _frozen(filters.descending(self.scores))

    @cached_property
    def probs(self) -> np.ndarray:
        """Their probabilities: float64 [kept]."""
        return _frozen(self.shares[self.ids])

    @cached_property
    def cumulative(self) -> np.ndarray:
        """Float64 [kept + 1], from 0: token number n owns cumulative[n] up to cumulative[n + 1]."""
        return _frozen(np.append(0.0, np.cumsum(self.probs)))

    @cached_property
    def n_kept(self) -> int:
        """How many tokens could have been drawn; of a greedy choice, how many it was taken from."""
        return int(np.count_nonzero(self.scores > -np.inf))

    @cached_property
    def tied(self) -> int:
        """How many tokens share the largest score."""
        return int(np.count_nonzero(self.scores == np.max(self.scores)))


def draw(logits, seen, spec, step: int) -> Draw:
    """Run the stages and draw what follows, by the rule above.

    logits: [vocab], finite; seen: ids of prompt and continuation; spec: a RunSpec; step: number of
    tokens generated before this one.
    """
    return drawn(stages(logits, seen, spec), spec, step)


def drawn(found: tuple[Stage, ...], spec, step: int) -> Draw:
    """The draw behind stages that have been run, as `draw` makes it."""
    if spec.temperature == 0:
        return Draw(next(s.before for s in found if s.name == "temperature"), None)
    return Draw(found[-1].scores, float(_generator(spec, step).random()))


def by_seed(made: Draw, spec, step: int, seeds) -> list[int]:
    """What each seed makes of the same distribution: ids [seed]. A greedy choice is always the
    same.
    """
    if made.greedy:
        return [made.id for _ in seeds]
    numbers = [_generator(replace(spec, seed=seed), step).random() for seed in seeds]
    return made.ids[_walk(made.cumulative, numbers)].tolist()


def choose(logits, seen, spec, step: int) -> int:
    """The id that `draw` gives."""
    return draw(logits, seen, spec, step).id


def rolls(drawn: Draw, spec, step: int, n: int) -> np.ndarray:  # -> [kept]
    """How often each kept token comes in n draws, in the order of `drawn.ids`; n * drawn.probs is
    what to expect.

    The u of the draws are the first n numbers of the generator of this seed and step, so the first
    is the draw itself. A greedy choice is the same n times.
    """
    if drawn.greedy:
        places = np.zeros(n, np.int64)
    else:
        places = _walk(drawn.cumulative, _generator(spec, step).random(n))
    return np.bincount(places, minlength=drawn.n_kept)


def log_prob(logits, id) -> float:  # [vocab]
    """Log-probability of one token, in nat; made in float64."""
    return float(log_softmax(np.asarray(logits, np.float64))[id])


def _n_holding(scores, share):
    return int(np.count_nonzero(filters.keep_top_p(scores, share) > -np.inf))


def _walk(cumulative, u):
    """The first place whose cumulative probability exceeds u; should rounding leave the sum below
    u, the last token that adds to it.
    """
    ends = cumulative[1:]
    return np.minimum(ends.searchsorted(u, "right"), ends.searchsorted(ends[-1]))


def _generator(spec, step):
    return np.random.default_rng([spec.seed, step])


def _frozen(array):
    array.flags.writeable = False
    return array
