"""The first view of the tokens page: what it shows is what the tokenizer did, in both languages and
for hostile texts.

Knows the merges of `strawberry` in SmolLM2's file, by hand from its table.
"""

import json
import os

import pytest

import lessons
from core import open_model
from core.analyse import merging
from tests import vocabularies
from tests.families import build_folder, build_gguf
from tests.pages import reader

pytestmark = pytest.mark.usefixtures("smollm")
EACH_LANGUAGE = pytest.mark.parametrize("language", lessons.LANGUAGES)
HOSTILE = "<b>$x$ &lt;`y`\n \u202eabc\u0301 🙂 [[token]]"


def shown(app):
    """The reading, the pieces (None where each is one token) and the merges on the page."""
    assert not app.exception and not reader.notices(app, "error")
    found = reader.canvases(app)
    reading = next(meta for meta in found if "parts" in meta)
    pieces = next((meta for meta in found if "roles" in meta), None)
    return reading, pieces, next((meta for meta in found if "merges" in meta), None)


@EACH_LANGUAGE
def test_strawberry_is_merged_as_in_the_file(language):
    app = reader.open_page("tokens", lang=language, prompt="strawberry", pos=0)
    reading, pieces, merges = shown(app)
    assert reading["tokens"] == ["st", "raw", "berry"] and pieces["tokens"] == ["strawberry"]
    steps = [(merge["text"], merge["rank"]) for merge in merges["merges"]]
    names = "er st ra ry ber raw berry".split()
    assert steps == list(zip(names, "7 50 65 289 341 1,457 9,248".split(), strict=True))
    assert [(t["start"], t["stop"]) for t in merges["tokens"]] == [(0, 2), (2, 5), (5, 10)]
    assert merges["step"] == 0
    said = lessons.text(language, "tokens.merges.equal_library", n=3)
    assert said in reader.text(app) and reader.verdict(app) == "equal"


def test_ids_and_bytes_are_those_of_the_tokenizer(smollm):
    text, words = "Hi 🦙, 你好!", smollm.tokenizer
    reading, *_ = shown(reader.open_page("tokens", prompt=text))
    assert reading["ids"] == words.encode(text)
    assert [bytes.fromhex(part) for part in reading["bytes"]] == [
        words.token_bytes(id) for id in words.encode(text)
    ]
    assert b"".join(map(bytes.fromhex, reading["bytes"])) == text.encode()


def test_a_half_character_belongs_to_all_its_tokens():
    reading, *_ = shown(reader.open_page("tokens", prompt="🦙"))
    assert reading["parts"] == [{"text": "🦙", "tokens": [0, 1, 2]}]
    assert reading["tokens"] == ["⟨F0 9F⟩", "⟨A6⟩", "⟨99⟩"] and reading["ids"] == [10813, 116, 243]


def test_repeated_tokens_stay_apart():
    reading, pieces, _ = shown(reader.open_page("tokens", prompt="no no no"))
    assert reading["tokens"] == ["no", "␣no", "␣no"]
    assert pieces is None  # they would be the same row again
    assert [part["tokens"] for part in reading["parts"]] == [[0], [1], [2]]


def test_a_hostile_text_is_shown_literally():
    app = reader.open_page("tokens", prompt=HOSTILE)
    reading, *_ = shown(app)
    joined = "".join(part["text"] for part in reading["parts"])
    assert joined == "<b>$x$␣&lt;`y`⏎\n␣⟨U+202E⟩abc◌\u0301␣🙂␣[[token]]"
    assert "<b>$" not in "".join(reader.html(app))


def test_the_chosen_token_chooses_its_piece():
    _, pieces, merges = shown(reader.open_page("tokens", prompt="a strawberrying", pos=2))
    assert pieces["tokens"][pieces["selected"]] == "␣strawberrying"
    assert "".join(symbol["text"] for symbol in merges["symbols"]) == "␣strawberrying"


@pytest.mark.parametrize(
    "cell, step", [("0", 0), ("3", 3), ("7", 7), ("8", 0), ("-1", 0), ("x", 0)]
)
def test_the_step_of_a_link_counts_where_there_is_such_a_step(cell, step):
    app = reader.open_page("tokens", prompt="strawberry", cell=cell)
    assert shown(app)[2]["step"] == step
    assert app.query_params.get("cell", [None])[0] == (cell if str(step) == cell else None)


def test_a_piece_with_a_space_and_without_it_in_the_answer():
    app = reader.open_page("tokens", prompt="strawberry")
    app.session_state["reveal"] = True
    app.run()
    said = reader.text(app)
    assert "st | raw | berry" in said and "302, 1709, 9500" in said
    assert "␣strawberry" in said and "35199" in said


def test_a_long_piece_is_shown_in_part_and_says_so():
    app = reader.open_page("tokens", prompt="xqzjv" * 60, pos=0)
    merges = shown(app)[2]
    assert 50 < len(merges["symbols"]) < 300
    assert not reader.missing(
        app,
        lessons.text(
            "en",
            "tokens.merges.in_part",
            **dict.fromkeys(
                ("symbols", "n_symbols", "steps", "n_steps", "tokens", "n_tokens"), "[[x]]"
            ),
        ),
    )


