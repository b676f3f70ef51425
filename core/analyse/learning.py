"""What a model can do at one moment of its training: what its heads look at on repeated random
words, whether it continues them, what it expects after a text. Opens checkpoints and runs them; no
figures, no sentences.
"""

from dataclasses import dataclass, replace

import numpy as np

from core.analyse.derived import kept
from core.analyse.finite import check_scores, check_stream
from core.analyse.output import Guess, guess
from core.analyse.patterns import induction, previous_token
from core.errors import ModelFileError
from core.files import checkpoints
from core.files.checkpoints import Training
from core.opening import Model, open_model
from core.run import RunSpec, run
from core.store import ByteStore

SEQUENCES, PERIOD, SEED = 16, 12, 0
SKILLS = ByteStore(1 << 20)


@dataclass(frozen=True)
class Skill:
    """What was measured on the repeated random words. Arrays are read-only.

    Attributes:
        induction, previous: the scores of core.analyse.patterns, [layer, head], mean over the
        sequences. copied: which share of the second copies the model guessed right, token by token;
        the first token of a copy, which nothing announces, is not asked for.
    """

    induction: np.ndarray
    previous: np.ndarray
    copied: float


@dataclass(frozen=True)
class Moment:
    """What the model expects after a text. probs: of every token, [vocab]. loss: the mean of
    -ln p over the tokens of the text but the first, in nat; None where there is only one.
    """

    guess: Guess
    probs: np.ndarray
    loss: float | None


def training(model: Model) -> Training | None:
    """The checkpoints beside a model, None where it has none. Raises ModelFileError."""
    if model.source.format != "safetensors":
        return None
    return checkpoints.beside(model.source.path)


def words(model: Model) -> list[int]:
    """The ids that random sequences are drawn from: tokens that are a word by themselves, so that
    training has seen them where words stand. They begin with a space, and no other token goes on
    from them. All but control tokens where such words are too few for a sequence.
    """
    control = set(model.tokenizer.special.values())
    ids = [id for id in range(model.config.vocab) if id not in control]
    said = {id: model.tokenizer.token_bytes(id) for id in ids}
    begun = {token[:n] for token in said.values() for n in range(len(token))}
    whole = [id for id, token in said.items() if token[:1] == b" " and token not in begun]
    return whole if len(whole) >= PERIOD else ids


def repeats(model: Model, most: int = PERIOD, n: int = SEQUENCES) -> list[tuple[int, ...]]:
    """n sequences of random words, each said twice: BOS, then `most` different words or as many as
    fit, then the same again. The same for every checkpoint, and in every run: the seed is SEED.
    Raises ModelFileError where the model is too small for two words.
    """
    draw, ids = np.random.default_rng(SEED), words(model)
    bos = [model.tokenizer.bos_id] if model.tokenizer.bos_id is not None else []
    period = min(most, len(ids), (model.config.context - len(bos)) // 2)
    if period < 2:
        reason = "two words said twice do not fit into its context or its vocabulary"
        larger, path = "contexts of 5 tokens and more", str(model.source.path)
        raise ModelFileError("unsupported", path=path, reason=reason, supported=larger)
    drawn = (draw.choice(ids, period, replace=False).tolist() for _ in range(n))
    return [(*bos, *sequence, *sequence) for sequence in drawn]


def skill(path: str) -> Skill:
    """What a checkpoint can do with the repeated words. Raises TokenwalkError where its numbers are
    not finite.
    """
    model = open_model(path)
    size = 16 * model.config.n_layers * model.config.n_heads
    return SKILLS.get(model.source.key, lambda: _skill(path, model), lambda _: size)


def _skill(path, model):
    measured = [_measured(path, ids) for ids in repeats(model)]
    induced, previous, copied = (np.mean(part, axis=0) for part in zip(*measured, strict=True))
    induced.flags.writeable = previous.flags.writeable = False
    return Skill(induced, previous, float(copied))


def _measured(path, ids):
    """One sequence: both scores of every head, [layer, head], and the share that was copied."""
    trace, period = run(RunSpec(path, ids=ids)), len(ids) // 2
    check_stream(trace)
    maps = list(trace.each_layer("attn.weights"))
    asked = range(len(ids) - period, len(ids) - 1)
    right = [int(trace.logits(at).argmax()) == ids[at + 1] for at in asked]
    return (
        [induction(weights, period) for weights in maps],
        [previous_token(weights) for weights in maps],
        np.mean(right),
    )


def best(scores: np.ndarray) -> tuple[float, int, int]:
    """The largest score of all heads and whose it is: (score, layer, head).

    scores: [layer, head].
    """
    layer, head = np.unravel_index(int(np.argmax(scores)), scores.shape)
    return float(scores[layer, head]), int(layer), int(head)


def first_above(values, threshold: float) -> int | None:
    """The index of the first value that is at least `threshold`, None where there is none."""
    return next((n for n, value in enumerate(values) if value >= threshold), None)


def moment(path: str, spec: RunSpec, n: int = 5) -> Moment:
    """What a checkpoint expects after the text of a spec. n: how many candidates are listed.

    Raises TokenwalkError where its numbers are not finite.
    """
    trace = run(replace(spec, model=path))
    return kept(trace, ("moment", n), lambda: _moment(trace, n), lambda m: m.probs.nbytes)


def _moment(trace, n):
    guessed, ids = guess(trace, -1, n), trace.ids
    surprises = [-_log_prob(trace, at, id) for at, id in enumerate(ids[1:])]
    loss = float(np.mean(surprises)) if surprises else None
    return Moment(guessed, trace.probs(), loss)


def _log_prob(trace, position, id):
    """ln p of a token after a position, in double precision."""
    logits = trace.logits(position)
    check_scores(trace, position, logits)
    exact = logits.astype(np.float64) - float(logits.max())
    return exact[id] - np.log(np.exp(exact).sum())


def repeated(path: str) -> RunSpec:
    """The first of the random sequences, as something to run."""
    return RunSpec(path, ids=repeats(open_model(path))[0])


def attention_maps(paths, spec: RunSpec, layer: int, head: int) -> np.ndarray:
    """What one head of each checkpoint looks at in the text of a spec: [checkpoint, query, key].
    Raises TokenwalkError where the text cannot be run.
    """
    traces = (run(replace(spec, model=path)) for path in paths)
    return np.stack([trace.read("attn.weights", layer)[head] for trace in traces])


def head_weights(paths, name: str, layer: int, head: int) -> np.ndarray:
    """The rows of "attn_q", "attn_k" or "attn_v" that make the numbers of a query head (or of the
    key/value head that it reads), at each checkpoint: [checkpoint, out, embedding], all of them.
    """
    models = [open_model(path) for path in paths]
    first, stop = head_rows(models[0].config, name, head)
    return np.stack([model.weights.get(name, layer)[first:stop] for model in models])


def head_rows(config, name: str, head: int) -> tuple[int, int]:
    """Which rows of "attn_q", "attn_k" or "attn_v" belong to a query head: (first, stop)."""
    first = (head if name == "attn_q" else head // config.group) * config.head_dim
    return first, first + config.head_dim


def induction_cells(n: int) -> list[tuple[int, int]]:
    """Where an induction head looks in BOS and two copies, n tokens in all: (query, key) for each
    query of the second copy.
    """
    period = n // 2
    return [(query, query - period + 1) for query in range(n - period, n)]
