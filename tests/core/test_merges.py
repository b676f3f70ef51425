"""Merges replayed: worked examples, what cannot be replayed, and how long it takes.

Random texts are in test_replay.
"""

import json
import time

import pytest

from core import open_model
from core.errors import PromptError
from core.text.merges import join
from core.text.tokenizer import from_folder, from_gguf
from tests import tiny as tiny_file
from tests import vocabularies as make


def shown(words, history):
    """The merges of a history as (visible form, rank)."""
    return [(words.display(m.id), m.rank) for m in history.merges]


def test_the_best_pair_first_and_the_leftmost_of_equals():
    ranks = {"ab": 0, "bc": 1, "abc": 2, "cc": 2}

    def look(a, b):
        return (ranks[a + b], a + b) if a + b in ranks else None

    left, joins = join("abcb", look)
    assert left == [("abc", 3), ("b", 4)]
    assert [tuple(j) for j in joins] == [(0, 0, 1, 2, "ab"), (2, 0, 2, 3, "abc")]
    left, joins = join("cccabccc", look)  # abc and cc tie
    assert [j[1:] for j in joins] == [
        (3, 4, 5, "ab"),
        (0, 1, 2, "cc"),
        (3, 5, 6, "abc"),
        (6, 7, 8, "cc"),
    ]
    assert join("", look) == ([], []) and join("a", look) == ([("a", 1)], [])


def test_a_vocabulary_worked_by_hand():
    words = from_gguf(make.byte_level())  # "t h" is merge 0, "th e" 1, "Ġ t" 3
    [the, cat] = words.histories("the cat")
    assert the.symbols == ("t", "h", "e") and shown(words, the) == [("th", 0), ("the", 1)]
    assert [(m.start, m.middle, m.stop) for m in the.merges] == [(0, 1, 2), (0, 2, 3)]
    assert (the.start, the.stop, the.ends, the.whole) == (0, 3, (3,), False)
    assert cat.symbols == ("Ġ", "c", "a", "t") and (cat.start, cat.stop) == (3, 7)
    at = [tiny_file.MERGES.index(merge) for merge in ("Ġ c", "a t", "Ġc at")]
    assert [rank for _, rank in shown(words, cat)] == at and at == sorted(at)


def test_strawberry(smollm):
    words = smollm.tokenizer
    [alone] = words.histories("strawberry")
    assert shown(words, alone) == [
        *(("er", 7), ("st", 50), ("ra", 65), ("ry", 289), ("ber", 341)),
        *(("raw", 1457), ("berry", 9248)),
    ]
    assert [words.display(id) for id in alone.ids] == ["st", "raw", "berry"]
    assert alone.ends == (2, 5, 10) and alone.spans == [(0, 2), (2, 5), (5, 10)]
    [spaced] = words.histories(" strawberry")
    assert spaced.ids == (35199,) and shown(words, spaced)[-2:] == [
        *(("␣straw", 11111), ("␣strawberry", 34947))
    ]


def test_a_part_of_a_history(smollm):
    [whole] = smollm.tokenizer.histories("strawberry")
    part = whole.tokens(1, 3)
    assert (part.symbols, part.ids, part.ends) == (tuple("rawberry"), whole.ids[1:], (3, 8))
    assert (part.start, part.stop, part.places[0]) == (2, 10, (2, 3))
    assert [(m.start, m.middle, m.stop, m.rank) for m in part.merges] == [
        *((4, 5, 6, 7), (0, 1, 2, 65), (6, 7, 8, 289), (3, 4, 6, 341), (0, 2, 3, 1457)),
        (3, 6, 8, 9248),
    ]
    moved = part.moved(10)
    assert (moved.start, moved.stop, moved.spans) == (12, 20, [(12, 15), (15, 20)])
    assert moved.merges == part.merges


def test_ranks_are_the_lines_of_the_file(smollm):
    table = json.loads(smollm.tokenizer.library.model.__getstate__())["merges"]
    assert len({*map(tuple, table)}) == len(table) == 48_900
    assert table[7] == ["e", "r"] and table[9248] == ["ber", "ry"]


def test_bytes_of_a_character(smollm):
    words = smollm.tokenizer
    [llama] = words.histories("🦙")
    assert llama.ids == (10813, 116, 243) and llama.ends == (2, 3, 4)
    assert b"".join(map(words.spell, llama.symbols)) == "🦙".encode()
    assert llama.places == ((0, 1),) * 4 and llama.spans == [(0, 1)] * 3


def test_dropped_bytes_vanish_before_merging(smollm, tiny):
    words = smollm.tokenizer
    assert [(h.ids, h.dropped) for h in words.histories("a\x04b")] == [
        *(((81,), ()), ((), (4,)), ((82,), ()))
    ]
    # U+40104 is F1 80 84 84 as bytes, and F1 has no token
    [broken] = tiny.tokenizer.histories("\U00040104")
    assert broken.dropped == (0xF1,) and len(broken.symbols) == len(broken.ids) == 3


def test_neighbours_of_a_dropped_character_are_joined(tmp_path):
    data = make.byte_level_json() | {"pre_tokenizer": None}  # nothing is cut
    words = from_folder(make.folder(tmp_path, data))
    [history] = words.histories("t!h\u4e00e")
    assert history.dropped == tuple("\u4e00".encode())
    assert [words.display(id) for id in history.ids] == ["t", "!", "he"]
    assert history.spans == [(0, 1), (1, 2), (2, 5)]


