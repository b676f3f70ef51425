"""Where a library cuts a text before merging, seen from inside.

Knows the library's objects; no vocabulary. What a pre-tokenizer shows by itself would not do: the
library first matches added tokens and normalizes what is between them.
"""

import threading
from typing import NamedTuple

from tokenizers import PreTokenizedString, Regex
from tokenizers import Tokenizer as Library
from tokenizers.pre_tokenizers import PreTokenizer, Sequence, Split


class Piece(NamedTuple):
    """A piece as the model gets it. start, stop: the characters of the text it came from; places:
    those of each of its own characters. id: of an added token, which is not merged.
    """

    piece: str
    places: tuple[tuple[int, int], ...]
    start: int
    stop: int
    id: int | None


class Cut:
    """A library's own cutting of texts."""

    def __init__(self, library: Library):
        self._watch, self._lock = _Watch(), threading.Lock()
        watch = PreTokenizer.custom(self._watch)
        steps = [library.pre_tokenizer, watch, Split(Regex(r"[\s\S]"), "isolated"), watch]
        self._library = alike(library, Sequence([step for step in steps if step is not None]))

    def cut(self, text: str) -> list[Piece]:
        """The pieces of a text, added tokens among them."""
        with self._lock:
            try:
                self._library.encode(text, add_special_tokens=False)
            finally:
                seen = self._watch.taken()
        pieces, characters = seen
        places = iter([place for _, place, _ in characters])
        return [_piece(*piece, places) for piece in pieces]


class _Watch:
    """What the library calls: once when the pieces are cut, once when their characters are."""

    def __init__(self):
        self.seen = []

    def pre_tokenize(self, cut: PreTokenizedString) -> None:
        self.seen.append(cut.get_splits("original", "char"))

    def taken(self):
        """What was seen, no longer kept: texts are the reader's."""
        seen, self.seen = self.seen, []
        return seen


def _piece(text, span, tokens, places):
    if tokens is None:
        return Piece(text, tuple(next(places) for _ in text), *span, None)
    return Piece(text, (next(places),), *span, tokens[0].id)  # it was not cut any further


def alike(library: Library, pre_tokenizer) -> Library:
    """The same library with another pre-tokenizer; nothing is done to the ids behind the model."""
    other = Library(library.model)  # shared, not copied
    other.normalizer = library.normalizer
    other.pre_tokenizer = pre_tokenizer
    other.add_tokens([token for _, token in sorted(library.get_added_tokens_decoder().items())])
    other.encode_special_tokens = True
    return other
