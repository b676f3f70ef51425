"""A minimal pair: a text with one word in the place of another, so that two runs can be compared
token by token. Knows the tokenizer and the embedding table; runs nothing.
"""

from . import near

NEIGHBOURS = 60  # of the word, so many are looked at
TRIES = 8  # times that a new text is cut into tokens
STEM = 4  # letters: words that begin alike are forms of one word


def exchanged(model, text: str, control: bool = False) -> str | None:
    """The text with one word exchanged, wherever it stands, for the word whose row in the embedding
    table is nearest to its own; every other token stays. It is a name where there is one behind
    the first token, and of several the rarest, which has the largest id. None where no word can be
    exchanged so.
    """
    tokenizer = model.tokenizer
    ids = list(tokenizer.encode(text, control))
    shown = [tokenizer.display(id) for id in ids]
    places = [n for n, each in enumerate(shown) if each.strip("␣").isalpha()]
    if not places:
        return None
    id = ids[max(places, key=lambda n: (n > 0, _whole(shown, n), shown[n][1:2].isupper(), ids[n]))]
    texts = (_put(tokenizer, ids, id, other, control) for other in _others(model, id))
    return next(filter(None, texts), None)


def _whole(shown, n):
    """Whether a token is a whole word: it brings its own space, and the next is no more of it."""
    after = shown[n + 1] if n + 1 < len(shown) else ""
    return shown[n].startswith("␣") and not after[:1].isalpha()


def _others(model, id):
    """Ids of other words near a word, the nearest first: with a space before them as it has."""
    display, own = model.tokenizer.display, model.tokenizer.display(id)
    found = near.nearest(near.cosines(model, model.weights.embed[id]), NEIGHBOURS, [id])
    alike = [each for each, _ in found if _other_word(own, display(each))]
    return alike[:TRIES]


def _other_word(own, other):
    """Whether it is no form of the same word, and written as that is."""
    if not other.strip("␣").isalpha() or _form(own) != _form(other):
        return False
    a, b = (each.strip("␣").casefold() for each in (own, other))
    n = min(len(a), len(b), STEM)
    return a[:n] != b[:n]


def _form(shown):
    """Whether a token brings a space, and whether it begins with a capital letter."""
    return shown.startswith("␣"), shown.strip("␣")[:1].isupper()


def _put(tokenizer, ids, id, other, control):
    """The text with another token for one; None where it would not be read as these tokens."""
    wanted = [other if each == id else each for each in ids]
    text = tokenizer.decode(wanted)
    return text if list(tokenizer.encode(text, control)) == wanted else None
