"""Nano's tokenizer: true merges, words of one token, pieces where there should be some."""

import json

import numpy as np
import pytest

from core.text.from_folder import from_folder
from tools import nano_texts
from tools import nano_tokenizer as words
from tools import nano_world as world


@pytest.fixture(scope="module")
def contents():
    return words.tokenizer_json()


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory, contents):
    folder = tmp_path_factory.mktemp("nano")
    (folder / "tokenizer.json").write_text(json.dumps(contents))
    (folder / "tokenizer_config.json").write_text(json.dumps(words.tokenizer_config()))
    return from_folder(folder, words.VOCAB)


def by_merging(word, contents):
    """The pieces of a word by the rule itself: the earliest merge in the list that fits."""
    ranks = {tuple(pair): n for n, pair in enumerate(contents["model"]["merges"])}
    pieces = [words.SPACE, *word]
    while True:
        fitting = [p for p in zip(pieces, pieces[1:], strict=False) if p in ranks]
        if not fitting:
            return pieces
        pieces = words.joined(pieces, min(fitting, key=ranks.get))


def test_pieces_are_joined_by_hand():
    assert words.joined(["a", "b", "a", "b", "a"], ("a", "b")) == ["ab", "ab", "a"]
    assert words.joined(["a", "a", "a"], ("a", "a")) == ["aa", "a"]


def test_the_vocabulary_is_special_tokens_characters_and_one_token_per_merge(contents):
    vocabulary, pairs = contents["model"]["vocab"], contents["model"]["merges"]
    assert sorted(vocabulary.values()) == list(range(words.VOCAB))
    assert [vocabulary[token] for token in words.SPECIAL] == [0, 1, 2]
    single = [token for token in vocabulary if len(token) == 1]
    assert len(single) + len(pairs) + len(words.SPECIAL) == words.VOCAB
    assert all("".join(pair) in vocabulary for pair in pairs)
    assert not contents["model"]["ignore_merges"]


def test_words_are_what_replaying_the_merges_gives(tokenizer, contents):
    for word in [*world.words(), "Tokenwalk", "cats", "sits.", "417,"]:
        pieces = by_merging(word, contents)
        known = [p if p in contents["model"]["vocab"] else words.UNKNOWN for p in pieces]
        assert [tokenizer.tokens[id] for id in tokenizer.encode(word)] == known


def test_nearly_all_words_are_one_token(tokenizer):
    cut = [word for word in world.words() if len(tokenizer.encode(word)) > 1]
    assert cut == ["Italy", "Peru", "green"]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("The cats sit.", ["▁The", "▁cat", "s", "▁sit", "."]),
        ("Ben says 417, 3.", ["▁Ben", "▁say", "s", "▁", "4", "1", "7", ",", "▁", "3", "."]),
        ("In Peru", ["▁In", "▁P", "er", "u"]),
        ("Zoe", ["▁", "<unk>", "o", "e"]),
    ],
)
def test_texts_by_hand(tokenizer, text, tokens):
    assert [tokenizer.tokens[id] for id in tokenizer.encode(text)] == tokens


def test_bos_comes_first_and_the_end_token_ends(tokenizer):
    assert (tokenizer.bos_id, tokenizer.add_bos) == (nano_texts.BOS, True)
    assert tokenizer.end_ids == {nano_texts.EOS}


def test_texts_come_back_and_ids_are_those_of_the_training(tokenizer):
    rng, library = np.random.default_rng(0), nano_texts.Texts(0).library
    for text in (world.text(rng).sentences for _ in range(100)):
        ids = tokenizer.encode(text)
        assert tokenizer.decode(ids) == text
        assert library.encode(text).ids == [nano_texts.BOS, *ids]


def test_rows_hold_whole_texts_and_nothing_behind_them():
    texts, rows = nano_texts.Texts(3), nano_texts.Texts(3).rows(20)
    drawn = {tuple(next(texts).ids) for _ in range(200)}
    for row in rows:
        used = row[row != nano_texts.NOTHING].tolist()
        assert row[: len(used)].tolist() == used and used[0] == nano_texts.BOS
        starts = [n for n, id in enumerate(used) if id == nano_texts.BOS]
        cut = zip(starts, [*starts[1:], len(used)], strict=True)
        assert all(tuple(used[a:b]) in drawn for a, b in cut)
    assert (rows != nano_texts.NOTHING).mean() > 0.8


def test_a_repeat_fills_the_context():
    texts = nano_texts.Texts(0)
    repeats = [text for text in (next(texts) for _ in range(100)) if text.repeats]
    assert repeats
    for text in repeats:
        lengths = range(world.SHORTEST, 2 * world.LONGEST)  # some words are several tokens
        assert len(text.ids) == nano_texts.CONTEXT
        assert any(text.ids[-n:] == text.ids[-2 * n : -n] for n in lengths)
        assert nano_texts.EOS not in text.ids


def test_entropy_by_hand():
    """ln 4 over the two tokens after BOS, and ln 2 over one."""
    texts = [
        nano_texts.Ids([1, 5, 2], -np.log(4), False),
        nano_texts.Ids([1, 2], -np.log(2), False),
    ]
    assert np.isclose(nano_texts.entropy(texts), np.log(2))


def test_repeated_random_tokens():
    ids = nano_texts.repeated(0, 25)
    assert ids[0] == nano_texts.BOS and ids[1:26] == ids[26:] and len(set(ids)) == 26
    assert ids == nano_texts.repeated(0, 25) != nano_texts.repeated(1, 25)
