"""What Nano can do, measured on the folder by our own engine: `python tools/nano_measure.py`.

Every function takes a model's name or path and returns plain numbers, the same at every call. Used
by the tests and for the figures in models/nano/README.md. Needs no PyTorch.
"""

import sys
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402

from core import RunSpec, generate, open_model, run  # noqa: E402
from core.analyse import patterns  # noqa: E402
from core.model import forward  # noqa: E402
from core.model.cache import KVCache  # noqa: E402
from core.run import prompt_ids  # noqa: E402
from tools import nano_texts  # noqa: E402
from tools import nano_world as world  # noqa: E402

NANO = str(ROOT / "models" / "nano")
LENGTHS = tuple(range(4, 29, 4))  # of what is repeated
PROMPTS = (
    "The cat",
    "The dogs by the hen",
    "Ben",
    "Pam has",
    "When Sal and Tim were",
    "Tom and Pat were in the barn,",
    "The capital of Peru",
    "In France,",
    "Dan says 2,",
    "The hat",
)
N_NEW, N_TO_END = 60, 30  # tokens; more for the sentence that is not at its end
N_EACH = 100  # prompts of a kind


def rows(name: str, ids) -> np.ndarray:
    """The scores after every token of a text, float32 [seq, vocab]."""
    model = open_model(name)
    c = model.config
    cache = KVCache(c.n_layers, len(ids), c.n_kv_heads, c.head_dim)
    x = forward.forward(np.array(ids), model.weights, c, cache, forward.no_tap)
    return forward.unembed(x, model.weights, c, forward.no_tap)


def surprises(name: str, ids) -> np.ndarray:
    """How surprising every token after the first is, float64 [seq - 1], in nat."""
    scores = rows(name, ids)[:-1].astype(np.float64)
    scores -= scores.max(axis=-1, keepdims=True)
    chosen = scores[np.arange(len(ids) - 1), ids[1:]]
    return np.log(np.exp(scores).sum(axis=-1)) - chosen


def losses(name: str) -> dict[str, tuple[float, float]]:
    """(the model's loss, the generator's own) on held-out texts, in nat per token: of all of them,
    of those of sentences only, of those that end in a repeat.
    """
    texts = nano_texts.held_out()
    total = [surprises(name, text.ids).sum() for text in texts]
    found = {}
    for part, wanted in (("all", (False, True)), ("sentences", (False,)), ("repeats", (True,))):
        here = [(text, s) for text, s in zip(texts, total, strict=True) if text.repeats in wanted]
        n = sum(len(text.ids) - 1 for text, _ in here)
        loss = sum(s for _, s in here) / n
        found[part] = float(loss), nano_texts.entropy([text for text, _ in here])
    return found


def held_out_loss(name: str) -> float:
    """Of texts that training never drew, in nat per token."""
    return losses(name)["all"][0]


def entropy() -> float:
    """The generator's own loss on the same texts, in nat per token."""
    return nano_texts.entropy(nano_texts.held_out())


def says(name: str, prompt: str, answer: str) -> bool:
    """Whether the likeliest continuation of a prompt begins with the answer (no space between)."""
    model = open_model(name)
    ids = prompt_ids(model, RunSpec(model=name, prompt=prompt))
    whole = prompt_ids(model, RunSpec(model=name, prompt=prompt + answer))
    likeliest = rows(name, whole).argmax(axis=-1)
    return whole[: len(ids)] == ids and likeliest[len(ids) - 1 : -1].tolist() == whole[len(ids) :]


def share(name: str, questions) -> float:
    """How many (prompt, answer) are answered as they should be, from 0 to 1."""
    return float(np.mean([says(name, *question) for question in questions]))


def facts_recalled(name: str) -> float:
    """The share of capitals named in sentences that training held out: each alone, and after
    another sentence.
    """
    return share(name, facts())


def facts() -> list[tuple[str, str]]:
    """(prompt, answer) for every held-out sentence, alone and behind four others."""
    rng, alone = np.random.default_rng(0), world.held_out_facts()
    behind = [(f"{world.sentence(rng)[0]} {ask}", told) for ask, told in alone for _ in range(4)]
    return [(ask, f" {told}.") for ask, told in alone + behind]


def receivers(name: str) -> float:
    """Who was given it: the share of right names, in both orders."""
    wanted = world.KINDS["giving"][1]
    return share(name, [cut_behind(s, " to ") for s in sentences(wanted)])


def agreement(name: str) -> float:
    """The share of right numbers after two nouns, of which the first decides: whether ` is` or
    ` are` is the likelier of the two.
    """
    model, right = open_model(name), []
    verbs = {verb: model.tokenizer.encode(verb)[0] for verb in ("is", "are")}
    for said in sentences([t for t in world.KINDS["number"][1] if "colour" in t]):
        verb = "is" if " is " in said else "are"
        ids = prompt_ids(model, RunSpec(model=name, prompt=said[: said.index(f" {verb} ")]))
        last = rows(name, ids)[-1]
        right.append(last[verbs[verb]] == max(last[id] for id in verbs.values()))
    return float(np.mean(right))


