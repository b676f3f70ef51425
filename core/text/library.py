"""A text without markers to ids by the `tokenizers` library: byte-level BPE, and whatever a
tokenizer.json describes.

Knows the library's objects; no file, no special names. The library matches added tokens that are no
control tokens (`<think>`, runs of spaces) before everything else.
"""

import functools
import json

from tokenizers import Tokenizer as Library

from core.errors import PromptError

from . import bpe
from .cut import Cut, alike
from .merges import History, taken_whole
from .spelling import byte_characters

EMPTY_MODEL = {"type": "BPE", "vocab": {}, "merges": []}


def guarded(call, *arguments, fail):
    """What the call returns; `fail(reason)` is raised for whatever goes wrong inside the library.

    Its panics are BaseExceptions, and it raises bare Exceptions.
    """
    try:
        return call(*arguments)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        raise fail(str(error)[:200]) from None


def unreadable(reason):
    """The error for a text that the library cannot encode."""
    return PromptError("unreadable", reason=reason)


def parts(settings: dict) -> list[dict]:
    """The settings of every simple part: those of a Sequence one by one, in order."""
    for name in ("normalizers", "pretokenizers", "decoders", "processors"):
        if isinstance(settings.get(name), list):
            inner = (part for part in settings[name] if isinstance(part, dict))
            return [part for sequence in inner for part in parts(sequence)]
    return [settings] if settings else []


def state(part) -> dict:
    """The settings of a normalizer, pre-tokenizer, decoder or post-processor as its JSON says them;
    empty for None.
    """
    return json.loads(part.__getstate__()) if part is not None else {}