def test_what_is_taken_whole(smollm, tmp_path):
    marker, rest = smollm.tokenizer.histories("<|im_end|>a", control=True)
    assert (marker.ids, marker.whole, marker.start, marker.stop) == ((2,), True, 0, 10)
    assert (rest.ids, rest.whole, rest.start, rest.stop) == ((81,), False, 10, 11)
    literal = smollm.tokenizer.histories("<|im_end|>")
    assert not any(h.whole for h in literal) and len(literal) == 5
    data = make.byte_level_json()
    data["added_tokens"].append(make.added(299, "<think>", special=False))
    before, think, after = from_folder(make.folder(tmp_path, data)).histories("a<think>b")
    assert (think.ids, think.symbols, think.whole) == ((299,), ("<think>",), True)
    assert (before.start, think.start, think.stop, after.stop) == (0, 1, 8, 9)


def test_a_piece_that_is_a_token_is_not_merged_where_the_rule_says_so():
    for rule, whole in (("llama-bpe", True), ("dbrx", False)):
        [the] = from_gguf(make.byte_level(pre=rule, merges=["h e", "t h"])).histories("the")
        assert (the.whole, len(the.ids)) == (whole, 1 if whole else 2)


def test_a_space_before_the_first_word():
    words = open_model("nano").tokenizer
    first, second = words.histories("the cat")
    assert first.symbols[0] == second.symbols[0] == "▁"
    assert first.places[:2] == ((0, 1), (0, 1)) and second.places[:2] == ((3, 4), (4, 5))


def test_scores_instead_of_ranks():
    words = from_gguf(make.sentencepiece())
    the, cat = words.histories("the cat")
    assert the.symbols == ("▁", "t", "h", "e") and [m.rank for m in the.merges] == [None] * 3
    assert [(words.tokens[m.id], m.score) for m in the.merges] == [
        *(("▁t", -7.0), ("he", -8.0), ("▁the", -9.0))
    ]
    assert (the.start, the.stop, cat.start, cat.stop) == (0, 3, 3, 7)
    [spelled] = words.histories("éa")
    assert spelled.symbols == ("▁", "<0xC3>", "<0xA9>", "a") and spelled.merges == ()
    assert spelled.places == ((0, 1), (0, 1), (0, 1), (1, 2))
    [later] = words.histories("éat")  # the merge counts the bytes among the symbols
    assert [(m.start, m.middle, m.stop) for m in later.merges] == [(3, 4, 5)]


def test_unknown_characters_in_a_row():
    words = from_gguf(make.sentencepiece())
    tokens = [*words.tokens[:3], *make.PIECES]
    types = [make.UNKNOWN, make.CONTROL, make.CONTROL, *[make.NORMAL] * len(make.PIECES)]
    scores = [-float(n) for n in range(len(tokens))]
    words = from_gguf(make.sentencepiece(tokens=tokens, token_type=types, scores=scores))
    [history] = words.histories("xyét")
    assert history.symbols == ("▁", "xyé", "t") and history.ids[1] == 0
    assert history.places == ((0, 1), (0, 3), (3, 4)) and words.unknown_parts("xyét") == [*"xyé"]


@pytest.mark.parametrize("changed", [{"continuing_subword_prefix": "##"}, {"type": "WordLevel"}])
def test_other_kinds_say_that_they_cannot_be_replayed(tmp_path, changed):
    data = make.words_json()
    data["model"] |= changed
    if "type" in changed:
        data["model"] = {k: data["model"][k] for k in ("type", "vocab", "unk_token")}
    else:
        data["model"]["merges"] = []
    words = from_folder(make.folder(tmp_path, data))
    assert not words.replayable
    with pytest.raises(ValueError):
        words.histories("the")
    assert len(words.spans("the cat")) == len(words.encode("the cat"))


def test_an_error_leaves_nothing_behind(tmp_path):
    data = make.words_json()
    data["model"] |= {"unk_token": "<none>"}  # which the vocabulary does not have
    words = from_folder(make.folder(tmp_path, data))
    for call in (words.encode, words.histories):
        with pytest.raises(PromptError):
            call("the ?")
    assert [id for h in words.histories("the the") for id in h.ids] == words.encode("the the")


def test_two_tokens_of_one_id_cannot_be_replayed(tmp_path):
    data = make.byte_level_json()
    data["model"]["vocab"]["the"] = data["model"]["vocab"]["st"]
    words = from_folder(make.folder(tmp_path, data))
    assert not words.replayable and words.dropped("the\x04") == [4]
    assert words.spans("the st") == [(0, 3), (3, 4), (4, 6)]


def test_without_a_tokenizer_it_is_the_error_of_encoding(tmp_path):
    words = from_folder(make.folder(tmp_path, config={"vocab_size": 96}))
    assert not words.replayable
    for call in (words.histories, words.spans):
        with pytest.raises(PromptError):
            call("the")


@pytest.mark.parametrize("unit", ["a", "qxzj", "今"])
def test_a_long_piece_takes_n_log_n_steps(smollm, unit):
    def seconds(n):
        times = []
        for _ in range(3):
            start = time.process_time()
            smollm.tokenizer.histories(unit * (n // len(unit)))
            times.append(time.process_time() - start)
        return min(times)

    seconds(200)  # the merge table is read
    assert seconds(20_000) < 40 * seconds(2_000)  # n² would be 100 times