def copied_codes(name: str) -> float:
    """The share of codes of three or four digits that are said again without a mistake."""
    wanted = [t for t in world.KINDS["digits"][1] if "code" in t]
    return share(name, [cut_behind(s, " says ") for s in sentences(wanted)])


def cut_behind(sentence: str, word: str) -> tuple[str, str]:
    """A sentence cut behind a word's last place: (prompt, answer with its space)."""
    at = sentence.rindex(word) + len(word) - 1
    return sentence[:at], sentence[at:]


def sentences(wanted, n: int = N_EACH) -> list[str]:
    """Some sentences of these templates, always the same."""
    rng, found = np.random.default_rng(1), []
    while len(found) < n:
        said = world.sentence(rng)[0]
        found += [said] * (world.readings(said)[0][0] in wanted)
    return found


def second_copy_accuracy(name: str) -> float:
    """On BOS + R + R of random tokens: how many tokens of the second copy but the first are the
    likeliest.
    """
    right = []
    for length in LENGTHS:
        for seed in range(5):
            ids = nano_texts.repeated(seed, length)
            likeliest = rows(name, ids).argmax(axis=-1)
            right += (likeliest[length + 1 : -1] == ids[length + 2 :]).tolist()
    return float(np.mean(right))


def scores(name: str) -> dict[str, np.ndarray]:
    """Of every head, [layer, head]: "induction" and "previous" on repeated random tokens, mean of
    all lengths; "previous in texts" on held-out texts of sentences.
    """
    induction, previous, in_texts = [], [], []
    for length in LENGTHS:
        maps = attention(name, nano_texts.repeated(0, length))
        induction.append([patterns.induction(m, length) for m in maps])
        previous.append([patterns.previous_token(m) for m in maps])
    for text in nano_texts.held_out(40):
        if not text.repeats:
            in_texts.append([patterns.previous_token(m) for m in attention(name, text.ids)])
    named = {"induction": induction, "previous": previous, "previous in texts": in_texts}
    return {what: np.mean(found, axis=0) for what, found in named.items()}


def attention(name: str, ids) -> list[np.ndarray]:
    """The maps of every layer, each [head, query, key]."""
    return list(run(RunSpec(model=name, ids=tuple(ids))).each_layer("attn.weights"))


def best(scores: np.ndarray) -> tuple[float, int, int]:
    """The largest of [layer, head]: (score, layer, head)."""
    layer, head = np.unravel_index(scores.argmax(), scores.shape)
    return float(scores[layer, head]), int(layer), int(head)


def grammatical(name: str) -> float:
    """The share of prompts that are continued by sentences of the grammar only."""
    return float(np.mean([is_grammatical(continuation(name, prompt)) for prompt in PROMPTS]))


def continuation(name: str, prompt: str) -> str:
    """The prompt, 60 tokens of the likeliest continuation, and the rest of the last sentence. Where
    a text ends before, the next one begins, as in training.
    """
    said, n = prompt, 0
    ids = tuple(prompt_ids(open_model(name), RunSpec(model=name, prompt=prompt)))
    while n < N_NEW:
        spec = RunSpec(model=name, ids=ids, max_new_tokens=N_NEW + N_TO_END - n)
        for event in generate(spec):
            if n >= N_NEW and said.endswith("."):
                break
            said, n, ids = said + event.text, n + (event.stop != "end"), (*ids, event.id)
        if event.stop == "end":
            ids = (*ids, nano_texts.BOS)
    return said


def is_grammatical(text: str) -> bool:
    """Whether a text is whole sentences of the grammar, one after the other."""
    ends = [0, *(n + 1 for n, c in enumerate(text) if c == ".")]
    said = [text[a:b].removeprefix(" ") for a, b in pairwise(ends)]
    return ends[-1] == len(text) and bool(said) and all(map(world.is_sentence, said))


def main():
    """Print every figure of a model, by default of the one in models/nano."""
    name = sys.argv[1] if len(sys.argv) > 1 else NANO
    for part, (loss, floor) in losses(name).items():
        print(f"loss, {part}: {loss:.4f} (the generator: {floor:.4f}) nat per token")
    for measure in (facts_recalled, receivers, agreement, copied_codes, second_copy_accuracy):
        print(f"{measure.__name__}: {measure(name):.3f}")
    for what, found in scores(name).items():
        print("{}: {:.3f} at layer {} head {}".format(what, *best(found)))
        print(np.array2string(found, precision=2, suppress_small=True))
    print(f"grammatical: {grammatical(name):.2f}")
    for prompt in PROMPTS:
        print(" ", continuation(name, prompt))


if __name__ == "__main__":
    main()
