"""SentencePiece's BPE: worked examples, a slow reference, the library as another witness."""

import random

import pytest
from tokenizers import Tokenizer as Library
from tokenizers import models

from core.errors import ModelFileError
from core.text.merges import join
from core.text.sentencepiece import by_score
from core.text.tokenizer import from_gguf
from tests import vocabularies as make


def merge(text, scores):
    """The symbols that are left."""
    return [symbol for symbol, _ in join(text, by_score(scores))[0]]


def slowly(text, scores):
    """The definition, word for word: look at every neighbouring pair, join the best, again."""
    symbols = [*text]
    while True:
        pairs = [(at, a + b) for at, (a, b) in enumerate(zip(symbols, symbols[1:], strict=False))]
        pairs = [(scores[joined], -at) for at, joined in pairs if joined in scores]
        if not pairs:
            return symbols
        at = -max(pairs)[1]
        symbols[at : at + 2] = [symbols[at] + symbols[at + 1]]


def test_worked_examples():
    assert merge("abcb", {"ab": -1, "bc": -2, "abc": -3}) == ["abc", "b"]
    assert merge("abcb", {"ab": -2, "bc": -1, "abc": -3}) == ["abc", "b"]
    assert merge("abcb", {"bc": -1, "cb": -1}) == ["a", "bc", "b"]  # a tie: the left one
    assert merge("aaaaa", {"aa": -1, "aaa": -2}) == ["aa", "aaa"]
    assert merge("xyz", {"xyz": 5}) == ["x", "y", "z"]  # no pair leads to it
    assert merge("", {"ab": 1}) == [] and merge("a", {}) == ["a"]


def random_vocabulary(rng, ties):
    letters = "abc"[: rng.randrange(2, 4)]
    words = {
        "".join(rng.choices(letters, k=rng.randrange(2, 6))) for _ in range(rng.randrange(2, 25))
    }
    return {word: rng.randrange(4) if ties else rng.random() for word in sorted(words)}, letters


@pytest.mark.parametrize("ties", [False, True])
def test_equal_to_the_slow_reference(ties):
    rng = random.Random(ties)
    for _ in range(300):
        scores, letters = random_vocabulary(rng, ties)
        for _ in range(10):
            text = "".join(rng.choices(letters, k=rng.randrange(40)))
            assert merge(text, scores) == slowly(text, scores), (text, scores)


def test_equal_to_the_library_where_no_scores_tie():
    rng = random.Random(7)
    for _ in range(100):
        scores, letters = random_vocabulary(rng, ties=False)
        ids = {token: n for n, token in enumerate(sorted({*scores, *letters}))}
        cuts = [
            (-scores[word], n, word[:n], word[n:]) for word in scores for n in range(1, len(word))
        ]
        merges = [(a, b) for _, _, a, b in sorted(cuts) if a in ids and b in ids]
        library = Library(models.BPE(ids, merges))
        for _ in range(10):
            text = "".join(rng.choices(letters, k=rng.randrange(1, 40)))
            assert [ids[symbol] for symbol in merge(text, scores)] == library.encode(text).ids


def shown(words, text):
    return [words.display(id) for id in words.encode(text)]


def test_a_space_before_the_text_unless_the_file_says_no():
    words = from_gguf(make.sentencepiece())
    assert shown(words, "the cat") == ["␣the", "␣cat"]
    assert shown(words, " the") == ["␣", "␣the"] and shown(words, "  ") == ["␣␣", "␣"]
    assert words.encode("") == []
    plain = from_gguf(make.sentencepiece(add_space_prefix=False))
    assert shown(plain, "the cat") == ["t", "he", "␣cat"]
    for text in ("the cat", " the", "cat\n", "", "  ab "):
        assert words.decode(words.encode(text)) == plain.decode(plain.encode(text)) == text


def test_characters_without_a_token_become_their_bytes():
    words = from_gguf(make.sentencepiece())
    ids = words.encode("é\n🙂")
    assert [words.tokens[i] for i in ids[1:]] == [
        *("<0xC3>", "<0xA9>", "<0x0A>"),
        *("<0xF0>", "<0x9F>", "<0x99>", "<0x82>"),
    ]
    assert words.decode(ids) == "é\n🙂" and words.display(ids[3]) == "⏎"
    assert words.token_bytes(ids[4]) == b"\xf0" and words.dropped("é\n🙂") == []
    typed = words.encode("<0x0A>")  # a typed name of a byte is text
    assert words.decode(typed) == "<0x0A>" and words.tokens.index("<0x0A>") not in typed


