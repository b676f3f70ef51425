"""What a space at the end of a text does to the next token: the same text run without and with it.

Knows runs and rankings of a plain text; no figures.
"""

from dataclasses import dataclass, replace

import numpy as np

from core.run import run

from .lookup import listing
from .output import Candidate, candidate, guess

TOP = 7  # candidates of each run
TOLERANCE = 1e-3  # of a logit: passes of different lengths add up in another order


@dataclass(frozen=True)
class Ending:
    """One of the two runs. ids, tokens: of its text, tokens in their visible form. top: the most
    probable next tokens, the first one the best.
    """

    ids: tuple[int, ...]
    tokens: tuple[str, ...]
    top: tuple[Candidate, ...]


@dataclass(frozen=True)
class Trailing:
    """The two runs. n_shared: how many tokens they begin with alike. n_spaces: in how many spaces
    the given text ends. drift: the largest difference between the logits of both runs after the
    last token without the space, which sees the same tokens in both; None where the space has
    changed that token.

    best_spaced: where the best token without the space stands with it. bare: where the same token
    stands there in the spelling without its own space, None where it has none. best_unspaced: where
    the best token with the space stands without it.
    """

    unspaced: Ending
    spaced: Ending
    n_shared: int
    n_spaces: int
    best_spaced: Candidate
    bare: Candidate | None
    best_unspaced: Candidate
    drift: float | None


def trailing(spec, n: int = TOP) -> Trailing | None:
    """The text of a spec (a prompt) run without spaces at its end, and with its own or else one.

    None where the text is nothing but spaces. Raises PromptError, and TokenwalkError where scores
    are not finite numbers.
    """
    if not spec.prompt.rstrip(" "):
        return None
    traces = _both(spec)
    unspaced, spaced = (_ending(trace, n) for trace in traces)
    best, other = unspaced.top[0], spaced.top[0]
    return Trailing(
        unspaced=unspaced,
        spaced=spaced,
        n_shared=_shared(unspaced.ids, spaced.ids),
        n_spaces=len(spec.prompt) - len(spec.prompt.rstrip(" ")),
        best_spaced=candidate(traces[1], best.id),
        bare=_bare(traces[1], best.id),
        best_unspaced=candidate(traces[0], other.id),
        drift=_drift(*traces),
    )


def own_space(spec) -> tuple[float, float]:
    """How much of the probability goes to tokens that begin with a space: after the text of a spec
    without spaces at its end, and with its own or else one. Raises as `trailing`.
    """
    traces = _both(spec)
    begins = np.array([data[:1] == b" " for data in listing(traces[0].model).data])
    first, second = (float(trace.probs()[begins].sum(dtype=np.float64)) for trace in traces)
    return first, second


def _both(spec):
    """The traces of both texts."""
    without = spec.prompt.rstrip(" ")
    texts = without, (spec.prompt if spec.prompt != without else without + " ")
    return [run(replace(spec, prompt=text)) for text in texts]


def _drift(unspaced, spaced):
    last = len(unspaced.ids) - 1
    if spaced.ids[: last + 1] != unspaced.ids:
        return None
    return float(np.abs(unspaced.logits(last) - spaced.logits(last)).max())


def _ending(trace, n):
    return Ending(trace.ids, trace.tokens, guess(trace, -1, n).top)


def _shared(first, second):
    """How many ids two lists begin with alike."""
    same = (a == b for a, b in zip(first, second, strict=False))
    return next((n for n, alike in enumerate(same) if not alike), min(len(first), len(second)))


def _bare(trace, id):
    """Where a token stands in the spelling without its own space; None where it carries none."""
    words = trace.model.tokenizer
    data = words.token_bytes(id)
    spelled = data.decode("utf-8", "replace").lstrip(" ")
    if not data.startswith(b" ") or not spelled:
        return None
    exact = [n for n in words.encode(spelled) if words.token_bytes(n) == spelled.encode()]
    return candidate(trace, exact[0]) if exact else None
