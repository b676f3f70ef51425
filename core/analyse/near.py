"""Which rows of the embedding table point the same way as a vector: cosines with the whole
vocabulary, the arithmetic of one of them, and sums of rows of a reader's own words.

Knows weights and the tokenizer; no run, no sentences, no figures.
"""

import re
from dataclasses import dataclass

import numpy as np

from .explain import SMALLEST, TOLERANCE
from .rows import norms

N_BINS = 60
MOST_WORDS = 8  # of a sum
ALIKE = 0.99  # a cosine above it: rows that training hardly moved apart
SIGNS = str.maketrans("−－＋＝", "--+=")  # as they are typed besides + and -
BETWEEN = re.compile(r"[\s,，、]+")  # the words of a list
WORD = r"[^\s+-]+"
SUM = re.compile(rf"\s*[+-]?\s*{WORD}(\s*[+-]\s*{WORD})*\s*")


# ---- words ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Word:
    """A reader's word. ids: its tokens. id: its row, None where no single token spells it."""

    text: str
    ids: tuple[int, ...]
    id: int | None


def word(tokenizer, text: str) -> Word:
    """A word as the model reads it: with a space before it, as in a sentence, where that is one
    token; else as it stands.
    """
    spaced = " " + text.lstrip(" ") if text.strip(" ") else text
    readings = [tuple(tokenizer.encode(spaced)), _alone(tokenizer, text)]
    for ids in readings:
        if len(ids) == 1 and _spells(tokenizer, ids[0], text):
            return Word(text, ids, ids[0])
    return Word(text, readings[1], None)


def forms(tokenizer, text: str) -> tuple[int, ...]:
    """The rows that a text offers: of its one token, then of the tokens that it is cut into as it
    stands, each once.
    """
    first = word(tokenizer, text).id
    ids = _alone(tokenizer, text)
    return tuple(dict.fromkeys(ids if first is None else (first, *ids)))


def listed(text: str) -> tuple[str, ...]:
    """The words of a list, each once, in order; spaces and commas, also Chinese ones, part them."""
    return tuple(dict.fromkeys(filter(None, BETWEEN.split(text))))


def own_words(tokenizer, ids) -> tuple[str, ...]:
    """The words among some tokens that a sum can name: read again, each is the same token. Letters
    only, so that no mark-up is among them.
    """
    texts = {id: tokenizer.display(id).strip("␣") for id in ids}
    return tuple(
        text for id, text in texts.items() if text.isalpha() and word(tokenizer, text).id == id
    )


def same_word(tokenizer, a: int, b: int) -> bool:
    """Whether two tokens differ in case and spaces at most. A token that is no whole character is
    no word.
    """
    try:
        letters = [tokenizer.token_bytes(id).decode() for id in (a, b)]
    except UnicodeDecodeError:
        return False
    first, second = (text.strip().casefold() for text in letters)
    return first == second != ""


def _alone(tokenizer, text):
    """The tokens of a text, without one that is only the space which encoding put before it."""
    ids = tuple(tokenizer.encode(text))
    put = tokenizer.space_first and len(ids) > 1 and tokenizer.token_bytes(ids[0]) == b" "
    return ids[1:] if put else ids


def _spells(tokenizer, id, text):
    """Whether a token is this word: not `<unk>`, and no byte of it was dropped."""
    return tokenizer.token_bytes(id).strip(b" ") == text.strip(" ").encode("utf-8", "replace")


# ---- the whole vocabulary ------------------------------------------------------------------------


def cosines(model, vector: np.ndarray) -> np.ndarray:  # [vocab]
    """The cosine of every row of the embedding table with a vector [embedding], float32. NaN where
    one of the two is all zeros and so has no direction.
    """
    vector = np.asarray(vector, np.float32)
    with np.errstate(all="ignore"):
        found = model.weights.embed @ vector / (norms(model) * np.linalg.norm(vector))
    return np.where(np.isfinite(found), found, np.float32(np.nan))


def nearest(found: np.ndarray, n: int, without=()) -> list[tuple[int, float]]:
    """The n largest of the cosines [vocab] as (token id, cosine), the largest first.

    without: ids that are left out.
    """
    ranked = np.where(np.isnan(found), -np.inf, found)
    ranked[list(without)] = -np.inf
    order = np.argsort(-ranked, kind="stable")[:n]
    return [(int(id), float(found[id])) for id in order if np.isfinite(ranked[id])]


def rank(found: np.ndarray, id: int, without=()) -> int:
    """The place of a token among the cosines [vocab], 1 for the largest; ids left out as above."""
    larger = found > found[id]
    return 1 + int(larger.sum()) - int(larger[list(without)].sum())


def n_alike(found: np.ndarray, without=()) -> int:
    """How many of the cosines [vocab] are so large that the rows are nearly the same; ids left out
    as above.
    """
    alike = found > ALIKE
    return int(alike.sum()) - int(alike[list(without)].sum())


