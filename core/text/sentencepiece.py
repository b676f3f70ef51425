"""A text without markers to ids as SentencePiece's BPE does it, from tokens and their scores.

Knows the vocabularies of Llama 2, Mistral, TinyLlama, Phi-3 and Gemma as GGUF files hold them; no
file. Written here and not with the `tokenizers` library, which merges by rank: scores may tie (then
the leftmost pair goes first, which no rank can say), and finding the merges behind 262,144 scores
takes it seconds.
Source: Kudo and Richardson 2018; llama.cpp, src/llama-vocab.cpp, for what stands before a text.
"""

import functools
import heapq
import re
from dataclasses import dataclass

from . import markers
from .spelling import SPACE

WORD = re.compile(f"{SPACE}*[^{SPACE}]+|{SPACE}+")


def merge(text: str, scores: dict[str, float]) -> list[str]:
    """The text as symbols: from single characters on, the neighbours whose joined text has the best
    score are joined, the leftmost where scores tie, until no joined text is in the vocabulary.

    Example: scores {"ab": -1, "bc": -2, "abc": -3}: `abcb` -> a b c b -> ab c b -> abc b.
    """
    symbols = [*text]
    before, after = [*range(-1, len(text) - 1)], [*range(1, len(text) + 1)]
    queue = []

    def offer(left, right):
        if left >= 0 and right < len(symbols):
            joined = symbols[left] + symbols[right]
            if joined in scores:
                heapq.heappush(queue, (-scores[joined], left, right, joined))

    for left in range(len(symbols) - 1):
        offer(left, left + 1)
    while queue:
        _, left, right, joined = heapq.heappop(queue)
        if symbols[left] + symbols[right] != joined:
            continue  # one of the two has been joined to something else since
        symbols[left], symbols[right] = joined, ""
        after[left] = after[right]
        if after[right] < len(symbols):
            before[after[right]] = left
        offer(before[left], left)
        offer(left, after[left])
    return [symbol for symbol in symbols if symbol]


@dataclass(frozen=True)
class SentencePiece:
    """A vocabulary with scores.

    vocabulary, scores: the ordinary tokens. added: tokens that are matched in a text before
    everything else. bytes: id by byte, for characters that are no token. unknown: the id for bytes
    without one. space_first: whether a text that begins or follows a marker gets a space before it.
    """

    vocabulary: dict[str, int]
    scores: dict[str, float]
    added: dict[str, int]
    bytes: dict[int, int]
    unknown: int | None
    space_first: bool

    @functools.cached_property
    def missing_bytes(self) -> frozenset[int]:
        """Bytes that become nothing where no token has their character."""
        return frozenset() if self.unknown is not None else frozenset(range(256)) - {*self.bytes}

    @functools.cached_property
    def _added(self):
        return markers.pattern(self.added)

    @functools.cached_property
    def _cuts_words(self):
        """Whether no token has a space after something else, so that no merge crosses words."""
        return not any(SPACE in token.lstrip(SPACE) for token in self.vocabulary)

    def ids(self, text: str, first: bool = True) -> list[int]:
        """The ids of a text. What stood before it does not matter: only a marker can."""
        ids = []
        for piece, is_added in markers.cut(text, self._added):
            if is_added:
                ids.append(self.added[piece])
                continue
            for id in self._merged_ids(piece):
                if id != self.unknown or ids[-1:] != [id]:  # unknown bytes in a row are one token
                    ids.append(id)
        return ids

    def _merged_ids(self, text):
        for symbol in self._symbols(text):
            if symbol in self.vocabulary:
                yield self.vocabulary[symbol]
                continue
            for byte in symbol.encode():
                if byte not in self.missing_bytes:
                    yield self.bytes.get(byte, self.unknown)

    def _symbols(self, text):
        spelled = self._spelled(text)
        words = WORD.findall(spelled) if self._cuts_words else [spelled]
        return [symbol for word in words for symbol in merge(word, self.scores)]

    def _spelled(self, text):
        return (SPACE if self.space_first else "") + text.replace(" ", SPACE)

    def pieces(self, text: str) -> list[tuple[str, int, int]]:
        """The stretches between added tokens, and these: nothing else is cut before merging."""
        pieces, start = [], 0
        for piece, is_added in markers.cut(text, self._added):
            stop = start + len(piece)
            pieces.append((piece if is_added else self._spelled(piece), start, stop))
            start = stop
        return pieces

    def dropped(self, text: str) -> list[int]:
        """The bytes of the text that no token stands for, in order."""
        plain = [piece for piece, is_added in markers.cut(text, self._added) if not is_added]
        symbols = [symbol for piece in plain for symbol in self._symbols(piece)]
        unknown = "".join(symbol for symbol in symbols if symbol not in self.vocabulary)
        return [b for b in unknown.encode() if b in self.missing_bytes]

    def unknown_parts(self, text: str) -> list[str]:
        """The parts of the text that become the token for unknown bytes."""
        if self.unknown is None:
            return []
        plain = [piece for piece, is_added in markers.cut(text, self._added) if not is_added]
        symbols = (s for piece in plain for s in self._symbols(piece) if s not in self.vocabulary)
        return [symbol for symbol in symbols if not self.bytes.keys() >= {*symbol.encode()}]
