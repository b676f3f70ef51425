"""The vocabulary as a list that can be searched: by text, by id, by bytes, by kind of entry, by
script. Reads a model's tokenizer; no run, no figures.
"""

import functools
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from core.analyse.compared import is_whole
from core.record.trace import freeze
from core.store import ByteStore
from core.text.spelling import whole

KINDS = ("ordinary", "half", "added", "control", "unknown", "none")
REPLACEMENT = "\ufffd"  # what a decoder writes for bytes that are no character
SPACE = "␣"  # how the pages show a space; typed in a search it means one
# An id may be typed as numbers are printed: #1,309 or #1309
ID, BYTES = (
    re.compile(r"#([0-9]{1,9}|[0-9]{1,3}(?:[,，][0-9]{3}){1,2})"),
    re.compile(r"0x((?:[0-9A-Fa-f]{2})+)"),
)
LISTS = ByteStore(64 << 20)


@dataclass(frozen=True, eq=False)
class Listing:
    """All entries of a vocabulary: the bytes [id] that each stands for and its kind [id].

    Kinds: "half": its bytes are no whole characters. "added": stands for its own text, found before
    anything is merged. "control", "unknown" (for what has no token). "none": a row of the embedding
    table without a token. Else "ordinary".
    """

    data: tuple[bytes, ...]
    kinds: tuple[str, ...]

    @functools.cached_property
    def lengths(self) -> np.ndarray:
        """Bytes of each entry: int64 [id]."""
        return freeze(np.array([len(data) for data in self.data]))

    @property
    def counts(self) -> np.ndarray:
        """How many entries have 0, 1, 2, ... bytes: int64 [bytes]."""
        return np.bincount(self.lengths)

    @functools.cached_property
    def scripts(self) -> "tuple[Script, ...]":
        """The scripts of the entries, the most frequent first; see `scripts`."""
        return scripts(self)

    @property
    def nbytes(self) -> int:
        """About how much memory it takes."""
        return int(self.lengths.sum()) + len(self.data) * 60

    def of_kind(self, *kinds: str) -> list[int]:
        """The ids of these kinds, in order."""
        return [id for id, kind in enumerate(self.kinds) if kind in kinds]


def listing(model) -> Listing:
    """The entries of a model's vocabulary, made once and kept in a store bounded in bytes."""
    return LISTS.get(model.source.key, lambda: _listing(model.tokenizer), lambda made: made.nbytes)


def _listing(words):
    control, added = set(words.special.values()), set(words.literal)
    data = tuple(words.token_bytes(id) for id in range(len(words.tokens)))
    kinds = (_kind(id, each, words.unknown_id, control, added) for id, each in enumerate(data))
    return Listing(data, tuple(kinds))


def _kind(id, data, unknown, control, added):
    if id == unknown:
        return "unknown"
    if id in control:
        return "control"
    if not data:
        return "none"
    if id in added:
        return "added"
    return "ordinary" if is_whole(data) else "half"


def asked(text: str) -> tuple[str, int | bytes]:
    """What a reader looks for: ("id", number) for `#314`, ("bytes", bytes) for `0xF09F` or
    `0xF0 9F`, else ("text", its bytes) for the text as it stands, where `␣` is a space.
    """
    if found := ID.fullmatch(text.strip()):
        return "id", int(re.sub("[,，]", "", found[1]))
    if found := BYTES.fullmatch("".join(text.split())):
        return "bytes", bytes.fromhex(found[1])
    return "text", whole(text.replace(SPACE, " ")).encode()


def search(listing: Listing, text: str) -> list[int]:
    """The ids of the entries that a reader asks for (see `asked`): the one of an id, or all that
    hold these bytes, the shortest first. Nothing asked is held by every entry.
    """
    kind, wanted = asked(text)
    if kind == "id":
        return [wanted] if wanted < len(listing.data) else []
    ids = [id for id, data in enumerate(listing.data) if wanted in data]
    return sorted(ids, key=lambda id: len(listing.data[id]))


def written(listing: Listing, id: int) -> str:
    """What a reader types to find an entry: its text, or its bytes where the text cannot be typed;
    the id of a row without either.
    """
    data = listing.data[id]
    text = data.decode("utf-8", "replace").replace(" ", SPACE)
    if data and text.isprintable() and asked(text) == ("text", data):
        return text
    return f"0x{data.hex(' ').upper()}" if data else f"#{id}"


def longest(listing: Listing) -> list[int]:
    """All ids, those of the most bytes first."""
    return np.argsort(-listing.lengths, kind="stable").tolist()


def same_mark(listing: Listing) -> int:
    """How many entries give one replacement mark and nothing else when they are decoded alone."""
    return sum(data.decode("utf-8", "replace") == REPLACEMENT for data in listing.data)


def with_space(listing: Listing) -> tuple[int, int]:
    """How many entries begin with a space and go on after it, and of how many of these there is an
    entry without the space, too.
    """
    every = set(listing.data)
    spaced = [data for data in listing.data if data[:1] == b" " and len(data) > 1]
    return len(spaced), sum(data[1:] in every for data in spaced)


@dataclass(frozen=True)
class Script:
    """How many entries hold a character of a script, and which come first."""

    name: str
    n: int
    first: tuple[int, ...]


BY_NAME = "latin greek cyrillic armenian georgian hebrew arabic devanagari bengali tamil thai"
SCRIPTS = {name.upper(): name for name in BY_NAME.split()} | {"HANGUL": "hangul"}
SCRIPTS |= {"CJK": "han", "HIRAGANA": "kana", "KATAKANA": "kana"}
PICTURES = ((0x1F000, 0x1FAFF), (0x2600, 0x27BF))  # where Unicode has most of its emoji
OTHERS = {"P": "signs", "Z": "spaces"}


@functools.lru_cache(maxsize=1 << 16)
def script(character: str) -> str:
    """What kind of writing a character is, by its Unicode category and the words of its name: a
    script, "digits", "signs" (punctuation), "spaces", "emoji", "symbols" or "letters" (others).
    """
    if character.isdecimal():
        return "digits"
    category = unicodedata.category(character)[0]
    if category in "LM":
        words = unicodedata.name(character, "").replace("-", " ").split()
        return next((SCRIPTS[word] for word in words if word in SCRIPTS), "letters")
    if any(low <= ord(character) <= high for low, high in PICTURES):
        return "emoji"
    if character in "\t\n\v\f\r":
        return "spaces"
    return OTHERS.get(category, "symbols")


def scripts(listing: Listing) -> tuple[Script, ...]:
    """The scripts of a vocabulary, the most frequent first. Half characters and the names of
    control tokens do not count.
    """
    found: dict[str, list[int]] = {}
    for id in listing.of_kind("ordinary", "added"):
        for name in set(map(script, set(listing.data[id].decode("utf-8", "replace")))):
            found.setdefault(name, []).append(id)
    counted = (Script(name, len(ids), _first(listing, ids)) for name, ids in found.items())
    return tuple(sorted(counted, key=lambda script: -script.n))


def _first(listing, ids: Iterable[int], n: int = 4):
    """A few of the ids whose entries are no single bytes, where there are such."""
    return tuple(sorted(ids, key=lambda id: (listing.lengths[id] < 2, id))[:n])


def holding(listing: Listing, name: str) -> int:
    """How many entries hold a character of a script."""
    return next((script.n for script in listing.scripts if script.name == name), 0)
