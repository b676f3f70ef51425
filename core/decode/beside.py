"""Texts from the same start beside each other, however their tokens were chosen: which is the more
probable, and how long they agree; and the sum of one of them, made again in a single pass.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from core.run import RunSpec, run

from .generate import Event
from .sampling import log_prob
from .tree import score


@dataclass(frozen=True)
class Continued:
    """What a run of `generate` wrote. ids: its tokens, the end token too. sum: of their
    log-probabilities at temperature 1 and without penalties, in nat. is_end: an end token closed
    it.
    """

    ids: tuple[int, ...]
    text: str
    sum: float
    is_end: bool

    @property
    def n(self) -> int:
        """Tokens after the prompt, the end token too."""
        return len(self.ids)

    def score(self, length_penalty: float) -> float:
        """What beam search would say that it is worth; nan for no tokens."""
        return score(self.sum, self.n, length_penalty) if self.n else math.nan


def continued(events: Iterable[Event]) -> Continued:
    """The text of a run, or of its first events."""
    events = [event for event in events if event.id is not None]
    text = "".join(event.text for event in events)
    is_end = bool(events) and events[-1].stop == "end"
    return Continued(
        tuple(event.id for event in events), text, sum(e.logprob for e in events), is_end
    )


def n_alike(a: Sequence[int], b: Sequence[int]) -> int:
    """With how many equal tokens two texts begin."""
    pairs = zip(a, b, strict=False)
    return next((n for n, (x, y) in enumerate(pairs) if x != y), min(len(a), len(b)))


def times(a: float, b: float) -> float:
    """How many times as probable a text is as another, by their sums: exp(a - b)."""
    return math.exp(min(a - b, 700.0))


def by_one_pass(trace, ids: Sequence[int]) -> list[float]:
    """The log-probabilities of tokens after the prompt of a trace, from one pass over all of them
    at once, without a cache: [token], in nat. Raises PromptError.
    """
    before = len(trace.ids)
    whole = run(RunSpec(trace.spec.model, ids=(*trace.ids, *ids[:-1]), edits=trace.spec.edits))
    return [log_prob(whole.logits(before - 1 + n), id) for n, id in enumerate(ids)]
