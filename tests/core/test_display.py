"""Bytes made visible: nothing is lost, nothing acts."""

import unicodedata

import pytest

from core.text.display import show_bytes, show_text


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (b" is", "␣is"),
        (b"    code", "␣␣␣␣code"),
        (b"\n", "⏎"),
        (b"\r\n\t", "␍⏎⇥"),
        (b"", "∅"),
        (b"\x00", "⟨00⟩"),
        (b"\x1b[31m", "⟨1B⟩[31m"),
        (b"\x7f", "⟨7F⟩"),
        (b"\xf0\x9f", "⟨F0 9F⟩"),
        (b"\xa6", "⟨A6⟩"),
        (b"a\xff\xfeb", "a⟨FF FE⟩b"),
        (b" \xf0\x9f\x99", "␣⟨F0 9F 99⟩"),
        ("🙂".encode(), "🙂"),
        ("，你".encode(), "，你"),
        (b"\x80" + "é".encode() + b"\xc3", "⟨80⟩é⟨C3⟩"),
        (b"<b>&lt;", "<b>&lt;"),
        (b"\xed\xa0\x80", "⟨ED A0 80⟩"),
        (b"\xc0\xaf", "⟨C0 AF⟩"),
    ],
)
def test_bytes(data, shown):
    assert show_bytes(data) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\u202ebc", "a⟨U+202E⟩bc"),
        ("\u200b", "⟨U+200B⟩"),
        ("\u00a0", "⟨U+00A0⟩"),
        ("\u3000", "⟨U+3000⟩"),
        ("\ue000", "⟨U+E000⟩"),
        ("\u2028", "⟨U+2028⟩"),
        ("\u0085", "⟨U+0085⟩"),
        ("\u0301", "◌\u0301"),
        ("e\u0301", "e\u0301"),
        ("مرحبا", "مرحبا"),
    ],
)
def test_text(text, shown):
    assert show_text(text) == shown


def test_every_character_is_visible_and_inert():
    for code in [*range(0x3000), *range(0xD7F0, 0x10000, 7), *range(0x10000, 0x110000, 997)]:
        if 0xD800 <= code < 0xE000:
            continue
        shown = show_text(chr(code))
        assert shown and all(unicodedata.category(c)[0] not in "CZ" for c in shown), hex(code)


def test_different_bytes_look_different():
    single = [show_bytes(bytes([b])) for b in range(256)]
    assert len(set(single)) == 256
