"""Every stage of sampling against the processors of transformers on random scores, one by one and
as whole chains in both orders: the same tokens kept, with the same scores.

transformers is given double precision, so that no edge is decided by rounding. It has no presence
or frequency penalty. Its top-p leaves ties to chance, so there and in the chains no scores are
equal.
"""

import numpy as np
import torch
from transformers import LogitsProcessorList
from transformers.generation import logits_process as theirs

from core import RunSpec
from core.decode.sampling import ORDERS, stages

LIMIT = 1e-12  # of the scores that were kept
N, VOCAB, SEEN = 400, 300, 40
SETTINGS = {  # stage: the setting of RunSpec, how it is chosen, the processor of transformers
    "repetition": (
        "repetition_penalty",
        lambda rng: rng.uniform(0.5, 2),
        theirs.RepetitionPenaltyLogitsProcessor,
    ),
    "temperature": ("temperature", lambda rng: rng.uniform(0.2, 3), theirs.TemperatureLogitsWarper),
    "top_k": ("top_k", lambda rng: int(rng.integers(1, VOCAB)), theirs.TopKLogitsWarper),
    "top_p": ("top_p", lambda rng: rng.uniform(0, 0.999), theirs.TopPLogitsWarper),
    "min_p": ("min_p", lambda rng: rng.uniform(0.001, 0.5), theirs.MinPLogitsWarper),
    "typical": ("typical_p", lambda rng: rng.uniform(0.01, 0.999), theirs.TypicalLogitsWarper),
}
IN_CHAIN = {  # milder, so that each filter has something left to cut
    "top_k": lambda rng: int(rng.integers(VOCAB // 4, VOCAB)),
    "top_p": lambda rng: rng.uniform(0.8, 0.999),
    "min_p": lambda rng: rng.uniform(0.001, 0.05),
    "typical": lambda rng: rng.uniform(0.5, 0.999),
}


def check() -> bool:
    """Print how many of the inputs agree and how many had something to do; whether all do."""
    print(f"\nSampling, {N} random inputs each: agree, cut something\n")
    rng, green = np.random.default_rng(0), True
    for stage in SETTINGS:
        green &= told(stage, [one(rng, [stage], ties=stage != "top_p") for _ in range(N)])
    for order in ORDERS:
        chain = [stage for stage in ORDERS[order] if stage in SETTINGS]
        green &= told(f"all, {order}", [one(rng, chain, order, IN_CHAIN) for _ in range(N)])
    mixed = [one(rng, [*SETTINGS], "llama.cpp", IN_CHAIN)[0] for _ in range(N)]
    print(f"  {'orders exchanged':20}{sum(mixed)}: fewer, or nothing is compared")
    return green and sum(mixed) < N


def told(name, pairs) -> bool:
    """Print one line of a check."""
    agree, cut = (sum(column) for column in zip(*pairs, strict=True))
    busy = cut > N // 2 or name in ("repetition", "temperature")
    print(f"  {name:20}{agree:4}{cut:5}{'' if agree == N and busy else '  NOT ALL'}", flush=True)
    return agree == N and busy


def one(rng, chain, order="transformers", ranges=None, ties=False):
    """Whether both make the same of random scores, by stages in this order; whether any was cut."""
    scores = rng.normal(0, rng.uniform(0.5, 4), VOCAB)
    scores, seen = scores.round(1) if ties else scores, rng.integers(0, VOCAB, SEEN)
    chosen = {stage: (ranges or {}).get(stage, SETTINGS[stage][1])(rng) for stage in chain}
    settings = {SETTINGS[stage][0]: value for stage, value in chosen.items()}
    spec = RunSpec("", ids=(), order=order, **{"temperature": 1.0, **settings})
    mine = stages(scores, seen, spec)[-1].scores
    processors = LogitsProcessorList(SETTINGS[stage][2](chosen[stage]) for stage in chain)
    wanted = processors(torch.tensor(seen)[None], torch.tensor(scores)[None])[0].numpy()
    return same(mine, wanted), bool((mine == -np.inf).any())


def same(mine, wanted) -> bool:
    """The same tokens kept, with the same scores."""
    kept = np.isfinite(mine)
    if not np.array_equal(kept, np.isfinite(wanted)):
        return False
    return bool(np.abs(mine[kept] - wanted[kept]).max() <= LIMIT * np.abs(wanted[kept]).max())
