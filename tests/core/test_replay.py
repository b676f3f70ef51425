"""Random texts replayed merge by merge, with the library's ids as a witness over many kinds of
vocabularies, and a slow replay that looks at every pair before each merge.

Vocabularies with scores have no library behind them: here their histories must fit together, and
test_tokenizer_sentencepiece holds their ids against a slow reference.
"""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core import open_model
from core.text.tokenizer import from_folder, from_gguf
from tests import vocabularies as make

SMOLLM = "smollm2-135m-instruct"
EVERYTHING = st.characters(exclude_categories=())  # controls, astral planes, lone surrogates too
FRAGMENTS = [
    *("the", " the", " cat", "strawberry", "Hello", "don't", "I'VE", "x = 10", "12345", "½"),
    *(" ", "  ", "    ", "\n", "\r\n", "\t", "\x04", "\x00", "\x7f", "\ufeff", "\u202e", "\ud800"),
    *("今天天气很好", "مرحبا", "é", "e\u0301", "🙂", "👨\u200d👩\u200d👧", "🦙", "\U00040000"),
    *("<|im_end|>", "<|im_start|>", "<unk>", "<s>", "</s>", "<0x0A>", "<think>", "▁", "Ġ", "▁▁"),
    *("aaaa", "ab" * 9),
]
TEXTS = st.lists(st.sampled_from(FRAGMENTS) | st.text(EVERYTHING, max_size=6), max_size=8)
TEXTS = TEXTS.map("".join)


def many(n):
    """n random texts, the same at every time."""
    return settings(max_examples=n, derandomize=True, deadline=None, database=None)


def check(words, text, control=False):
    """The ids of all pieces are the encoder's, and each history fits together."""
    histories = words.histories(text, control)
    assert [id for h in histories for id in h.ids] == words.encode(text, control)
    for h in histories:
        check_history(words, h)
        assert 0 <= h.start <= h.stop <= len(text)
    if not control:
        assert [b for h in histories for b in h.dropped] == words.dropped(text)


def check_history(words, h):
    """Merges join what is there, the ids are what is left, tokens are what they were made of."""
    now = {n: (n + 1, symbol) for n, symbol in enumerate(h.symbols)}
    for m in h.merges:
        (middle, left), (stop, right) = now[m.start], now.pop(m.middle)
        assert (middle, stop) == (m.middle, m.stop) and (m.rank is None) != (m.score is None)
        now[m.start] = stop, left + right
        assert words.tokens[m.id] == left + right
    assert tuple(stop for stop, _ in now.values()) == h.ends
    for (_, text), id in zip(now.values(), h.ids, strict=True):
        assert words.tokens[id] == text or id == words.unknown_id or h.whole
    assert len(h.places) == len(h.symbols) and not (h.whole and h.merges)
    assert all(h.start <= a < b <= h.stop for a, b in h.places)


@pytest.mark.usefixtures("smollm")
@given(TEXTS, st.booleans())
@many(600)
def test_random_texts_of_smollm(text, control):
    check(open_model(SMOLLM).tokenizer, text, control)


@given(TEXTS, st.booleans())
@many(600)
def test_random_texts_of_nano(text, control):
    check(open_model("nano").tokenizer, text, control)


def with_byte_fallback(fuse, missing=0):
    """A vocabulary without a token for every byte, where bytes can be more than a character."""
    data = make.sentencepiece_json("never")
    data["model"] |= {"fuse_unk": fuse}
    vocabulary = data["model"]["vocab"]
    for byte in range(256 - missing, 256):
        del vocabulary[f"<0x{byte:02X}>"]
    return data


def added_and_normalized():
    """A vocabulary whose normalizer changes lengths, with added tokens before and after it."""
    data = make.sentencepiece_json("legacy")
    n = len(data["model"]["vocab"])
    for at, (text, normalized) in enumerate((("<think>", False), ("ab", True), ("\n", False))):
        flags = {"normalized": normalized, "special": False}
        data["added_tokens"].append(make.added(n + at, text, **flags))
    steps = data["normalizer"]["normalizers"]
    data["normalizer"]["normalizers"] = [{"type": "NFD"}, {"type": "Lowercase"}, *steps]
    return data


