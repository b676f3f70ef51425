"""A text without markers to ids as SentencePiece's BPE does it, from tokens and their scores.

Knows the vocabularies of Llama 2, Mistral, TinyLlama, Phi-3 and Gemma as GGUF files hold them; no
file. Written here and not with the `tokenizers` library, which merges by rank: scores may tie (then
the leftmost pair goes first, which no rank can say), and finding the merges behind 262,144 scores
takes it seconds.
Source: Kudo and Richardson 2018; llama.cpp, src/llama-vocab.cpp, for what stands before a text.
"""

import functools
import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate

from . import markers
from .merges import History, Merge, join, taken_whole
from .spelling import SPACE

WORD = re.compile(f"{SPACE}*[^{SPACE}]+|{SPACE}+")


def by_score(scores: dict[str, float]) -> Callable:
    """What `merges.join` asks of a vocabulary with scores: two texts can be joined where the joined
    text has a score, those with the best one first.

    Example: scores {"ab": -1, "bc": -2, "abc": -3}: `abcb` -> a b c b -> ab c b -> abc b.
    """

    def look(left, right):
        joined = left + right
        return (-scores[joined], joined) if joined in scores else None

    return look


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
    replayable = True

    @functools.cached_property
    def missing_bytes(self) -> frozenset[int]:
        """Bytes that become nothing where no token has their character."""
        return frozenset() if self.unknown is not None else frozenset(range(256)) - {*self.bytes}

    @functools.cached_property
    def _added(self):
        return markers.pattern(self.added)

    @functools.cached_property
    def _cuts_words(self):
        """Whether no token has a space after something else, so that no merge crosses words, and a
        space has a token, so that no unknown bytes are joined across them.
        """
        inside = any(SPACE in token.lstrip(SPACE) for token in self.vocabulary)
        return SPACE in self.vocabulary and not inside

    def ids(self, text: str, first: bool = True) -> list[int]:
        """The ids of a text. What stood before it does not matter: only a marker can."""
        ids = []
        for piece, is_added in markers.cut(text, self._added):
            if is_added:
                ids.append(self.added[piece])
            else:
                ids += [id for word in self._words(self._spelled(piece)) for id in self._of(word)]
        return ids

    def _words(self, spelled):
        return WORD.findall(spelled) if self._cuts_words else [spelled]

    def _of(self, word):
        """The ids of a word, without its history."""
        ids = []
        for symbol, _ in join(word, by_score(self.scores))[0]:
            if symbol in self.vocabulary:
                ids.append(self.vocabulary[symbol])
                continue
            for byte in symbol.encode():
                id = self.bytes.get(byte, self.unknown)
                in_a_row = id == self.unknown and ids[-1:] == [id]
                ids += [] if id is None or in_a_row else [id]
        return ids

    def spans(self, text: str, first: bool = True) -> list[tuple[int, int]]:
        """For each of the text's ids the characters that it touches."""
        return [span for history in self.histories(text) for span in history.spans]

    def histories(self, text: str, first: bool = True) -> list[History]:
        """How each stretch between spaces became tokens, and each added token."""
        found, start = [], 0
        for piece, is_added in markers.cut(text, self._added):
            stop = start + len(piece)
            if is_added:
                found.append(taken_whole(piece, self.added[piece], start, stop))
            else:
                found += self._of_words(self._spelled(piece), start, stop)
            start = stop
        return found

    def _of_words(self, spelled, start, stop):
        # a space that was put before the text touches its first character
        before = len(spelled) - (stop - start)
        places = [(at, at + 1) for at in range(start, stop)]
        places = places[:1] * before + places
        end = 0
        for word in self._words(spelled):
            begin, end = end, end + len(word)
            yield self._history(word, places[begin:end])

    def _history(self, word, places):
        left, joins = join(word, by_score(self.scores))
        tokens, dropped = self._tokens(word, places, left)
        ends = [*accumulate(len(token.symbols) for token in tokens)]
        # characters that became bytes are other symbols, and more of them, than merging began with
        at = {}
        for token, end in zip(tokens, ends, strict=True):
            at |= {token.begin + n: end - len(token.symbols) + n for n in range(len(token.symbols))}
        return History(
            start=places[0][0],
            stop=places[-1][1],
            symbols=tuple(symbol for token in tokens for symbol in token.symbols),
            merges=tuple(self._merge(joined, at[joined.start]) for joined in joins),
            ids=tuple(token.id for token in tokens),
            ends=tuple(ends),
            dropped=tuple(dropped),
            whole=False,
            places=tuple(place for token in tokens for place in token.places),
        )

    def _merge(self, joined, start):
        middle, stop = (start + at - joined.start for at in (joined.middle, joined.stop))
        return Merge(start, middle, stop, None, -joined.priority, self.vocabulary[joined.symbol])

    def _tokens(self, word, places, left):
        """The tokens of a word by the symbols that merging left, and the bytes that vanish."""
        tokens, dropped, begin = [], [], 0
        for symbol, end in left:
            if symbol in self.vocabulary:
                id = self.vocabulary[symbol]
                tokens.append(_Token(id, begin, [*symbol], places[begin:end]))
            else:
                dropped += self._add_bytes(tokens, symbol, begin, places[begin])
            begin = end
        return tokens, dropped

    def _add_bytes(self, tokens, c, begin, place):
        """Add the tokens of a character's bytes; returns those without. Unknown bytes in a row are
        one token.
        """
        for byte in c.encode():
            id = self.bytes.get(byte, self.unknown)
            if byte in self.bytes:
                tokens.append(_Token(id, begin, [f"<0x{byte:02X}>"], [place]))
            elif id is None:
                yield byte
            elif tokens and tokens[-1].id == id:
                tokens[-1] = tokens[-1].longer(c, begin, place)
            else:
                tokens.append(_Token(id, begin, [c], [place]))

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
        if self.missing_bytes.isdisjoint(self._spelled(text).encode()):
            return []
        return [byte for history in self.histories(text) for byte in history.dropped]

    def unknown_parts(self, text: str) -> list[str]:
        """The parts of the text that become the token for unknown bytes."""
        if self.unknown is None or self.unknown not in self.ids(text):
            return []
        found = []
        for history in self.histories(text):
            for id, end in zip(history.ids, history.ends, strict=True):
                found += history.symbols[end - 1] if id == self.unknown else ""
        return found


@dataclass(frozen=True)
class _Token:
    """A token that is left: its id, which character of the word it begins with (an unknown one:
    the last of them), its symbols, and the characters of the text that each touches.
    """

    id: int
    begin: int
    symbols: list[str]
    places: list[tuple[int, int]]

    def longer(self, c, begin, place):
        """The same unknown token with one more character, or byte of its last one."""
        symbol = self.symbols[0] + (c if begin != self.begin else "")
        return _Token(self.id, begin, [symbol], [(self.places[0][0], place[1])])
