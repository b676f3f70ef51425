"""Beam search a second time: the same prompts through `generate` of transformers, for several
numbers of beams, length penalties and ways to stop. Texts have to be equal, scores close.

Knows torch's tensors and transformers' names of settings; of core only what is compared.
"""

import random

import torch
from transformers import LogitsProcessor

from core import Edit, RunSpec, open_model
from core.decode.beam import beam_search
from core.run import prompt_ids
from tools import parity_witness as witness

LIMIT = 1e-4  # of a score, relative where it is larger than 1: nat per token^length_penalty
INPUTS = {
    "plain": {"prompt": "The capital of France is"},
    "code": {"prompt": "def fib(n):\n    if n < 2:\n        return"},
    "chat": {"messages": [("user", "What is 2+2? Answer with a number.")]},
}
SETTINGS = ((3, 1.0, False), (3, -1.0, False), (2, 2.0, "never"))  # as of beam_search
N_TINY = 100  # searches of the tiny model


def check(name: str, theirs, tiny: str) -> bool:
    """Print the largest errors; whether all texts are the same and all scores within the limit.
    theirs: the model `name`, opened by transformers. tiny: folder of a model without texts.
    """
    print("\nBeam search: largest error of a score\n")
    searches = {f"{name}, {each}": real(name, theirs, text) for each, text in INPUTS.items()}
    searches[f"tiny model, {N_TINY} searches"] = random_searches(tiny)
    green = True
    for title, found in searches.items():
        worst = max(found)
        green &= worst <= LIMIT
        print(f"  {title:40}{worst:.1e}{'' if worst <= LIMIT else '  OVER THE LIMIT'}", flush=True)
    return green


def real(name, theirs, text):
    """The error of each setting for one text."""
    spec = RunSpec(name, **text, max_new_tokens=12)
    for settings in SETTINGS:
        yield error(ours(spec, *settings), reference(spec, theirs, *settings))


def random_searches(folder):
    """The errors of texts and settings at random; the end token is made more probable, by an edit
    here and by a processor there, so that texts end at all lengths.
    """
    chance, theirs = random.Random(8), witness.open_folder(folder)
    vocab, (end,) = open_model(folder).config.vocab, open_model(folder).tokenizer.end_ids
    for _ in range(N_TINY):
        ids = [chance.randrange(vocab) for _ in range(chance.randint(1, 12))]
        bias = chance.uniform(0, 5)
        edits = [Edit("logits", index=end, kind="add", value=bias)]
        spec = RunSpec(folder, ids=ids, max_new_tokens=chance.randint(1, 12), edits=edits)
        power = chance.choice((-2.0, -0.5, 0.0, 0.5, 1.0, 2.0))
        settings = chance.randint(2, 8), power, chance.choice((False, True, "never"))
        yield error(ours(spec, *settings), reference(spec, theirs, *settings, {end: bias}))


def ours(spec, *settings):
    """Ids and score of each text, best first."""
    *_, level = beam_search(spec, *settings)
    return [(list(text.ids), text.score) for text in level.finished]


def reference(spec, model, n_beams, length_penalty, early_stopping, added=None):
    """The same by transformers. added: what is added to the scores of some ids."""
    opened = open_model(spec.model)
    ids, ends = prompt_ids(opened, spec), sorted(opened.tokenizer.end_ids)
    prompt = torch.tensor([ids])
    out = model.generate(
        prompt,
        attention_mask=torch.ones_like(prompt),
        max_new_tokens=spec.max_new_tokens,
        do_sample=False,
        num_beams=n_beams,
        num_return_sequences=n_beams,
        length_penalty=length_penalty,
        early_stopping=early_stopping,
        eos_token_id=ends,
        pad_token_id=ends[0],
        return_dict_in_generate=True,
        output_scores=True,
        logits_processor=[Normalized(added or {})],
    )
    texts = [to_end(row[len(ids) :].tolist(), ends) for row in out.sequences]
    return list(zip(texts, out.sequences_scores.tolist(), strict=True))


class Normalized(LogitsProcessor):
    """Log-probabilities that sum to 1 in double precision: after torch's log_softmax of 49,152
    scores in float32 every one of them is about 2e-5 too high, and a search adds that up.
    """

    def __init__(self, added):
        self.added = added

    def __call__(self, ids, logprobs):
        logprobs = logprobs.double()
        for id, value in self.added.items():
            logprobs[:, id] += value
        return logprobs - logprobs.logsumexp(dim=-1, keepdim=True)


def to_end(ids, ends):
    """A text up to its first end token: what stands behind it is padding."""
    stop = next((n + 1 for n, id in enumerate(ids) if id in ends), len(ids))
    return ids[:stop]


def error(ours, theirs):
    """The largest error of a score; infinite where the texts are not the same."""
    if [ids for ids, _ in ours] != [ids for ids, _ in theirs]:
        return float("inf")
    return max(abs(a - b) / max(1, abs(b)) for (_, a), (_, b) in zip(ours, theirs, strict=True))
