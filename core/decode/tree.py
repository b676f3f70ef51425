"""What a beam search goes by and what it leaves: its rules, the branches of each level, the texts
that finished and their scores. Knows no model.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from core.errors import SettingError

MAX_BEAMS, MAX_PENALTY = 16, 10.0


@dataclass(frozen=True)
class Rules:
    """How a search chooses. Raises SettingError for a bad setting.

    n_beams: texts that run on at each level, and texts at the end. length_penalty: the power of the
    length that a sum is divided by; sums are negative, so above 0 it favours long texts.
    early_stopping: True stops when n_beams texts have finished. False stops when the best beam,
    scored as long as it is, is no better than the worst of n_beams finished texts; "never" scores
    it as long as it may become, where that is better for it (length_penalty above 0).
    """

    n_beams: int = 3
    length_penalty: float = 1.0
    early_stopping: bool | str = False

    def __post_init__(self):
        whole = isinstance(self.n_beams, int) and not isinstance(self.n_beams, bool)
        if not whole or not 1 <= self.n_beams <= MAX_BEAMS:
            self._refuse("n_beams", f"a whole number, at least 1 and at most {MAX_BEAMS}")
        power = self.length_penalty
        number = isinstance(power, (int, float)) and not isinstance(power, bool)
        if not number or not abs(power) <= MAX_PENALTY:
            self._refuse("length_penalty", f"a number from {-MAX_PENALTY:g} to {MAX_PENALTY:g}")
        if not isinstance(self.early_stopping, bool) and self.early_stopping != "never":
            self._refuse("early_stopping", "True, False or 'never'")

    def _refuse(self, name, wanted):
        value = repr(getattr(self, name))[:80]
        raise SettingError("bad_setting", name=name, wanted=wanted, value=value)

    def n_candidates(self, n_ends: int) -> int:
        """Branches looked at in a level: enough that n_beams run on if every beam could end by each
        of the n_ends end tokens.
        """
        return max(2, 1 + n_ends) * self.n_beams


@dataclass(frozen=True)
class Node:
    """A branch that was looked at: one more token after a beam of the level before.

    Attributes:
        level: tokens since the prompt, this one included, from 1. place: its rank in its level,
        from 0. parent: place of the beam it goes on from, in the level before; None in the first.
        id: the token. text: its visible form. logprob: its log-probability after the parent, in
        nat. sum: of the logprobs from the prompt to here. is_end: whether it is an end token.
        state: "kept": runs on. "finished": a whole text, by an end token or by the limit of tokens.
        "dropped": neither; an end token that is dropped ranked behind the first n_beams.
    """

    level: int
    place: int
    parent: int | None
    id: int
    text: str
    logprob: float
    sum: float
    is_end: bool
    state: str


@dataclass(frozen=True)
class Hypothesis:
    """A finished text. ids: its tokens, the end token too. text: without the end token. score: its
    sum under the length penalty. place: of its last node, in level `n`. is_end: an end token closed
    it, not the limit.
    """

    ids: tuple[int, ...]
    text: str
    sum: float
    score: float
    place: int
    is_end: bool

    @property
    def n(self) -> int:
        """Tokens after the prompt, the end token too: the length that the penalty counts."""
        return len(self.ids)


@dataclass(frozen=True)
class Level:
    """One more token for every beam.

    Attributes:
        number: from 1. nodes: the branches looked at, best sum first. finished: the best whole
        texts so far, at most n_beams, best score first. reachable: the score that the best beam
        still running is taken to reach, None where none runs. worst: the lowest score of n_beams
        finished texts, None while there are fewer. seconds: how long its passes and choices took.
        stop: None, or why this is the last level: "limit" of tokens, "settled" (reachable is not
        above worst, or no beam is left), "full" (n_beams have finished, under early_stopping) or
        "nonfinite" (scores that are not finite; then there are no nodes). where: then the first op
        and its layer (None outside the blocks) with a number that is not finite.
    """

    number: int
    nodes: tuple[Node, ...]
    finished: tuple[Hypothesis, ...]
    reachable: float | None
    worst: float | None
    seconds: float
    stop: str | None
    where: tuple[str, int | None] | None = None

    @property
    def kept(self) -> tuple[Node, ...]:
        """The beams that run on, best first."""
        return tuple(node for node in self.nodes if node.state == "kept")


def score(total: float, n: int, length_penalty: float) -> float:
    """What a text of n tokens with this sum of log-probabilities is worth, in nat per token^power.

    total / n^length_penalty (Wu et al. 2016 divide by ((5 + n) / 6)^power; transformers by this).
    """
    return total / n**length_penalty


def rescored(finished: Iterable[Hypothesis], length_penalty: float) -> tuple[Hypothesis, ...]:
    """The same texts under another length penalty, best first. A search under that penalty may find
    others, where texts end before the limit.
    """
    return ranked(replace(h, score=score(h.sum, h.n, length_penalty)) for h in finished)


def path(levels, node: Node) -> tuple[Node, ...]:
    """The nodes from the prompt to this one. levels: all in order, up to its own at least."""
    nodes = [node]
    while nodes[-1].parent is not None:
        nodes.append(levels[nodes[-1].level - 2].nodes[nodes[-1].parent])
    return tuple(reversed(nodes))


def ranked(texts: Iterable[Hypothesis]) -> tuple[Hypothesis, ...]:
    """Best score first; of the same score the earlier stays first."""
    return tuple(sorted(texts, key=lambda text: -text.score))
