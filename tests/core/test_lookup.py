"""The vocabulary as a list: what is found in a hand-made one, and facts of SmolLM2's."""

from collections import Counter

import pytest
from tokenizers import Regex, normalizers

from core import open_model
from core.analyse import lookup
from core.text.tokenizer import from_gguf
from tests import vocabularies

DATA = (b"a", b" a", b"ab", b"#7", b"\xe5", b"", b"0xab", "天气".encode(), b" ", b"<s>", b"a b")
KINDS = ("ordinary",) * 4 + ("half", "none") + ("ordinary",) * 3 + ("control", "ordinary")
SMALL = lookup.Listing(DATA, KINDS)


@pytest.fixture(scope="module")
def large(smollm):
    return lookup.listing(smollm)


@pytest.mark.parametrize(
    "text, kind, wanted",
    [
        ("is", "text", b"is"),
        (" is", "text", b" is"),
        ("␣is", "text", b" is"),
        ("#314", "id", 314),
        (" #314 ", "id", 314),
        ("#1,309", "id", 1309),
        ("#1，309", "id", 1309),
        ("#1,30", "text", b"#1,30"),
        ("314", "text", b"314"),
        ("#", "text", b"#"),
        ("#3a", "text", b"#3a"),
        ("#" + "1" * 40, "text", b"#" + b"1" * 40),
        ("#٣", "text", "#٣".encode()),
        ("0xF09F", "bytes", b"\xf0\x9f"),
        ("0xf0 9f", "bytes", b"\xf0\x9f"),
        ("0xF", "text", b"0xF"),
        ("0x", "text", b"0x"),
        ("天", "text", b"\xe5\xa4\xa9"),
        ("", "text", b""),
    ],
)
def test_how_a_search_is_read(text, kind, wanted):
    assert lookup.asked(text) == (kind, wanted)


@pytest.mark.parametrize(
    "text, ids",
    [
        ("a", [0, 1, 2, 10, 6]),
        ("␣a", [1]),
        ("␣", [8, 1, 10]),
        ("#2", [2]),
        ("#10", [10]),
        ("#11", []),
        ("0xE5", [4, 7]),
        ("0x23 37", [3]),
        ("A", []),
        ("<s>", [9]),
    ],
)
def test_what_is_found_the_shortest_first(text, ids):
    assert lookup.search(SMALL, text) == ids


def test_nothing_asked_is_in_every_entry():
    assert sorted(lookup.search(SMALL, "")) == list(range(len(DATA)))


@pytest.mark.parametrize(
    "id, text", [(1, "␣a"), (3, "0x23 37"), (4, "0xE5"), (5, "#5"), (6, "0x30 78 61 62"), (8, "␣")]
)
def test_how_an_entry_is_asked_for(id, text):
    assert lookup.written(SMALL, id) == text


def test_every_entry_of_a_vocabulary_is_found_by_what_is_written_for_it(large):
    for id in range(0, len(large.data), 809):
        assert id in lookup.search(large, lookup.written(large, id))


def test_entries_that_begin_with_a_space():
    data = (b"a", b" a", b" b", b" ", b"  ")
    assert lookup.with_space(lookup.Listing(data, ("ordinary",) * 5)) == (3, 2)


def test_lists_of_a_small_vocabulary():
    assert lookup.longest(SMALL)[:3] == [7, 6, 9] and SMALL.of_kind("half", "none") == [4, 5]
    assert SMALL.counts.tolist() == [1, 3, 3, 2, 1, 0, 1]
    assert lookup.same_mark(SMALL) == 1


@pytest.mark.parametrize(
    "character, name",
    [("é", "latin"), ("天", "han"), ("ж", "cyrillic"), ("の", "kana"), ("ー", "kana")]
    + [("7", "digits"), ("٣", "digits"), ("½", "symbols"), ("，", "signs"), ("\n", "spaces")]
    + [("🙂", "emoji"), ("+", "symbols"), ("ा", "devanagari"), ("이", "hangul"), ("Ա", "armenian")]
    + [("\x07", "symbols"), ("\ufffd", "symbols"), ("ჯ", "georgian"), ("ᚠ", "letters")],
)
def test_the_script_of_a_character(character, name):
    assert lookup.script(character) == name


def test_an_entry_counts_for_each_of_its_scripts():
    listing = lookup.Listing(
        (b"a 1", b"a", b"\xe5", b"<s>"), ("ordinary",) * 2 + ("half", "control")
    )
    found = {script.name: (script.n, script.first) for script in lookup.scripts(listing)}
    assert found == {"latin": (2, (0, 1)), "spaces": (1, (0,)), "digits": (1, (0,))}


# --- SmolLM2 and Nano


def test_smollm2s_entries_by_kind(large):
    assert Counter(large.kinds) == {"ordinary": 48_822, "half": 313, "control": 17}
    assert lookup.same_mark(large) == 265
    assert large.data[116] == b"\xa6" and large.kinds[116] == "half"


def test_what_smollm2s_search_finds(large):
    assert lookup.search(large, "#314") == [314] and lookup.search(large, "␣is")[0] == 314
    assert lookup.search(large, "0xF0 9F 99 82") == lookup.search(large, "🙂") == [47_526]
    assert lookup.search(large, "<|im_end|>") == [2]
    assert lookup.search(large, "#49152") == []


@pytest.mark.parametrize(
    "name, pattern",
    [("han", r"\p{Han}"), ("cyrillic", r"\p{Cyrillic}"), ("greek", r"\p{Greek}")]
    + [("kana", r"[\p{Hiragana}\p{Katakana}ー]"), ("hebrew", r"\p{Hebrew}"), ("digits", r"\p{Nd}")],
)
def test_scripts_are_those_of_the_unicode_properties(large, name, pattern):
    """The regular expressions of the tokenizers library have tables of their own."""
    without = normalizers.Replace(Regex(pattern), "")
    texts = [large.data[id].decode() for id in large.of_kind("ordinary")]
    expected = sum(without.normalize_str(text) != text for text in texts)
    assert lookup.holding(large, name) == expected > 0


def test_smollm2_holds_80_entries_with_chinese_characters(large):
    assert lookup.holding(large, "han") == 80
    assert lookup.holding(large, "bengali") == 0


def test_nanos_unknown_token_is_no_other_control_token():
    listing = lookup.listing(open_model("nano"))
    assert listing.kinds[:4] == ("unknown", "control", "control", "ordinary")
    assert lookup.holding(listing, "han") == 0


def test_a_listing_is_made_once(smollm):
    assert lookup.listing(smollm) is lookup.listing(smollm)
    assert lookup.LISTS.nbytes <= lookup.LISTS.limit


def test_bytes_added_tokens_and_rows_without_a_token_have_kinds_of_their_own():
    header = vocabularies.sentencepiece(user_defined=("<think>",))
    n = len(header.metadata["tokenizer.ggml.tokens"])
    listing = lookup._listing(from_gguf(header, n + 2))
    kinds = {id: listing.kinds[id] for id in (0, 1, 3 + 0x0A, 3 + 0xF0, 259, 260, n, n + 1)}
    expected = "unknown control ordinary half added ordinary none none".split()
    assert list(kinds.values()) == expected