def test_a_long_piece_without_a_merge_in_sight_is_not_said_to_have_none():
    app = reader.open_page("tokens", prompt="xqzjv" * 60 + "the")
    assert shown(app)[2]["merges"] == []
    assert reader.missing(app, lessons.text("en", "tokens.merges.none", piece="[[x]]"))


def test_a_control_token_is_taken_whole():
    app = reader.open_page("tokens", prompt="Hi", mode="chat", pos=0)
    reading, pieces, merges = shown(app)
    assert merges["merges"] == [] and reading["special"][0]
    assert "".join(p["text"] for p in reading["parts"]).startswith("<|im_start|>system⏎\n")
    said = lessons.text("en", "tokens.merges.whole", piece="<|im_start|>")
    assert said in reader.text(app)


@EACH_LANGUAGE
def test_nano_begins_with_characters_and_marks_what_it_does_not_know(language):
    app = reader.open_page("tokens", lang=language, model="nano", prompt="Sam 天", pos=1)
    reading, _, merges = shown(app)
    words = open_model("nano").tokenizer
    assert reading["ids"] == [words.bos_id, *words.encode("Sam 天")]
    assert reading["unknown"].count(True) == 1 and reading["special"][0]
    assert [symbol["text"] for symbol in merges["symbols"]] == [*"␣Sam"]
    assert reader.verdict(app) == "equal"


def test_the_table_says_the_same_when_it_is_opened():
    app = reader.open_page("tokens", prompt="a b")
    assert "<table" not in "".join(reader.html(app))
    app.session_state["token_table"] = True
    app.run()
    [table] = [part for part in reader.html(app) if "<table" in part]
    assert "␣b" in reader.plain(table) and "20 62" in reader.plain(table)


# ---- vocabularies of other kinds


@pytest.fixture
def visit(tmp_path, monkeypatch):
    """Opens the page for a small model with a vocabulary of SentencePiece's pieces: in a GGUF with
    scores, or in a folder that rewrites its texts.
    """
    metadata = vocabularies.sentencepiece().metadata
    n_tokens = len(metadata["tokenizer.ggml.tokens"])
    scored = build_gguf(tmp_path / "scored.gguf", "llama", metadata=metadata, vocab_size=n_tokens)
    folder = build_folder(tmp_path / "rewriting", "llama", vocab_size=n_tokens)
    rewriting = json.dumps(vocabularies.sentencepiece_json("legacy"))
    (tmp_path / "rewriting" / "tokenizer.json").write_text(rewriting)
    monkeypatch.setenv("TOKENWALK_MODELS", os.pathsep.join((scored, folder)))
    return lambda model, **link: reader.open_page("tokens", model=model, **link)


@EACH_LANGUAGE
def test_tokens_with_scores_show_the_scores(visit, language):
    app = visit("scored", lang=language, prompt="the cat é", pos=0)
    reading, pieces, merges = shown(app)
    assert reading["tokens"][:3] == ["␣the", "␣cat", "␣"]
    assert merges["merges"] and all(merge["rank"].startswith("−") for merge in merges["merges"])
    assert merges["labels"]["rank"] == lessons.text(language, "tokens.merges.score")
    assert not reader.missing(app, lessons.text(language, "tokens.merges.look_score"))
    assert not reader.missing(app, lessons.text(language, "tokens.merges.equal_own", n="[[n]]"))
    assert len(reading["parts"][-1]["tokens"]) == 2  # é is two bytes


@EACH_LANGUAGE
def test_a_text_that_is_rewritten_first_is_shown_rewritten(visit, language):
    app = visit("rewriting", lang=language, prompt="the cat")
    reading, *_ = shown(app)
    assert "".join(part["text"] for part in reading["parts"]) == "the␣cat"
    said = lessons.text(language, "tokens.merges.normalized", text="▁the▁cat")
    assert said in reader.text(app) and reader.verdict(app) == "equal"


def test_bytes_that_overtake_an_unknown_character_find_their_place(tmp_path, monkeypatch):
    """`é` has its two bytes, `x` is unknown: the library puts the bytes first."""
    data = vocabularies.words_json()
    data["model"] |= {"byte_fallback": True}
    data["model"]["vocab"] |= {"<0xC3>": 11, "<0xA9>": 12}
    folder = build_folder(tmp_path / "odd", "llama")
    (tmp_path / "odd" / "tokenizer.json").write_text(json.dumps(data))
    monkeypatch.setenv("TOKENWALK_MODELS", folder)
    app = reader.open_page("tokens", model="odd", prompt="the xé")
    reading, *_ = shown(app)
    assert reading["ids"] == [1, 10, 2, 11, 12, 0] and reading["tokens"][-1] == "<unk>"
    touched = [(part["text"], part["tokens"]) for part in reading["parts"]]
    assert touched == [("the", [1]), ("␣", [2]), ("x", [5]), ("é", [3, 4])]
    assert reader.verdict(app) == "equal" and "no token for x." in reader.text(app)


@EACH_LANGUAGE
def test_a_vocabulary_that_does_not_merge_shows_its_ids_and_says_so(language, monkeypatch):
    monkeypatch.setattr(merging, "replayable", lambda trace: False)
    app = reader.open_page("tokens", lang=language, prompt="a b")
    assert not app.exception
    assert lessons.text(language, "tokens.merges.not_replayed") in reader.notices(app)
    assert [meta["tokens"] for meta in reader.canvases(app) if "ids" in meta] == [["a", "␣b"]]
    assert reader.verdict(app) is None
