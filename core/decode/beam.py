"""Beam search: several continuations at once, the best of all their branches kept at every level.

The rules are those of transformers' `_beam_search`, of which this is a second writing. Running sums
of log-probabilities (temperature 1, no filters, no penalties) rank all branches of all beams; the
first `n_candidates` are looked at. Of them those among the first `n_beams` that end may finish,
whether by an end token or because no token is left to spend; the first `n_beams` that do not end
run on. A finished text is worth sum / (its tokens, the end token too) ^ length_penalty.

Ties: of branches with the same sum the one of the better beam goes first, of one beam the smaller
id. An earlier finished text stays before a later one of the same score.
"""

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from core.run import RunSpec, open_model, prompt_ids

from .filters import log_softmax
from .generate import fill, first_nonfinite, next_logits, room_for
from .tree import Hypothesis, Level, Node, Rules, ranked, score


def beam_search(
    spec: RunSpec,
    n_beams: int = 3,
    length_penalty: float = 1.0,
    early_stopping: bool | str = False,
) -> Iterator[Level]:
    """Continue the prompt of a spec by beam search, level by level; the last level has a `stop`,
    and its `finished` is the result.

    Of the spec its prompt, max_new_tokens and edits count; how it would sample does not. One beam
    with early_stopping is what greedy `generate` does. Whoever has seen enough stops asking.

    Memory: keys and values of the prompt once, and of (n_beams + 1) * max_new_tokens tokens at most
    (7 MiB for 3 beams of 40 tokens of SmolLM2); the nodes of the levels that are kept.
    Raises ModelFileError, PromptError and SettingError at the first step.
    """
    rules = Rules(n_beams, length_penalty, early_stopping)
    model = open_model(spec.model)
    ids = prompt_ids(model, spec)
    n_new = min(spec.max_new_tokens, model.config.context - len(ids) + 1)
    search = _Search(rules, model.tokenizer, n_new)
    passes, beams = _Passes(model, ids, n_new, spec), [_Beam()]
    for number in range(1, n_new + 1):
        start = time.perf_counter()
        scores = [passes.scores(beam) for beam in beams]
        where = passes.broken(beams, scores)
        if where:
            level = search.broken(number, where, start)
        else:
            level = search.level(number, beams, scores, start)
        yield level
        if level.stop:
            return
        places = {beam.place: beam for beam in beams}
        beams = [places[node.parent].after(node) for node in level.kept]


@dataclass
class _Beam:
    """A text that runs on. rows: keys and values of its tokens, one pair each; the last token gets
    its own when it is run. The texts of two beams that branched share what stands before.
    """

    ids: tuple = ()
    sum: float = 0.0
    place: int | None = None
    rows: tuple = field(default=(), repr=False)

    def after(self, node):
        return _Beam((*self.ids, node.id), node.sum, node.place, self.rows)


class _Passes:
    """The model on one KV cache, whose rows after the prompt are those of the beam that is run."""

    def __init__(self, model, ids, n_new, spec):
        self.model, self.ids, self.spec = model, ids, spec
        self.cache = room_for(model, len(ids) + n_new - 1)

    def scores(self, beam):  # -> [vocab]
        """What may follow a beam; its last token is run for it, or the prompt if it has none."""
        cache, edits = self.cache, self.spec.edits
        if not beam.ids:
            fill(self.model, self.ids, cache, edits)
            return next_logits(self.model, self.ids[cache.length :], cache, edits)
        cache.length = len(self.ids)
        for keys, values in beam.rows:
            cache.extend(keys, values)
        scores = next_logits(self.model, [beam.ids[-1]], cache, edits)
        beam.rows += (cache.rows(cache.length - 1, cache.length),)
        return scores

    def broken(self, beams, scores):
        """Where the first text with scores that are not finite went wrong; None if none did."""
        for beam, row in zip(beams, scores, strict=True):
            if not np.isfinite(row).all():
                return first_nonfinite(self.model, [*self.ids, *beam.ids], self.spec)
        return None


class _Search:
    """The texts that have finished, and what a level makes of its scores."""

    def __init__(self, rules, tokenizer, n_new):
        self.rules, self.tokenizer, self.n_new = rules, tokenizer, n_new
        self.finished = ()

    def level(self, number, beams, scores, start):
        nodes, n_beams = self._nodes(number, beams, scores), self.rules.n_beams
        ids = {beam.place: beam.ids for beam in beams}
        new = [self._text(node, ids[node.parent]) for node in nodes if node.state == "finished"]
        self.finished = ranked((*self.finished, *new))[:n_beams]
        worst = self.finished[-1].score if len(self.finished) == n_beams else None
        reachable = self._reachable(number, nodes)
        stop = self._stop(number, reachable, worst)
        took = time.perf_counter() - start
        return Level(number, nodes, self.finished, reachable, worst, took, stop)

    def broken(self, number, where, start):
        took = time.perf_counter() - start
        return Level(number, (), self.finished, None, None, took, "nonfinite", where)

    def _nodes(self, number, beams, scores):
        """The best branches of all beams, each with what becomes of it."""
        logprobs = np.stack([log_softmax(row.astype(np.float64)) for row in scores])
        sums = logprobs + np.array([[beam.sum] for beam in beams])
        n, nodes, n_kept = self.rules.n_beams, [], 0
        for place, (b, id) in enumerate(_best(sums, self._n_candidates)):
            is_end = id in self.tokenizer.end_ids
            state = "dropped"
            if is_end or number == self.n_new:
                state = "finished" if place < n else "dropped"
            elif n_kept < n:
                state, n_kept = "kept", n_kept + 1
            text, found = self.tokenizer.display(id), (float(logprobs[b, id]), float(sums[b, id]))
            nodes.append(Node(number, place, beams[b].place, id, text, *found, is_end, state))
        return tuple(nodes)

    @property
    def _n_candidates(self):
        return self.rules.n_candidates(len(self.tokenizer.end_ids))

    def _text(self, node, before):
        ids = (*before, node.id)
        spoken = ids[:-1] if node.is_end else ids
        text = b"".join(map(self.tokenizer.token_bytes, spoken)).decode("utf-8", "replace")
        worth = score(node.sum, len(ids), self.rules.length_penalty)
        return Hypothesis(ids, text, node.sum, worth, node.place, node.is_end)

    def _reachable(self, number, nodes):
        """What the best running beam is taken to score in the end."""
        rules, sums = self.rules, [node.sum for node in nodes if node.state == "kept"]
        far = rules.early_stopping == "never" and rules.length_penalty > 0
        n = self.n_new if far else number
        return score(sums[0], n, rules.length_penalty) if sums else None

    def _stop(self, number, reachable, worst):
        if number == self.n_new:
            return "limit"
        if self.rules.early_stopping is True and worst is not None:
            return "full"
        no_better = worst is not None and reachable is not None and reachable <= worst
        return "settled" if reachable is None or no_better else None


def _best(sums, k):  # [beam, vocab]
    """(beam, id) of the k largest sums, ties by beam, then by id."""
    flat = sums.ravel()
    least = np.partition(flat, -k)[-k] if k < flat.size else -math.inf
    found = np.flatnonzero(flat >= least)
    found = found[np.argsort(-flat[found], kind="stable")][:k]
    return [divmod(int(i), sums.shape[1]) for i in found]