def without_bytes(**changed):
    """The same pieces without byte tokens."""
    pieces = ["<unk>", "<s>", *make.PIECES]
    types = [make.UNKNOWN, make.CONTROL, *[make.NORMAL] * len(make.PIECES)]
    scores = [-float(n) for n in range(len(pieces))]
    values = {"tokens": pieces, "token_type": types, "scores": scores, "eos_token_id": None}
    return from_gguf(make.sentencepiece(**values | changed))


@pytest.mark.parametrize("unknown", [0, None])
@pytest.mark.parametrize("text", ["xyz the q", "é the\n🙂", "", "  ab ", "zz<unk>zz", "the cat"])
def test_ids_are_those_that_the_histories_end_in(text, unknown):
    for words in (from_gguf(make.sentencepiece()), without_bytes(unknown_token_id=unknown)):
        histories = words.histories(text)
        assert words.encode(text) == [id for history in histories for id in history.ids]
        assert words.dropped(text) == [byte for history in histories for byte in history.dropped]


def test_what_has_no_byte_either_is_unknown_and_unknown_in_a_row_is_one():
    words = without_bytes()
    assert [words.tokens[i] for i in words.encode("xyz the q")] == [
        *("▁", "<unk>", "▁the", "▁", "<unk>")
    ]
    assert words.unknown_parts("xyz the q") == ["x", "y", "z", "q"] and words.unknown_id == 0
    nothing = without_bytes(unknown_token_id=None)
    assert nothing.unknown_parts("xyz the q") == []
    assert nothing.encode("xa") == nothing.encode("") + [2, 7] and nothing.dropped("xaé") == [
        0x78,
        0xC3,
        0xA9,
    ]


def test_markers_stay_literal_or_become_ids():
    words = from_gguf(make.sentencepiece())
    text = "the</s><s> cat<unk>"
    literal = words.encode(text)
    assert not {0, 1, 2} & {*literal} and words.decode(literal) == text
    ids = words.encode(text, control=True)
    assert [words.tokens[i] for i in ids] == ["▁the", "</s>", "<s>", "▁", "▁cat", "<unk>"]


def test_user_defined_tokens_come_first_and_the_longest():
    words = from_gguf(
        make.sentencepiece(user_defined=("\n\n", "\n\n\n", "  ", "<b>"), add_space_prefix=False)
    )
    assert shown(words, "a\n\n\n\n\nb<b>  a") == ["a", "⏎⏎⏎", "⏎⏎", "b", "<b>", "␣␣", "a"]
    assert words.pieces("a\n\nb c") == [("a", 0, 1), ("\n\n", 1, 3), ("b▁c", 3, 6)]
    prefixed = from_gguf(make.sentencepiece(user_defined=("<b>",)))
    assert shown(prefixed, "a<b>a") == ["␣", "a", "<b>", "␣", "a"]


def test_words_are_cut_only_where_no_token_crosses():
    ranks = {piece: -float(n) for n, piece in enumerate(make.PIECES)} | {"▁c": 2.0, "e▁c": 1.0}
    crossing = from_gguf(make.sentencepiece([*ranks], ranks=[*ranks.values()]))
    assert shown(crossing, "the cat") == ["␣t", "h", "e␣c", "at"]


def test_bos_comes_first_unless_the_file_says_no():
    assert from_gguf(make.sentencepiece()).add_bos
    assert not from_gguf(make.sentencepiece(add_bos_token=False)).add_bos
    assert from_gguf(make.sentencepiece()).end_ids == {2}


def test_phi3_markers_take_the_white_space_after_them():
    header = make.sentencepiece()
    plain = from_gguf(header)
    header.metadata["general.architecture"] = "phi3"
    phi = from_gguf(header)
    text = "</s>\n the<s> the"
    assert phi.encode(text, control=True) == [
        2,
        *plain.encode("the"),
        1,
        *plain.encode(" the"),
    ]


@pytest.mark.parametrize(
    "changed",
    [
        {"scores": [0.0, 1.0]},
        {"scores": ["x"] * 274},
        {"scores": [float("nan")] * 274},
        {"scores": [float("inf")] * 274},
        {"scores": None},
        {"add_space_prefix": 1},
        {"token_type": [1] * 3},
        {"tokens": ["a"] * 274},
        {"tokens": []},
        {"unknown_token_id": 274},
        {"unknown_token_id": -1},
        {"model": "t5"},
        {"model": "bert"},
    ],
)
def test_metadata_that_contradict_each_other(changed):
    assert len(make.sentencepiece().metadata["tokenizer.ggml.tokens"]) == 274
    with pytest.raises(ModelFileError) as caught:
        from_gguf(make.sentencepiece(**changed))
    assert caught.value.code in ("broken", "unsupported")
