"""Texts of the world as token ids: what Nano trains on, and what it is measured on.

Knows the world and the tokenizer; no model. A text is BOS, its sentences, and then either the end
token or a repeat until the context is full.
"""

import json
from dataclasses import dataclass
from functools import cache

import numpy as np
from tokenizers import Tokenizer

from tools import nano_tokenizer as words
from tools import nano_world as world

CONTEXT = 128  # tokens
BOS, EOS = words.SPECIAL.index(words.BOS), words.SPECIAL.index(words.EOS)
NOTHING = -1  # what fills a row behind its last text
TRAINING, HELD_OUT = 0, 1  # two streams of chance, whatever the seed
N_HELD_OUT = 256  # texts


@dataclass(frozen=True)
class Ids:
    """A text as ids. logprob: that the generator says exactly this, in nat. repeats: whether it
    ends in a repeat.
    """

    ids: list[int]
    logprob: float
    repeats: bool


class Texts:
    """An endless stream of texts, the same for the same seed."""

    def __init__(self, seed: int, stream: int = TRAINING):
        self.rng = np.random.default_rng([stream, seed])
        self.library = Tokenizer.from_str(json.dumps(words.tokenizer_json()))
        self.waiting = []

    def __next__(self) -> Ids:
        text = world.text(self.rng)
        if not text.repeated:
            return Ids([*self.library.encode(text.sentences).ids, EOS], text.logprob, False)
        said = f"{text.sentences} {f'{text.repeated} ' * CONTEXT}".strip()
        return Ids(self.library.encode(said).ids[:CONTEXT], text.logprob, True)

    def rows(self, n: int) -> np.ndarray:
        """int64 [n, CONTEXT]: texts behind each other, none cut; NOTHING where no other fits."""
        rows = np.full((n, CONTEXT), NOTHING)
        for row in rows:
            ids = self._row()
            row[: len(ids)] = ids
        return rows

    def _row(self):
        """A repeat, which fills a row, or as many other texts as fit."""
        while True:
            ids = next(self).ids
            if len(ids) == CONTEXT:
                return ids
            if len(self.waiting) + len(ids) > CONTEXT:
                full, self.waiting = self.waiting, ids
                return full
            self.waiting = self.waiting + ids


@cache
def whole_words() -> list[int]:
    """The ids of the world's words that are one token."""
    library = Texts(0).library
    encoded = (library.encode(word, add_special_tokens=False).ids for word in world.words())
    return [ids[0] for ids in encoded if len(ids) == 1]


def held_out(n: int = N_HELD_OUT) -> list[Ids]:
    """Texts from a stream of chance of their own, always the same."""
    texts = Texts(0, HELD_OUT)
    return [next(texts) for _ in range(n)]


def entropy(texts: list[Ids]) -> float:
    """What the generator's own probabilities give these texts, in nat per token after BOS: no
    model that knows only the text so far does better on average.
    """
    return -sum(t.logprob for t in texts) / sum(len(t.ids) - 1 for t in texts)


def repeated(seed: int, length: int) -> list[int]:
    """BOS + R + R, where R is `length` words of one token, none twice."""
    rng = np.random.default_rng([seed, length])
    once = rng.permutation(whole_words())[:length].tolist()
    return [BOS, *once, *once]
