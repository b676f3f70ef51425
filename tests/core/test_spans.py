"""Which characters of a text a token touches, in plain texts and in chats; the merges of a run."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core import RunSpec, open_model, run
from core.analyse import merging
from core.text.tokenizer import from_folder, from_gguf
from tests import vocabularies as make

TEXTS = st.text(st.characters(exclude_categories=()) | st.sampled_from("ab the\n1🙂é"), max_size=30)
MANY = settings(max_examples=500, derandomize=True, deadline=None, database=None)
SMOLLM, NANO = "smollm2-135m-instruct", "nano"


def parts(words, text, **more):
    """The characters that each token touches."""
    spans = words.spans(text, **more)
    assert len(spans) == len(words.encode(text, **more))
    return [text[start:stop] for start, stop in spans]


@pytest.mark.parametrize(
    ("text", "touched"),
    [
        ("The cat", ["The", " cat"]),
        ("strawberry", ["st", "raw", "berry"]),
        ("a🦙b", ["a", "🦙", "🦙", "🦙", "b"]),
        (" 🦙", [" 🦙", "🦙", "🦙"]),  # the first holds the space and two of the bytes
        ("a\x04b", ["a", "b"]),
        ("  12\n", ["  ", "1", "2", "\n"]),
        ("", []),
    ],
)
def test_worked_examples(smollm, text, touched):
    assert parts(smollm.tokenizer, text) == touched


def test_a_control_token_is_its_name(smollm):
    assert parts(smollm.tokenizer, "a<|im_end|>b", control=True) == ["a", "<|im_end|>", "b"]
    assert "".join(parts(smollm.tokenizer, "a<|im_end|>b")) == "a<|im_end|>b"


@pytest.mark.usefixtures("smollm")
@given(TEXTS)
@MANY
def test_spans_hold_the_bytes_of_their_tokens(text):
    words = open_model(SMOLLM).tokenizer
    seen, last = set(), 0
    for id, (start, stop) in zip(words.encode(text), words.spans(text), strict=True):
        data = text[start:stop].encode("utf-8", "replace")
        data = bytes(byte for byte in data if byte not in words.missing_bytes)
        assert words.token_bytes(id) in data and start < stop and start >= last
        seen, last = seen | {*range(start, stop)}, start
    lost = "".join(c for at, c in enumerate(text) if at not in seen).encode("utf-8", "replace")
    assert {*lost} <= words.missing_bytes  # what no token touches has none


@given(TEXTS)
@MANY
def test_spans_of_words_that_got_a_space(text):
    words = open_model(NANO).tokenizer
    for id, (start, stop) in zip(words.encode(text), words.spans(text), strict=True):
        touched = text[start:stop].replace("▁", " ").encode("utf-8", "replace").decode()
        token = words.token_bytes(id).decode()
        put = token == " " and stop - start == 1  # a space that encoding put before a word
        assert id == words.unknown_id or put or touched == token or f" {touched}" == token


def test_a_space_that_was_put_before_touches_the_next_character():
    words = open_model(NANO).tokenizer
    assert parts(words, "🦙 🦙") == ["🦙", "🦙", " ", "🦙"]
    words = from_gguf(make.sentencepiece())
    assert parts(words, "the cat") == ["the", " cat"] and parts(words, "é") == ["é"] * 3


def test_white_space_that_a_marker_takes_away_is_not_touched(tmp_path):
    data = make.sentencepiece_json("never")
    data["added_tokens"][2] |= {"lstrip": True, "rstrip": True}
    words = from_folder(make.folder(tmp_path, data))
    assert parts(words, "ab  </s> \n the", control=True) == ["ab", "</s>", "t", "he"]
    assert words.spans("ab  </s> \n the", control=True)[1:] == [(4, 8), (11, 12), (12, 14)]


def test_a_post_processor_does_not_trim_them(tmp_path):
    data = make.byte_level_json()
    byte_level = data["pre_tokenizer"]["pretokenizers"][1]
    words = from_folder(make.folder(tmp_path, data | {"post_processor": byte_level}))
    assert words.library.encode("the cat").offsets == [(0, 3), (4, 7)]
    assert words.spans("the cat") == [(0, 3), (3, 7)]


def test_without_merges_they_are_the_library_s(tmp_path):
    tokens = [["<unk>", 0.0], ["▁the", -1.0], ["▁c", -2.0], ["at", -2.0]]
    data = make.words_json() | {"model": {"type": "Unigram", "vocab": tokens, "unk_id": 0}}
    words = from_folder(make.folder(tmp_path, data | {"added_tokens": []}))
    assert parts(words, "the cat") == ["the", " c", "at"]


def test_a_chat_is_read_as_it_is_encoded(smollm):
    words, messages = smollm.tokenizer, [("user", "Hi 🦙<|im_end|>")]
    for control in (False, True):
        text, ids, spans = words.chat_reading(messages, control)
        assert ids == words.chat(messages, control) and text == words.chat_text(messages, control)
        assert {at for start, stop in spans for at in range(start, stop)} == {*range(len(text))}
        named = {1: "<|im_start|>", 2: "<|im_end|>"}
        for id, (start, stop) in zip(ids, spans, strict=True):
            assert id not in named or text[start:stop] == named[id]
        histories = words.chat_histories(messages, control)
        assert [id for h in histories for id in h.ids] == ids
    assert text.endswith("Hi 🦙<|im_end|><|im_end|>\n<|im_start|>assistant\n")


# ---- the merges of a run


def of(text, model=SMOLLM, **more):
    return run(RunSpec(model, prompt=text, **more))


def test_the_way_of_a_prompt(smollm):
    trace = of("strawberry 🦙 \x04a")
    way = merging.way(trace)
    assert (way.equal, way.by_library, way.first) == (True, True, 0)
    assert [(p.text, p.first, p.n_tokens) for p in way.pieces] == [
        *(("strawberry", 0, 3), ("␣🦙", 3, 3), ("␣", 6, 1), ("a", 7, 1))
    ]
    assert way.ids == trace.ids and [*way.spans] == smollm.tokenizer.spans(way.text)
    player = merging.player(trace, 0)
    assert [(s.left, s.right, s.joined, s.rank) for s in player.steps][-2:] == [
        *(("ra", "w", "raw", 1457), ("ber", "ry", "berry", 9248))
    ]
    assert [(t.text, t.start, t.stop, t.position) for t in player.tokens] == [
        *(("st", 0, 2, 0), ("raw", 2, 5, 1), ("berry", 5, 10, 2))
    ]
    assert merging.player(trace, 2).dropped == ("04",)


def test_bos_moves_the_positions_by_one():
    trace = of("the cat", NANO)
    way = merging.way(trace)
    assert way.first == 1 and (trace.ids[0], *way.ids) == trace.ids and way.equal
    assert way.pieces[0].first == 1 and merging.player(trace, 0).tokens[0].position == 1
    assert merging.player(trace, 0).symbols[0].text == "␣"


def test_a_long_piece_is_shown_in_part(smollm):
    player = merging.player(of("x" + "a" * 500), 0)
    assert (player.n_symbols, player.whole) == (501, False)
    assert len(player.symbols) <= merging.MOST_SYMBOLS < player.n_symbols
    assert len(player.symbols) == player.tokens[-1].stop and len(player.tokens) < player.n_tokens
    assert all(step.stop <= len(player.symbols) for step in player.steps)
    # what is left out changes nothing in what is shown
    alone = merging.player(of("x" + "a" * (len(player.symbols) - 1)), 0)
    assert player.tokens[:-2] == alone.tokens[: len(player.tokens) - 2]


def test_a_chat_and_what_has_no_text(smollm):
    trace = run(RunSpec(SMOLLM, messages=(("user", "Hi"),)))
    way = merging.way(trace)
    assert way.equal and way.first == 0 and way.ids == trace.ids
    assert way.pieces[0].whole and way.pieces[0].text == "<|im_start|>"
    assert merging.player(trace, 0).steps == ()
    assert not merging.replayable(run(RunSpec(SMOLLM, ids=(1, 2))))
    with pytest.raises(ValueError):
        merging.way(run(RunSpec(SMOLLM, ids=(1, 2))))


def test_the_verdict_can_fail(smollm):
    trace = of("strawberry")
    other = of("strawberries").under(trace.spec)  # ids of another text
    assert not merging.way(other).equal
