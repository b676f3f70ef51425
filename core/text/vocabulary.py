"""The vocabulary of one model: text to token ids and back.

Knows how a token is spelled and shown; the cutting and merging is in `library` and `sentencepiece`,
the files are read by `from_gguf` and `from_folder`.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from tokenizers import Tokenizer as Library

from core.errors import PromptError

from . import chat, markers
from .display import show_bytes
from .library import ByLibrary, guarded, unreadable
from .merges import History, taken_whole
from .sentencepiece import SentencePiece
from .spelling import byte_level, whole

LARGEST = 1 << 20  # tokens of a vocabulary that is read at all
# Control tokens that end a turn or a text, whatever else the file says about its ends
END_NAMES = frozenset(
    "<|endoftext|> <|im_end|> </s> <|eot_id|> <|eom_id|> <|end|> <|end_of_text|> <end_of_turn>"
    " <|return|> <end_of_utterance>".split()
)


@dataclass(frozen=True)
class NoText:
    """What stands for a tokenizer where a model came without one."""

    reason: str
    missing_bytes: frozenset[int] = frozenset()
    unknown: None = None

    replayable = False

    def ids(self, text: str, first: bool = True) -> list[int]:
        """Raises PromptError."""
        raise unreadable(self.reason)

    histories = spans = ids

    def pieces(self, text: str) -> list[tuple[str, int, int]]:
        """Nothing: no text is read at all."""
        return []

    def dropped(self, text: str) -> list[int]:
        """Nothing: no text is read at all."""
        return []

    def unknown_parts(self, text: str) -> list[str]:
        """Nothing: no text is read at all."""
        return []


class _Part(NamedTuple):
    """A piece of a text as it is encoded. start: where it stands in the text."""

    text: str
    is_marker: bool
    start: int
    first: bool


@dataclass(frozen=True)
class Tokenizer:
    """The vocabulary of one model.

    tokens: as the file spells them, "" for a row of the embedding matrix that has no token.
    special: the control tokens by text. end_ids: they stop a generation. rule: how texts are cut
    before merging. encoder: what turns a text into ids. spell: the bytes of an ordinary token;
    tokens of `literal` ids stand for their own text. names: what a chat template calls some tokens,
    as `bos_token`. space_first: whether encoding put a space before the first word. strips: by
    marker, whether it takes the white space (before it, after it) away.
    """

    tokens: tuple[str, ...]
    special: dict[str, int]
    end_ids: frozenset[int]
    bos_id: int | None
    add_bos: bool
    rule: str
    template: str | None
    encoder: ByLibrary | SentencePiece | NoText
    spell: Callable[[str], bytes] = byte_level
    literal: frozenset[int] = frozenset()
    names: dict[str, str] = field(default_factory=dict)
    space_first: bool = False
    strips: dict[str, tuple[bool, bool]] = field(default_factory=dict)

    @property
    def library(self) -> Library | None:
        """The `tokenizers` object, None for a vocabulary that does not use it."""
        return getattr(self.encoder, "library", None)

    def normalized(self, text: str) -> str:
        """What the vocabulary makes of a text before it cuts it: the same text where it leaves it
        alone. Raises PromptError for what the library cannot read.
        """
        normalizer = self.library and self.library.normalizer
        if not normalizer:
            return text
        return guarded(normalizer.normalize_str, text, fail=unreadable)

    def encode(self, text: str, control: bool = False) -> list[int]:
        """Text to ids, without BOS. Bytes without a token vanish.

        Special markers in the text stay literal, unless control is set: then they become their ids.
        Raises PromptError where the model has no tokenizer for texts.
        """
        return self._ids(self._marked(text, control))

    def spans(self, text: str, control: bool = False) -> list[tuple[int, int]]:
        """For each id of `encode` the characters of the text (start, stop) that it touches: the
        whole of one it has some bytes of, the next one for a space that encoding put before it.
        """
        return self._spans(self._marked(text, control))

    def histories(self, text: str, control: bool = False) -> tuple[History, ...]:
        """How each piece of a text became tokens: their ids in order are those of `encode`.

        Raises PromptError like it, ValueError where the vocabulary is not `replayable`.
        """
        return self._histories(self._marked(text, control))

    @property
    def replayable(self) -> bool:
        """Whether merges can be replayed: the vocabulary is byte-pair encoding, by ranks or scores,
        without marks inside or behind words.
        """
        return self.encoder.replayable

    def _marked(self, text, control):
        """The text as pieces (text, is_marker)."""
        return markers.cut(whole(text), self._markers) if control else [(text, False)]

    def _ids(self, pieces):
        ids = []
        for part in self._parts(pieces):
            marker = part.is_marker
            ids += [self.special[part.text]] if marker else self.encoder.ids(part.text, part.first)
        return ids

    def _spans(self, pieces):
        spans = []
        for part in self._parts(pieces):
            own = [(0, len(part.text))]
            own = own if part.is_marker else self.encoder.spans(part.text, part.first)
            spans += [(start + part.start, stop + part.start) for start, stop in own]
        return spans

    def _histories(self, pieces):
        found = []
        for part in self._parts(pieces):
            if part.is_marker:
                own = [taken_whole(part.text, self.special[part.text], 0, len(part.text))]
            else:
                own = self.encoder.histories(part.text, part.first)
            found += [history.moved(part.start) for history in own]
        return tuple(found)

    def _parts(self, pieces):
        start, before = 0, None
        for n, (text, is_marker) in enumerate(pieces):
            after = pieces[n + 1][0] if n + 1 < len(pieces) else None
            left, lost = (text, 0) if is_marker else self._stripped(whole(text), before, after)
            yield _Part(left, is_marker, start + lost, first=not n)
            start, before = start + len(text), text

    def _stripped(self, text, before, after):
        """A text without the white space that the markers around it take away, and how much of it
        stood at the beginning.
        """
        left = text.lstrip() if self.strips.get(before, (False, False))[1] else text
        lost = len(text) - len(left)
        return (left.rstrip() if self.strips.get(after, (False, False))[0] else left), lost

    @functools.cached_property
    def _markers(self):
        return markers.pattern(self.special)

    def decode(self, ids) -> str:
        """Ids to text, special tokens included as their names; half characters become the
        replacement mark. The space that encoding put before the first word is left out.
        """
        text = b"".join(map(self.token_bytes, ids)).decode("utf-8", "replace")
        return text.removeprefix(" ") if self.space_first else text

    def token_bytes(self, id: int) -> bytes:
        """The bytes one token stands for. IndexError outside the vocabulary."""
        if id < 0:
            raise IndexError(f"token id {id} is negative")
        token = self.tokens[id]
        return token.encode() if id in self._literal else self.spell(token)

    @functools.cached_property
    def _literal(self):
        return self.literal.union(self.special.values())

    def display(self, id: int) -> str:
        """A visible form: `␣is`, `⏎`, `⟨F0 9F⟩`, `⟨00⟩`; `⟨49152⟩` for a row without a token."""
        data = self.token_bytes(id)
        return show_bytes(data) if data else f"⟨{id}⟩"

    def dropped(self, text: str) -> list[int]:
        """The bytes of the text for which the vocabulary has no token, in order, each time they
        occur.
        """
        return self.encoder.dropped(whole(text))

    def unknown_parts(self, text: str) -> list[str]:
        """The parts of the text, in order, that the model reads as its token for what it does not
        know (`<unk>`).
        """
        return self.encoder.unknown_parts(whole(text))

    @property
    def unknown_id(self) -> int | None:
        """The token for what the vocabulary does not know, where it has one."""
        return self.encoder.unknown

    @property
    def missing_bytes(self) -> frozenset[int]:
        """Bytes that are not in the vocabulary as a token of their own."""
        return self.encoder.missing_bytes

    def pieces(self, text: str) -> list[tuple[str, int, int]]:
        """What pre-tokenization cuts the text into: (piece as the vocabulary spells it, start,
        stop) by character.
        """
        return self.encoder.pieces(whole(text))

    def chat(self, messages, control: bool = False) -> list[int]:
        """Messages to ids by the file's template, with the generation prompt.

        Special markers in the contents stay literal, unless control is set. Raises PromptError.
        """
        return self._ids(self._rendered(messages, control))

    def chat_text(self, messages, control: bool = False) -> str:
        """What `chat` makes of the messages before it encodes them."""
        return "".join(text for text, _ in self._rendered(messages, control))

    def chat_reading(self, messages, control: bool = False):
        """(text, ids, spans): what `chat` makes of the messages, its ids, and for each of them the
        characters of the text that it touches, as in `spans`.
        """
        pieces = self._rendered(messages, control)
        return "".join(text for text, _ in pieces), self._ids(pieces), self._spans(pieces)

    def chat_ahead(self, chats) -> None:
        """Render several chats at once, (template, messages, control) each, so that those who ask
        for one of them later need not wait. Raises nothing.
        """
        literal = [(template, messages, not control) for template, messages, control in chats]
        chat.render_ahead(literal, self._markers, self.names)

    def chat_histories(self, messages, control: bool = False) -> tuple[History, ...]:
        """How each piece of `chat_text` became tokens, as in `histories`."""
        return self._histories(self._rendered(messages, control))

    def _rendered(self, messages, control):
        if self.template is None:
            raise PromptError("bad_template", reason="the file has none")
        return chat.render(self.template, messages, self._markers, self.names, literal=not control)
