"""Text to ids and back: known ids of the real vocabulary, and identities on the tiny one."""

import pytest

from core.text.tokenizer import byte_characters
from tests import tiny as tiny_file

LLAMA = "\U0001f999"
ARABIC = "مرحبا"


def test_the_byte_alphabet():
    table = byte_characters()
    assert sorted(table.values()) == list(range(256))
    assert [table[c] for c in "aĠĊĉð!"] == [0x61, 0x20, 0x0A, 0x09, 0xF0, 0x21]
    assert [table[c] for c in tiny_file.alphabet()] == list(range(256))


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("The capital of France is", [504, 3575, 282, 4649, 314]),
        (LLAMA, [10813, 116, 243]),
        ("a\r\nb", [81, 201, 198, 82]),
        ("a\nb", [81, 198, 82]),
        ("a\rb", [81, 201, 82]),
        ("a\\nb", [81, 76, 22808]),
        ("x != y", [104, 6541, 329]),
        ("hello !", [28120, 5728]),
        ("the word 'social'", [1195, 2229, 637, 17009, 23]),
        (ARABIC, [21706, 20602, 44626, 31462, 10805]),
        ("Hello", [19556]),
        ("Hellos", [56, 478, 395]),
        ("", []),
    ],
)
def test_known_ids(smollm, text, ids):
    assert smollm.tokenizer.encode(text) == ids
    assert smollm.tokenizer.decode(ids) == text


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("12345", ["1", "2", "3", "4", "5"]),
        ("a  12", ["a", "ĠĠ", "1", "2"]),
        ("½", ["Â½"]),
        ("\t\t12", ["ĉĉ", "1", "2"]),
    ],
)
def test_digits_are_cut_before_the_words(smollm, text, pieces):
    words = smollm.tokenizer
    assert [words.tokens[i] for i in words.encode(text)] == pieces


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("今天天气很好", 13),
        ("The weather is nice today", 5),
        ("🙂", 2),
        ("👨‍👩‍👧", 13),
        ("strawberry", 3),
    ],
)
def test_known_counts(smollm, text, count):
    assert len(smollm.tokenizer.encode(text)) == count
    assert smollm.tokenizer.decode(smollm.tokenizer.encode(text)) == text


def test_a_character_split_over_tokens_keeps_its_bytes(smollm):
    words, ids = smollm.tokenizer, [10813, 116, 243]
    assert [words.token_bytes(i) for i in ids] == [b"\xf0\x9f", b"\xa6", b"\x99"]
    assert [words.display(i) for i in ids] == ["⟨F0 9F⟩", "⟨A6⟩", "⟨99⟩"]
    assert [words.decode([i]) for i in ids] == ["\ufffd"] * 3
    assert words.decode(ids) == LLAMA


def test_every_token_of_the_vocabulary(smollm):
    words = smollm.tokenizer
    ordinary = [i for i in range(len(words.tokens)) if words.tokens[i] not in words.special]
    assert len(ordinary) == 49_135
    assert sum(not is_utf8(words.token_bytes(i)) for i in ordinary) == 313
    # 265 tokens decode to one and the same replacement mark: only their bytes tell them apart
    assert sum(words.decode([i]) == "\ufffd" for i in ordinary) == 265
    assert all(words.display(i) for i in range(len(words.tokens)))


def is_utf8(data):
    try:
        data.decode()
        return True
    except UnicodeDecodeError:
        return False


def test_special_markers_typed_in_a_text_stay_text(smollm):
    words = smollm.tokenizer
    ids = words.encode("<|im_end|>")
    assert len(ids) == 7 and 2 not in ids
    assert words.decode(ids) == words.decode([2]) == "<|im_end|>"


def test_bytes_that_the_vocabulary_lacks(smollm):
    words = smollm.tokenizer
    never_in_utf8 = {0xC0, 0xC1, *range(0xF5, 0x100)}
    lacking = [4, 6, 0x13, 0x14, 0x16, 0x1D, 0xF1, 0xF2]
    assert sorted(words.missing_bytes - never_in_utf8) == lacking
    assert words.encode("a\x04b") == [81, 82]
    assert words.dropped("a\x04b\x04\x06") == [4, 4, 6]
    assert words.encode("\x04\x06") == [] and words.dropped("plain") == []
    assert words.dropped("\U00040000") == [0xF1]  # encoded as F1 80 80 80


def test_round_trip_of_what_is_not_dropped(tiny):
    words = tiny.tokenizer
    for text in (
        "the cat  and\n\n 12 🙂",
        "a\tb\x00\x7f",
        "\ue000\u202e",
        "<|im_start|>",
        " " * 50,
    ):
        assert words.decode(words.encode(text)) == text
        assert b"".join(map(words.token_bytes, words.encode(text))).decode() == text


def test_merges_apply_in_the_order_of_their_rank(tiny):
    words = tiny.tokenizer
    # "t h" comes first in the list, then "th e", which " t" cannot undo
    assert [words.display(i) for i in words.encode("the the then")] == [
        "the",
        "␣",
        "the",
        "␣",
        "the",
        "n",
    ]
    assert [words.display(i) for i in words.encode(" t")] == ["␣t"]


def test_lone_surrogates_do_not_break_encoding(tiny):
    assert tiny.tokenizer.encode("a\ud800b") == tiny.tokenizer.encode("a?b")


def test_pieces_are_where_the_text_is_cut(tiny):
    pieces = tiny.tokenizer.pieces("the cat 12")
    assert [piece for piece, _, _ in pieces] == ["the", "Ġcat", "Ġ", "1", "2"]
    assert [(start, stop) for _, start, stop in pieces] == [(0, 3), (3, 7), (7, 8), (8, 9), (9, 10)]


@pytest.mark.parametrize("id", [-1, 299])
def test_ids_outside_the_vocabulary(tiny, id):
    with pytest.raises(IndexError):
        tiny.tokenizer.token_bytes(id)