class ByLibrary:
    """A vocabulary in a library object. special: ids that a text never becomes."""

    def __init__(self, library: Library, special=frozenset(), byte_level: bool = True):
        library.encode_special_tokens = True  # control tokens in a text are text
        library.no_padding()
        library.no_truncation()
        self.library, self.special, self.byte_level = library, special, byte_level
        self._later = _without_prefix(library)

    @functools.cached_property
    def missing_bytes(self) -> frozenset[int]:
        """Bytes that a byte-level vocabulary has no token for, and so leaves out."""
        if not self.byte_level or getattr(self.library.model, "unk_token", None):
            return frozenset()
        known = self.library.get_vocab()
        return frozenset(b for c, b in byte_characters().items() if c not in known)

    @functools.cached_property
    def unknown(self) -> int | None:
        """The id of the token for what the vocabulary does not know, where it has one."""
        return self.library.token_to_id(getattr(self.library.model, "unk_token", None) or "")

    def ids(self, text: str, first: bool = True) -> list[int]:
        """The ids of a text. first: it begins the prompt, where some vocabularies put a space.

        Raises PromptError for what the library cannot encode.
        """
        library = self.library if first else self._later
        encoding = guarded(lambda: library.encode(text, add_special_tokens=False), fail=unreadable)
        if self.special.isdisjoint(encoding.ids):
            return encoding.ids
        return guarded(self._spelled_out, text, encoding, fail=unreadable)

    def _spelled_out(self, text, encoding):
        """The ids, character by character where the model itself made a control token."""
        ids = []
        for id, (start, stop) in zip(encoding.ids, encoding.offsets, strict=True):
            ids += self._characters(text[start:stop]) if id in self.special else [id]
        return ids

    def _characters(self, text):
        alone = (self._later.encode(c, add_special_tokens=False).ids for c in text)
        return [id for ids in alone for id in ids if id not in self.special]

    def pieces(self, text: str) -> list[tuple[str, int, int]]:
        """What the text is cut into before merging: (piece as the vocabulary spells it, start,
        stop).
        """
        cuts = guarded(self._cuts[True].cut, text, fail=unreadable)
        return [(cut.piece, cut.start, cut.stop) for cut in cuts]

    @functools.cached_property
    def replayable(self) -> bool:
        """Whether `histories` can be told."""
        return bpe.replayable(self.library)

    def histories(self, text: str, first: bool = True) -> list[History]:
        """How each piece became tokens: their ids in order are `ids`. ValueError where the model is
        not `replayable`.
        """
        if not self.replayable:
            raise ValueError("the merges of this vocabulary cannot be replayed")
        found = []
        for cut in guarded(self._cuts[first].cut, text, fail=unreadable):
            if cut.id is not None:
                found.append(taken_whole(cut.piece, cut.id, cut.start, cut.stop))
                continue
            history = self._replay.history(*cut[:4])
            spelled_out = not self.special.isdisjoint(history.ids)
            found += self._without_special(text, history) if spelled_out else [history]
        return found

    def _without_special(self, text, history):
        """A history in which every control token is replaced by those of its characters alone."""
        for n, id in enumerate(history.ids):
            part = history.tokens(n, n + 1)
            if id not in self.special:
                yield part
                continue
            for at in range(part.start, part.stop):
                alone = self.histories(text[at], first=False) if len(text) > 1 else []
                yield from (each.moved(at) for each in alone)

    @functools.cached_property
    def _replay(self):
        return bpe.Replay(self.library.model, self.byte_level)

    @functools.cached_property
    def _cuts(self):
        return {True: Cut(self.library), False: Cut(self._later)}

    def spans(self, text: str, first: bool = True) -> list[tuple[int, int]]:
        """For each of the text's ids the characters that it touches."""
        if self.replayable:
            return [span for history in self.histories(text, first) for span in history.spans]
        library = self.library if first else self._later
        plain = alike(library, library.pre_tokenizer)  # a post-processor may trim the spaces
        encoding = guarded(lambda: plain.encode(text, add_special_tokens=False), fail=unreadable)
        spans = []
        for id, (start, stop) in zip(encoding.ids, encoding.offsets, strict=True):
            each = self._places(text, start, stop) if id in self.special else [(start, stop)]
            spans += each
        return spans

    def _places(self, text, start, stop):
        """Of the ids that a part of the text becomes when its characters are read one by one."""
        alone = ((at, len(self._characters(text[at]))) for at in range(start, stop))
        return [(at, at + 1) for at, n in alone for _ in range(n)]

    def dropped(self, text: str) -> list[int]:
        """The bytes of the text that no token stands for, in order."""
        if (self.replayable or self.byte_level) and not self._may_drop(text):
            return []
        if self.replayable:
            return [byte for history in self.histories(text) for byte in history.dropped]
        if self.byte_level:
            return [b for b in text.encode() if b in self.missing_bytes]
        encoding = guarded(self.library.encode, text, fail=unreadable)
        seen = {at for start, stop in encoding.offsets for at in range(start, stop)}
        return [*"".join(c for at, c in enumerate(text) if at not in seen).encode()]

    def _may_drop(self, text):
        """Whether a byte may vanish: told from the bytes alone where the vocabulary gets these, for
        a replay takes far longer.
        """
        if getattr(self.library.model, "unk_token", None):
            return False
        if not self._gets_bytes:
            return True
        there = {*text.encode(), *b" "}  # a space may be put before it
        rewritten = self.library.normalizer is not None
        return bool(self.missing_bytes if rewritten else self.missing_bytes & there)

    @functools.cached_property
    def _gets_bytes(self):
        """Whether the text is spelled as bytes before it is merged; a file may forget to say so."""
        steps = parts(state(self.library.pre_tokenizer))
        return self.byte_level and any(step.get("type") == "ByteLevel" for step in steps)

    def unknown_parts(self, text: str) -> list[str]:
        """The parts of the text that become the token for what the vocabulary does not know."""
        if self.unknown is None or self.unknown not in (ids := self.ids(text)):
            return []
        spans = zip(ids, self.spans(text), strict=True)
        return [text[start:stop] for id, (start, stop) in spans if id == self.unknown]


def _without_prefix(library):
    """The same library for a text inside a prompt: `Metaspace` may put a space before the first."""
    spelled = json.dumps(state(library.pre_tokenizer))
    if '"prepend_scheme": "first"' not in spelled:
        return library
    spelled = spelled.replace('"prepend_scheme": "first"', '"prepend_scheme": "never"')
    parts = {"version": "1.0", "model": EMPTY_MODEL, "pre_tokenizer": json.loads(spelled)}
    return alike(library, Library.from_str(json.dumps(parts)).pre_tokenizer)
