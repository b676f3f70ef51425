"""The stages of sampling behind a position of a run. Reads a trace; no sentences, no figures."""

from core.decode import sampling, twoorders

from .agreement import Agreement, compare, rounding
from .finite import check_scores


def stages(trace, position: int, spec) -> tuple[sampling.Stage, ...]:
    """Every stage of the spec's order for what comes after a position, as if the text ended there.
    TokenwalkError where the scores are not finite numbers.
    """
    return sampling.stages(_scores(trace, position), seen(trace, position), spec)


def orders(trace, position: int, spec) -> twoorders.Both:
    """The same in both orders. Raises as `stages`."""
    return twoorders.both(_scores(trace, position), seen(trace, position), spec)


def seen(trace, position: int) -> tuple[int, ...]:
    """The ids up to a position and with it: what penalties count."""
    return tuple(trace.ids[: position + 1])


def recorded(trace, position: int, first: sampling.Stage) -> Agreement:
    """The probabilities before any stage, made in float64, beside those of the run."""
    return compare(first.probs, trace.probs(position), rounding(first.probs))


def _scores(trace, position):
    logits = trace.logits(position)
    check_scores(trace, position, logits)
    return logits
