"""The same run with one head switched off: what the head looked at is fetched no more, at any
position. What becomes of the prediction then, and what the head itself writes towards a token.

Reads traces and computes in float64; no figures, no sentences. Sources: switching heads off (Voita
et al. 2019; Michel et al. 2019); direct effect beside total effect (McGrath et al. 2023); looking
is not helping (negative name movers, Wang et al. 2022).
"""

from dataclasses import dataclass

import numpy as np

from core.model.tap import Edit
from core.run import run_from

from . import attending, attribution, roles
from .agreement import Agreement, compare, rounding
from .derived import kept
from .output import Candidate, guess

SAMPLE = 512  # bytes of one, about
FIRST = 8  # of the most probable tokens, with the head and without it
RAISED = {"lower": -1, "higher": 1}


def muted(trace, layer: int, head: int):
    """The Trace of the same ids with a head's slice of the mix set to zero at all positions, beside
    what was edited before. What lies before the layer is taken from `trace`, not run again.
    """
    edit = Edit("attn.mix", layer=layer, head=head)
    edits = (*(each for each in trace.spec.edits if each != edit), edit)
    return run_from(trace, layer, edits)


# ---- what becomes of the prediction --------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Effect:
    """The prediction after one position, as it is and with a head muted: two each.

    Attributes:
        probs: float32 [vocab]. logs: natural logarithms of the probabilities, float64 [vocab].
        logits: before any cap, float32 [vocab].
        top: the most probable tokens, as `output.Candidate`.
        seconds: how long the run with the head muted took.
        agreement: what the layer's attention wrote less without the head, beside what the head
            wrote as its own columns of the output projection times its mix [embedding].
    """

    probs: tuple[np.ndarray, np.ndarray]
    logs: tuple[np.ndarray, np.ndarray]
    logits: tuple[np.ndarray, np.ndarray]
    top: tuple[tuple[Candidate, ...], tuple[Candidate, ...]]
    seconds: float
    agreement: Agreement

    @property
    def ids(self) -> list[int]:
        """The first tokens of both, the most probable in either first."""
        found = {each.id for some in self.top for each in some}
        return sorted(found, key=lambda id: (-max(each[id] for each in self.logs), id))

    @property
    def divergence(self) -> float:
        """How far the prediction without the head is from that with it: `divergence` in nats."""
        return divergence(*self.logs)

    @property
    def changed(self) -> bool:
        """Whether another token is the most probable one."""
        return self.top[0][0].id != self.top[1][0].id

    def raised(self, id: int) -> int:
        """Whether a token is more probable without the head (1), less (-1), or as probable (0)."""
        return int(np.sign(self.logs[1][id] - self.logs[0][id]))

    def total(self, id: int) -> float:
        """The total effect of the head on a token's logit: with it, minus without it."""
        before, after = (float(logits[id]) for logits in self.logits)
        return before - after


def effect(trace, layer: int, head: int, position: int = -1) -> Effect:
    """The prediction after a position, as it is and with a head muted at all positions.

    Raises TokenwalkError where the scores are not finite numbers.
    """
    both = (trace, muted(trace, layer, head))
    scores = [each.logits(position).astype(np.float64) for each in both]
    return Effect(
        tuple(each.probs(position) for each in both),
        tuple(_log_softmax(each) for each in scores),
        tuple(each.output("logits", position) for each in both),
        tuple(guess(each, position, FIRST).top for each in both),
        both[1].seconds,
        _missing(*both, layer, head, position),
    )


def divergence(p, q) -> float:
    """The KL divergence of q from p in nats, sum of P ln(P / Q); 0 where both are the same.

    p, q: natural logarithms of the probabilities, float64 [vocab].
    """
    return max(0.0, float(np.exp(p) @ (p - q)))


def _log_softmax(scores):  # [vocab] -> [vocab]
    less = scores - scores.max()
    return less - np.log(np.exp(less).sum())


def _missing(trace, other, layer, head, position):
    """What attention wrote less without the head, beside what the head wrote."""
    c, weight = trace.config, trace.model.weights.get("attn_out", layer)
    mix = trace.read("attn.mix", layer)[position].astype(np.float64)
    own = slice(head * c.head_dim, (head + 1) * c.head_dim)
    before, after = (each.read("attn.out", layer)[position] for each in (trace, other))
    sizes = np.abs(weight) @ np.abs(mix).reshape(-1) + np.abs(before)
    less = before.astype(np.float64) - after
    return compare(weight[:, own] @ mix[head], less, rounding(2 * sizes))


