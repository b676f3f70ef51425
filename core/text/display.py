"""Bytes and text made visible: every byte of a token shows, and none of them can act as mark-up or
control.

Knows Unicode only; no vocabulary, no page.
"""

import unicodedata

VISIBLE = {" ": "␣", "\n": "⏎", "\r": "␍", "\t": "⇥"}
EMPTY = "∅"


def show_bytes(data: bytes) -> str:
    """The visible form of some bytes: `b" a\\n"` -> `␣a⏎`, half a character -> `⟨F0 9F⟩`, nothing
    -> `∅`.
    """
    out, at = [], 0
    while at < len(data):
        text, end = _whole_characters(data, at)
        out.append(show_text(text))
        at = end
        broken = _broken_bytes(data, at)
        if broken:
            out.append("⟨" + broken.hex(" ").upper() + "⟩")
            at += len(broken)
    return "".join(out) or EMPTY


def show_text(text: str) -> str:
    """Text with spaces, line ends, controls and direction marks visible; combining marks get a
    carrier.
    """
    shown = "".join(_show_character(c) for c in text)
    return "◌" + shown if text and unicodedata.category(text[0]).startswith("M") else shown


def _show_character(c: str) -> str:
    if c in VISIBLE:
        return VISIBLE[c]
    if ord(c) < 0x20 or ord(c) == 0x7F:
        return f"⟨{ord(c):02X}⟩"
    # controls, format and direction marks, odd spaces, private use and unassigned code points by
    # number
    if unicodedata.category(c)[0] in "CZ":
        return f"⟨U+{ord(c):04X}⟩"
    return c


def _whole_characters(data, at):
    """The longest run of whole UTF-8 characters from `at`, and where it ends."""
    try:
        return data[at:].decode(), len(data)
    except UnicodeDecodeError as error:
        return data[at : at + error.start].decode(), at + error.start


def _broken_bytes(data, at):
    """The bytes from `at` on that begin no whole character."""
    end = at
    while end < len(data) and not _starts_character(data, end):
        end += 1
    return data[at:end]


def _starts_character(data, at):
    for size in (1, 2, 3, 4):
        try:
            data[at : at + size].decode()
            return at + size <= len(data)
        except UnicodeDecodeError:
            continue
    return False