def n_mutual(model, id: int, ids) -> int:
    """Of how many rows a row [embedding], by its token, is the nearest one in the whole table."""
    found = [nearest(cosines(model, model.weights.embed[other]), 1, [other]) for other in ids]
    return sum(best == id for ((best, _),) in found)


@dataclass(frozen=True)
class Spread:
    """All cosines but those left out. counts [bin], edges [bin + 1]; half of them lie below
    `median`.
    """

    counts: np.ndarray
    edges: np.ndarray
    median: float


def spread(found: np.ndarray, without=()) -> Spread:
    """How the cosines [vocab] are spread; what has no direction is left out."""
    others = np.delete(found, list(without))
    others = others[~np.isnan(others)]
    counts, edges = np.histogram(others, N_BINS)
    return Spread(counts, edges, float(np.median(others)) if len(others) else float("nan"))


# ---- one number, computed again ------------------------------------------------------------------


@dataclass(frozen=True)
class Dot:
    """A dot product: a, b and their products, float64 [embedding], and the sum of these."""

    a: np.ndarray
    b: np.ndarray
    products: np.ndarray
    value: float

    def top(self, n: int) -> list[tuple[int, float, float, float]]:
        """The n products that weigh most: (dimension, a, b, product), the largest first."""
        most = self._by_weight()[:n]
        return [(int(i), float(self.a[i]), float(self.b[i]), float(self.products[i])) for i in most]

    def rest(self, n: int) -> float:
        """The sum of all products but the n that weigh most."""
        return float(self.products[self._by_weight()[n:]].sum())

    def _by_weight(self):
        return np.argsort(-np.abs(self.products), kind="stable")


def dot(a: np.ndarray, b: np.ndarray) -> Dot:
    """The dot product of two vectors [embedding] in float64."""
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    return Dot(a, b, a * b, float((a * b).sum()))


@dataclass(frozen=True)
class Checked:
    """A number computed again in float64 beside the one that is shown. equal: their difference is
    within 1e-5 of the sum of the magnitudes that were added.
    """

    value: float
    shown: float
    difference: float
    tolerance: float
    equal: bool


def checked(value: float, shown: float, magnitude: float) -> Checked:
    """A number beside the one shown. magnitude: the sum of what was added, without signs."""
    difference, tolerance = value - shown, float(TOLERANCE * magnitude + SMALLEST)
    return Checked(value, shown, difference, tolerance, abs(difference) <= tolerance)


@dataclass(frozen=True)
class Cosine:
    """The arithmetic of one cosine: the dot product, both norms, the quotient."""

    dot: Dot
    norms: tuple[float, float]
    check: Checked


def cosine(a: np.ndarray, b: np.ndarray, shown: float) -> Cosine:
    """The cosine of two vectors [embedding] that are not all zeros, in float64: beside `shown`."""
    product = dot(a, b)
    lengths = tuple(float(np.sqrt((v * v).sum())) for v in (product.a, product.b))
    across = lengths[0] * lengths[1]
    check = checked(product.value / across, shown, np.abs(product.products).sum() / across)
    return Cosine(product, lengths, check)


# ---- sums of rows --------------------------------------------------------------------------------


def parse(expression: str) -> tuple[tuple[tuple[int, str], ...], str | None]:
    """The words of a sum with their signs, and the word that the reader expects, if any:
    "king - man = x" -> (((1, "king"), (-1, "man")), "x").

    ValueError where it is not 1 to 8 words with + or - between them.
    """
    summed, _, expected = expression.translate(SIGNS).partition("=")
    if not SUM.fullmatch(summed):
        raise ValueError("not words with + or - between them")
    found = re.findall(rf"([+-]?)\s*({WORD})", summed)
    if len(found) > MOST_WORDS:
        raise ValueError(f"{len(found)} words, wanted at most {MOST_WORDS}")
    return tuple((-1 if sign == "-" else 1, text) for sign, text in found), expected.strip() or None


def readable(tokenizer, expression: str) -> bool:
    """Whether every word that a sum adds has a row. Raises as `parse`."""
    return all(word(tokenizer, text).id is not None for _, text in parse(expression)[0])


@dataclass(frozen=True)
class Sum:
    """Rows added with signs: vector float64 [embedding], its norm, and its cosine with every row,
    float32 [vocab].
    """

    signs: tuple[int, ...]
    ids: tuple[int, ...]
    vector: np.ndarray
    norm: float
    cosines: np.ndarray


def add_up(model, signs, ids) -> Sum:
    """The sum of some rows of the embedding table as they are, none stretched to length 1."""
    rows = model.weights.embed[list(ids)].astype(np.float64)
    vector = np.asarray(signs, np.float64) @ rows
    length = float(np.sqrt((vector * vector).sum()))
    return Sum(tuple(signs), tuple(ids), vector, length, cosines(model, vector))


def summands(total: Sum, model, dims) -> np.ndarray:  # [word, dim]
    """The rows' own numbers in some dimensions, float64; the sum adds them with its signs."""
    return model.weights.embed[list(total.ids)][:, list(dims)].astype(np.float64)
