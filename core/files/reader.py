"""Reads little-endian values from bytes, never past their end, and no more of them than any model
has. Knows the value types of GGUF; knows neither files nor models.
"""

import struct

import numpy as np

from core.errors import ModelFileError

SCALARS = {
    0: "<B",
    1: "<b",
    2: "<H",
    3: "<h",
    4: "<I",
    5: "<i",
    6: "<f",
    7: "<?",
    10: "<Q",
    11: "<q",
    12: "<d",
}
STRING, ARRAY, BOOL = 8, 9, 7
# a large file may hold any number of tiny values; the largest vocabulary, Gemma 3's, has 786,432
MOST_VALUES, MOST_TEXT = 900_000, 12_000_000
STEP = 1 << 20  # bytes at a time
MOST_BELIEVED = 1 << 32  # entries; where more are announced, the count itself is damaged


class Reader:
    """Reads little-endian values from the start of something that gives slices of bytes, and never
    past its end.
    """

    def __init__(self, data, path, values: int = MOST_VALUES):
        self.data, self.path, self.at = data, str(path), 0
        self.head = bytearray()  # what has been read so far, and a little more
        self.room = {"values": values, "bytes of text": min(MOST_TEXT, 20 * values)}

    def fail(self, place, reason):
        """The error for a file that contradicts the format."""
        return ModelFileError("broken", path=self.path, place=place, reason=reason)

    def incomplete(self, place, needs):
        """The error for a file that ends too early."""
        has = len(self.data)
        return ModelFileError("incomplete", path=self.path, place=place, needs=needs, has=has)

    def take(self, n: int, place: str):
        """The next n bytes."""
        if n > len(self.data) - self.at:
            raise self.incomplete(place, self.at + n)
        self.reach(self.at + n)
        self.at += n
        return self.head[self.at - n : self.at]

    def reach(self, stop: int):
        """Have the bytes up to `stop` at hand, where there are so many."""
        if stop > len(self.head):
            self.head += self.data[len(self.head) : max(stop, len(self.head) + STEP)]

    def number(self, form: str, place: str):
        """One number, as `struct` names its form."""
        return struct.unpack(form, self.take(struct.calcsize(form), place))[0]

    def count(self, form: str, smallest: int, place: str) -> int:
        """A count of things of at least `smallest` bytes each: refused if they cannot fit."""
        n = self.number(form, place)
        if n > MOST_BELIEVED:
            raise self.fail(place, f"it announces {n} entries, more than a file can hold")
        if n * smallest > len(self.data) - self.at:
            raise self.incomplete(f"{place} ({n})", self.at + n * smallest)
        return n

    def spend(self, n: int, what: str, place: str):
        """Take n of what all metadata together may hold."""
        self.room[what] -= n
        if self.room[what] < 0:
            raise self.fail(place, f"the metadata hold more {what} than any model needs")

    def text(self, place: str, longest: int | None = None) -> str:
        """A string: u64 length, then UTF-8 (bytes that are not UTF-8 become the replacement
        character).
        """
        n = self.count("<Q", 1, place)
        if longest is not None and n > longest:
            raise self.fail(place, f"a name of {n} bytes is longer than {longest}")
        self.spend(n, "bytes of text", place)
        return bytes(self.take(n, place)).decode("utf-8", "replace")

    def texts(self, place: str) -> list[str]:
        """An array of strings, without a call for each: a vocabulary has a hundred thousand."""
        n = self.count("<Q", 8, place)
        self.spend(n, "values", place)
        at, parts = 0, []
        limit = min(len(self.data) - self.at, 8 * n + self.room["bytes of text"])
        self.reach(self.at + limit)
        data = bytes(memoryview(self.head)[self.at : self.at + limit])
        for _ in range(n):
            start = at + 8
            at = start + int.from_bytes(data[at:start], "little")
            if at > limit:
                break
            parts.append(data[start:at].decode("utf-8", "replace"))
        self.spend(at - 8 * n, "bytes of text", place)
        self.take(at, place)
        return parts

    def value(self, kind: int, place: str):
        """One metadata value. Arrays of arrays are refused, as the reference reader does."""
        if kind == STRING:
            return self.text(place)
        if kind == ARRAY:
            return self.array(place)
        if kind not in SCALARS:
            raise self.fail(place, f"value type {kind} does not exist")
        if kind == BOOL:
            return self.boolean(place)
        return self.number(SCALARS[kind], place)

    def boolean(self, place: str) -> bool:
        """A byte that must be 0 or 1."""
        n = self.number("<B", place)
        if n > 1:
            raise self.fail(place, f"a truth value is {n}, not 0 or 1")
        return bool(n)

    def array(self, place: str) -> list:
        """An array of numbers or strings, as a list."""
        kind = self.number("<I", place)
        if kind == STRING:
            return self.texts(place)
        if kind not in SCALARS:
            raise self.fail(place, f"an array of type {kind} is not allowed")
        size = struct.calcsize(SCALARS[kind])
        n = self.count("<Q", size, place)
        self.spend(n, "values", place)
        return np.frombuffer(self.take(n * size, place), SCALARS[kind]).tolist()
