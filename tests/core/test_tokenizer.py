"""Text to ids and back: known ids of the real vocabulary, and identities on the tiny one."""

import pytest

from core.errors import ModelFileError
from core.text.tokenizer import byte_characters, from_gguf
from tests import tiny as tiny_file
from tests import vocabularies as make

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


def test_a_text_whose_bytes_are_all_there_is_not_replayed(smollm, monkeypatch):
    encoder = smollm.tokenizer.encoder
    monkeypatch.setattr(type(encoder), "histories", lambda *_: pytest.fail("replayed"))
    assert smollm.tokenizer.dropped("plain 🙂 text\n") == []
    assert smollm.tokenizer.unknown_parts("plain \x04") == []
    with pytest.raises(pytest.fail.Exception):
        smollm.tokenizer.dropped("\x04")


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


CUTS = {  # of "I'VE 12345  a\n\nb"
    "gpt-2": ["I", "'", "VE", "Ġ12345", "Ġ", "Ġa", "Ċ", "Ċ", "b"],
    "smollm": ["I", "'", "VE", "Ġ", "1", "2", "3", "4", "5", "Ġ", "Ġa", "Ċ", "Ċ", "b"],
    "llama-bpe": ["I", "'VE", "Ġ", "123", "45", "Ġ", "Ġa", "ĊĊ", "b"],
    "qwen2": ["I", "'VE", "Ġ", "1", "2", "3", "4", "5", "Ġ", "Ġa", "ĊĊ", "b"],
}
SHARED = {"olmo": "gpt-2", "mpt": "gpt-2", "starcoder": "smollm", "refact": "smollm"}
SHARED |= {"llama3": "llama-bpe", "dbrx": "llama-bpe", "smaug-bpe": "llama-bpe"}
SHARED |= {"deepseek-r1-qwen": "qwen2", "stablelm2": "qwen2"} | {rule: rule for rule in CUTS}


@pytest.mark.parametrize(("name", "rule"), SHARED.items())
def test_rules_cut_as_they_are_written_down(name, rule):
    words = from_gguf(make.byte_level(pre=name))
    assert [piece for piece, _, _ in words.pieces("I'VE 12345  a\n\nb")] == CUTS[rule]
    assert words.rule == rule


@pytest.mark.parametrize(
    ("text", "llama", "qwen"),
    [
        ("don't", ["don", "'t"], ["don", "'t"]),
        ("(word", ["(word"], ["(word"]),
        (" !?\n\nx", ["Ġ!?ĊĊ", "x"], ["Ġ!?ĊĊ", "x"]),
        ("a \n\r\n b", ["a", "ĠĊčĊ", "Ġb"], ["a", "ĠĊčĊ", "Ġb"]),
        ("½34", ["Â½34"], ["Â½", "3", "4"]),
    ],
)
def test_words_numbers_and_line_ends(text, llama, qwen):
    for rule, pieces in (("llama-bpe", llama), ("qwen2", qwen)):
        found = from_gguf(make.byte_level(pre=rule)).pieces(text)
        assert [piece for piece, _, _ in found] == pieces


@pytest.mark.parametrize("pre", [None, "default", "tekken", ""])
def test_a_rule_that_is_not_known_is_said_not_guessed(pre):
    with pytest.raises(ModelFileError) as caught:
        from_gguf(make.byte_level(pre=pre))
    assert caught.value.code == "unsupported"
    assert "llama-bpe" in str(caught.value) and "qwen2" in str(caught.value)


def with_merges(merges, pre, **changed):
    """The tiny vocabulary with other merges."""
    return from_gguf(make.byte_level(pre=pre, merges=merges, **changed))


def test_some_rules_take_a_piece_that_is_a_token_whole():
    # with these merges "the" can only become "t he": "th e" is not among them
    for pre, tokens in (("llama-bpe", ["the"]), ("dbrx", ["t", "he"]), ("gpt-2", ["t", "he"])):
        words = with_merges(["h e", "t h"], pre)
        assert [words.display(i) for i in words.encode("the")] == tokens


@pytest.mark.parametrize(
    ("pre", "said", "adds"),
    [
        ("llama-bpe", None, True),
        ("llama-bpe", False, False),
        ("dbrx", None, False),
        ("qwen2", None, False),
        ("qwen2", True, True),
    ],
)
def test_bos_as_the_file_says_else_as_the_rule_has_it(pre, said, adds):
    assert from_gguf(make.byte_level(pre=pre, add_bos_token=said)).add_bos is adds
    assert not from_gguf(make.byte_level(pre=pre, add_bos_token=said, bos_token_id=None)).add_bos


def test_every_end_that_the_file_names():
    words = from_gguf(make.byte_level(eos_token_id=5, eot_token_id=6, eom_token_id=7))
    assert words.end_ids == {5, 6, 7, 0, 2}  # 0 and 2: <|endoftext|> and <|im_end|>


def test_markers_become_their_ids_when_they_are_switched_on(tiny):
    words = tiny.tokenizer
    text = "the<|im_end|><|im_start|> cat"
    ids = words.encode(text, control=True)
    assert ids == [*words.encode("the"), 2, 1, *words.encode(" cat")]
    assert words.decode(ids) == text and not {1, 2} & {*words.encode(text)}
    assert words.encode("the cat", control=True) == words.encode("the cat")


def test_user_defined_tokens_are_matched_before_everything_else():
    last = len(tiny_file.vocabulary()) - 1  # its text becomes three spaces, as a file holds them
    tokens = [*tiny_file.vocabulary()[:-1], "   "]
    types = [3] * 3 + [1] * (len(tokens) - 4) + [make.USER_DEFINED]
    merges = [m for m in tiny_file.MERGES if m != "Ļ Ĥ"]
    words = from_gguf(make.byte_level(tokens=tokens, token_type=types, merges=merges))
    assert words.encode("the    cat") == [*words.encode("the"), last, *words.encode(" cat")]
    assert words.token_bytes(last) == b"   " and words.display(last) == "␣␣␣"
    assert last not in words.special.values()


def test_tokens_that_only_look_ordinary_never_come_out_of_a_text():
    """A marker the file calls user-defined is a marker; an unused token is no text."""
    tokens = tiny_file.vocabulary()
    at = tokens.index("Ġthe")
    types = [make.USER_DEFINED] * 3 + [1] * (len(tokens) - 3)
    types[at] = make.UNUSED
    merges = [m for m in tiny_file.MERGES if m != "Ġt he" and m != "Ġ the"]
    merges = [m for m in merges if m.replace(" ", "") != "Ġthe"]
    words = from_gguf(
        make.byte_level(tokens=tokens, token_type=types, merges=merges, pre="llama-bpe")
    )
    assert at not in words.encode("x the") and not {0, 2} & {*words.encode("<|im_end|>")}
    assert words.special.keys() == {"<|endoftext|>", "<|im_end|>"}


def test_rows_without_a_token():
    n = len(tiny_file.vocabulary())
    words = from_gguf(make.byte_level(), n_tokens=n + 5)
    assert len(words.tokens) == n + 5
    assert words.token_bytes(n + 1) == b"" and words.display(n + 1) == f"⟨{n + 1}⟩"
    assert words.decode([n + 1, n]) == ""
    with pytest.raises(IndexError):
        words.display(n + 5)
    with pytest.raises(ModelFileError) as caught:
        from_gguf(make.byte_level(), n_tokens=n - 1)
    assert str(n) in str(caught.value) and str(n - 1) in str(caught.value)