# ---- what the head writes towards a token --------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Written:
    """What a head adds to one token's logit at a position, key by key, with the last norm's scale
    as it was: each float64 [key], for the keys up to the position.

    Attributes:
        weights: how much the head looks at each key.
        values: what a key's value would add, looked at with a weight of 1.
        parts: weight × value. recorded: what the mix that the pass computed adds.
        agreement: the sum of the parts beside that.
    """

    weights: np.ndarray
    values: np.ndarray
    parts: np.ndarray
    recorded: float
    agreement: Agreement

    @property
    def total(self) -> float:
        """What the head adds, all keys together."""
        return float(self.parts.sum())

    @property
    def looked(self) -> float:
        """The sum of the weights of all keys."""
        return float(self.weights.sum())

    def most(self, keys) -> float:
        """The largest magnitude among the parts of these keys."""
        return float(np.abs(self.parts[list(keys)]).max())

    def beside(self, total: float) -> int:
        """Whether what the head adds itself and the total effect have the same sign (1), opposite
        ones (-1), or one of them none (0).
        """
        return int(np.sign(self.total) * np.sign(total))

    def few(self, n_weights: int = 8, n_parts: int = 4) -> list[int]:
        """The keys with the largest weights and those that add or take most, the largest weight
        first; all, where they are not many more.
        """
        order = attending.largest_first(self.weights)
        if len(order) <= n_weights + n_parts:
            return order
        most = attending.largest_first(np.abs(self.parts))[:n_parts]
        shown = {*order[:n_weights], *most}
        return [key for key in order if key in shown]

    def rest(self, keys) -> tuple[int, float, float]:
        """Of all other keys: how many they are, their weights and their parts, added up."""
        others = np.delete(np.arange(len(self.parts)), keys)
        return len(others), float(self.weights[others].sum()), float(self.parts[others].sum())


def written(trace, layer: int, head: int, position: int, token: int) -> Written:
    """What a head adds to the logit of a token after a position, before any cap: key by key, for
    the keys up to the position, each array float64 [key]. A position may count from the end.
    """
    position %= len(trace.ids)
    mixed, back = (
        attending.mixed(trace, layer, head, position),
        _back(trace, layer, position, token),
    )
    back = back[head]
    values = mixed.values @ back
    parts = mixed.weights * values
    recorded = float(trace.read("attn.mix", layer)[position, head].astype(np.float64) @ back)
    sizes = np.abs(mixed.parts).sum(axis=0) @ np.abs(back)
    agreement = compare(parts.sum(), recorded, rounding(sizes))
    return Written(mixed.weights, values, parts, recorded, agreement)


def _back(trace, layer, position, token):
    """The directions whose dot product with a head's mix [head_dim] is what that adds to the logit
    of `token` after a position: float64 [head, head_dim]. The last norm's scale, and that of a norm
    behind attention, are those of the run.
    """
    w, c = trace.model.weights.layers[layer], trace.config
    toward, _ = attribution.direction(trace, token, None, position)
    if c.norm_place != "before":
        out = trace.read("attn.out", layer)[position]
        toward = attribution.through_norm(out, w.attn_post_norm, toward, c)
    return (toward @ w.attn_out).reshape(c.n_heads, c.head_dim)


def place(trace, layer: int, head: int, token: int, position: int) -> int:
    """Which place a head has among all heads by what it adds to a token's logit: 1 adds most."""
    return roles.rank(attribution.attribution(trace, token, None, position).heads, layer, head)


# ---- one head over several texts -----------------------------------------------------------------


@dataclass(frozen=True)
class Sample:
    """What a head does behind the last token of one text.

    Attributes:
        key, weight: what it looks at most; other, other_weight: most besides the first token, None
            and 0.0 where there is nothing else to see. token: the model's own first candidate.
        before, after: the probability of that, as it is and with the head muted.
        raised: 1 where muting makes it more probable, -1 where less, 0 where neither.
        changed: whether another token is first then. direct: what the head adds to its logit.
    """

    key: int
    weight: float
    other: int | None
    other_weight: float
    token: int
    before: float
    after: float
    raised: int
    changed: bool
    direct: float


def counted(samples) -> dict[str, int]:
    """In how many samples muting makes the first candidate less probable ("lower"), more ("higher")
    or another one the first ("changed"), in how many the head adds to its logit ("helps"), and how
    many there are ("n").
    """
    counts = {name: sum(each.raised == sign for each in samples) for name, sign in RAISED.items()}
    counts |= {"n": len(samples), "changed": sum(each.changed for each in samples)}
    return counts | {"helps": sum(each.direct > 0 for each in samples)}


def sample(trace, layer: int, head: int) -> Sample:
    """What a head does behind the last token of a trace."""
    asked = layer, head
    return kept(trace, ("sample", *asked), lambda: _sample(trace, *asked), lambda _: SAMPLE)


def _sample(trace, layer, head):
    found = effect(trace, layer, head)
    id, row = found.top[0][0].id, trace.read("attn.weights", layer)[head, -1]
    key, others = int(row.argmax()), row[1:]
    other = 1 + int(others.argmax()) if len(others) and others.max() > 0 else None
    return Sample(
        key,
        float(row[key]),
        other,
        0.0 if other is None else float(row[other]),
        id,
        float(found.probs[0][id]),
        float(found.probs[1][id]),
        found.raised(id),
        found.changed,
        written(trace, layer, head, -1, id).total,
    )