def control_token_from_text():
    """A vocabulary that would make a control token out of a text."""
    data = make.byte_level_json()
    data["model"] |= {"ignore_merges": True}
    split = {"type": "Split", "pattern": {"String": " "}, "behavior": "Isolated", "invert": False}
    return data | {"pre_tokenizer": split}


def own_space():
    """Byte-level BPE that puts a space before the text, and trims offsets afterwards."""
    data = make.byte_level_json()
    data["pre_tokenizer"]["pretokenizers"][1] |= {"add_prefix_space": True}
    return data | {"post_processor": data["pre_tokenizer"]["pretokenizers"][1]}


FOLDERS = {
    "byte-level": make.byte_level_json,
    "pieces": make.sentencepiece_json,
    "pieces always": lambda: make.sentencepiece_json("always"),
    "pieces legacy": lambda: make.sentencepiece_json("legacy"),
    "words": make.words_json,
    "unknown alone": lambda: with_byte_fallback(False, 64),
    "unknown joined": lambda: with_byte_fallback(True, 64),
    "all bytes": lambda: with_byte_fallback(True),
    "added and normalized": added_and_normalized,
    "control token from text": control_token_from_text,
    "own space": own_space,
}
FILES = {
    **{pre: lambda pre=pre: make.byte_level(pre=pre) for pre in ("gpt-2", "llama-bpe", "qwen2")},
    "dbrx": lambda: make.byte_level(pre="dbrx"),
    "scores": make.sentencepiece,
    "scores, no space": lambda: make.sentencepiece(add_space_prefix=False),
    "scores, added": lambda: make.sentencepiece(user_defined=["<think>", "  "]),
    "scores, no unknown": lambda: make.sentencepiece(unknown_token_id=None),
    "scores that tie": lambda: make.sentencepiece(ranks=[0.0] * len(make.PIECES)),
    "scores across words": lambda: make.sentencepiece(pieces=[*make.PIECES, "t▁", "at▁"]),
}


@pytest.mark.parametrize("name", [*FOLDERS, *FILES])
def test_random_texts_of_other_vocabularies(tmp_path, name):
    if name in FILES:
        words = from_gguf(FILES[name]())
    else:
        words = from_folder(make.folder(tmp_path, FOLDERS[name]()))

    @given(TEXTS, st.booleans())
    @many(200)
    def fits(text, control):
        check(words, text, control)

    fits()


def slowly(table, symbols, key=lambda rank, at: (rank, at)):
    """The definition: look at every pair, join the one that comes first, again."""
    parts, found = [(n, n + 1, symbol) for n, symbol in enumerate(symbols)], []
    while True:
        pairs = [(a, b) for a, b in zip(parts, parts[1:], strict=False) if (a[2], b[2]) in table]
        if not pairs:
            return found, [text for _, _, text in parts]
        left, right = min(pairs, key=lambda pair: key(table[pair[0][2], pair[1][2]], pair[0][0]))
        at = parts.index(left)
        found.append((left[0], right[0], right[1], table[left[2], right[2]]))
        parts[at : at + 2] = [(left[0], right[1], left[2] + right[2])]


@pytest.fixture(scope="module")
def table(smollm):
    """The rank of every pair."""
    pairs = json.loads(smollm.tokenizer.library.model.__getstate__())["merges"]
    return {tuple(pair): rank for rank, pair in enumerate(pairs)}


def test_the_order_is_that_of_the_slow_replay(smollm, table):
    @given(TEXTS)
    @many(300)
    def same(text):
        for h in smollm.tokenizer.histories(text):
            replayed = [(m.start, m.middle, m.stop, m.rank) for m in h.merges]
            assert replayed == slowly(table, h.symbols)[0]

    same()


def test_without_the_order_of_ranks_other_tokens_come_out(smollm, table):
    leftmost = slowly(table, "strawberry", key=lambda rank, at: at)[1]
    assert leftmost != ["st", "raw", "berry"] == slowly(table, "strawberry")[1]
