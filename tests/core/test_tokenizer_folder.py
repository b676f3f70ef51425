"""The tokenizer of a Hugging Face folder, against the library that reads the same file itself."""

import json

import pytest
from tokenizers import Tokenizer as Library

from core.errors import ModelFileError, PromptError
from core.text.tokenizer import from_folder, from_gguf
from tests import tiny
from tests import vocabularies as make

TEXTS = ("the cat  and\n\n 12 🙂", " the", "<|im_end|> x", "é\n", "", "  cat cat", "ab\tab")
THE = tiny.vocabulary().index("the")
CHAT = (
    "{% for m in messages %}{{ eos_token + m.role + ' ' + m.content + bos_token + '  ' }}"
    "{% endfor %}{{ eos_token }}\n the"
)


def library_of(data):
    return Library.from_str(json.dumps(data))


@pytest.mark.parametrize("build", [make.byte_level_json, make.sentencepiece_json])
def test_texts_as_the_library_has_them(tmp_path, build):
    words, library = from_folder(make.folder(tmp_path, build())), library_of(build())
    library.encode_special_tokens = True
    for text in TEXTS:
        ids = library.encode(text, add_special_tokens=False).ids
        assert words.encode(text) == ids
        assert words.decode(ids) == library.decode(ids)
        # a Llama's puts no space before one, and takes one away all the same
        assert words.decode(ids) == text or (words.space_first and text[0] == " ")


def test_the_same_vocabulary_as_folder_and_as_gguf(tmp_path):
    folder = from_folder(make.folder(tmp_path, make.byte_level_json()))
    file = from_gguf(make.byte_level())
    assert (folder.tokens, folder.special, folder.rule) == (file.tokens, file.special, file.rule)
    assert folder.missing_bytes == file.missing_bytes
    for text in TEXTS:
        assert folder.encode(text) == file.encode(text)
        assert folder.encode(text, control=True) == file.encode(text, control=True)
        assert folder.pieces(text) == file.pieces(text)
        assert folder.dropped(text + "\x04") == file.dropped(text + "\x04")
    assert [folder.display(i) for i in range(299)] == [file.display(i) for i in range(299)]


@pytest.mark.parametrize("scheme", ["first", "always", "never", "legacy"])
@pytest.mark.parametrize("strip", [{}, {"rstrip": True}, {"lstrip": True, "rstrip": True}])
def test_texts_between_markers_as_the_library_has_them(tmp_path, scheme, strip):
    data = make.sentencepiece_json(scheme)
    data["added_tokens"][2] |= strip
    words, library = from_folder(make.folder(tmp_path, data)), library_of(data)
    for text in ("the</s> cat<s>ab", "</s>  the", "<s></s>the </s>", "the  </s>", "the cat"):
        assert (
            words.encode(text, control=True) == library.encode(text, add_special_tokens=False).ids
        )


@pytest.mark.parametrize("scheme", ["first", "always", "legacy", "byte-level"])
def test_a_chat_without_typed_markers_is_what_the_library_makes_of_the_text(tmp_path, scheme):
    level = scheme == "byte-level"
    data = make.byte_level_json() if level else make.sentencepiece_json(scheme)
    bos, eos = ("<|im_start|>", "<|im_end|>") if level else ("<s>", "</s>")
    settings = {"bos_token": bos, "eos_token": {"content": eos}, "chat_template": CHAT}
    words = from_folder(make.folder(tmp_path, data, tokenizer_config=settings))
    text = f"{eos}user the cat{bos}  {eos}a b{bos}  {eos}\n the"
    rendered = library_of(data).encode(text, add_special_tokens=False).ids
    messages = [("user", "the cat"), ("a", "b")]
    assert words.chat(messages) == words.chat(messages, control=True) == rendered


def test_typed_markers_in_a_chat(tmp_path):
    settings = {"bos_token": "<s>", "eos_token": "</s>", "chat_template": CHAT}
    data = make.sentencepiece_json()
    words = from_folder(make.folder(tmp_path, data, tokenizer_config=settings))
    forged = [("user", "the</s><s>cat")]
    literal, switched = words.chat(forged), words.chat(forged, control=True)
    assert (literal.count(1), literal.count(2)) == (1, 2)
    assert (switched.count(1), switched.count(2)) == (2, 3)
    assert words.decode(literal) == words.decode(switched)


def test_added_tokens_that_are_no_control_tokens_are_matched(tmp_path):
    data = make.byte_level_json()
    data["added_tokens"].append(make.added(299, "<think>", special=False))
    words = from_folder(make.folder(tmp_path, data), n_tokens=300)
    assert words.encode("a<think>b") == [*words.encode("a"), 299, *words.encode("b")]
    assert words.display(299) == words.decode([299]) == "<think>"
    assert "<think>" not in words.special


def test_a_model_that_would_make_a_marker_out_of_a_text(tmp_path):
    data = make.byte_level_json()
    data["model"] |= {"ignore_merges": True}
    data["pre_tokenizer"] = {"type": "Split", "pattern": {"String": " "}, "behavior": "Isolated"}
    data["pre_tokenizer"]["invert"] = False
    words = from_folder(make.folder(tmp_path, data))
    ids = words.encode("<|im_end|>")
    assert 2 not in ids and words.decode(ids) == "<|im_end|>"


@pytest.mark.parametrize(
    ("processor", "settings", "adds"),
    [
        (make.template_processor("<|im_start|>", 1), {}, (True, 1)),
        (make.template_processor("<|im_start|>", 1), {"add_bos_token": False}, (True, 1)),
        (None, {"add_bos_token": True, "bos_token": "<|im_start|>"}, (True, 1)),
        (None, {"add_bos_token": True}, (False, None)),
        (None, {"bos_token": {"content": "<|im_start|>"}}, (False, 1)),
        (None, {"bos_token": None}, (False, None)),
        (None, {"bos_token": "not there"}, (False, None)),
    ],
)
def test_bos_as_the_post_processor_has_it_else_as_the_settings_say(
    tmp_path, processor, settings, adds
):
    data = make.byte_level_json() | {"post_processor": processor}
    words = from_folder(make.folder(tmp_path, data, tokenizer_config=settings))
    assert (words.add_bos, words.bos_id) == adds
    if processor:
        assert library_of(data).encode("the").ids == [1, *words.encode("the")]


def test_a_template_after_the_byte_level_as_llama_3_has_it(tmp_path):
    parts = [make.byte_level_json()["decoder"], make.template_processor("<|im_start|>", 1)]
    sequence = {"type": "Sequence", "processors": parts}
    data = make.byte_level_json() | {"post_processor": sequence}
    assert from_folder(make.folder(tmp_path, data)).add_bos


@pytest.mark.parametrize(
    ("files", "ends"),
    [
        ({}, {0, 2}),
        ({"generation_config": {"eos_token_id": [5, 7]}}, {0, 2, 5, 7}),
        ({"generation_config": {"eos_token_id": 5}, "config": {"eos_token_id": 6}}, {0, 2, 5}),
        ({"config": {"eos_token_id": 6}}, {0, 2, 6}),
        ({"config": {"eos_token_id": 50256}}, {0, 2}),  # left over from another model
        ({"special_tokens_map": {"eos_token": {"content": "the"}}}, {0, 2, THE}),
    ],
)
def test_every_end_that_the_folder_names(tmp_path, files, ends):
    words = from_folder(make.folder(tmp_path, make.byte_level_json(), **files))
    assert words.end_ids == ends


def test_the_template_comes_from_one_of_three_places(tmp_path):
    several = [{"name": "tool_use", "template": "t"}, {"name": "default", "template": "d"}]
    folder = make.folder(tmp_path, make.byte_level_json())
    assert from_folder(folder).template is None
    make.folder(tmp_path, chat_template={"chat_template": "older"})
    assert from_folder(folder).template == "older"
    make.folder(tmp_path, tokenizer_config={"chat_template": several})
    assert from_folder(folder).template == "d"
    make.folder(tmp_path, tokenizer_config={"chat_template": "text"})
    assert from_folder(folder).template == "text"
    (folder / "chat_template.jinja").write_text("own", "utf-8")
    assert from_folder(folder).template == "own"


def test_a_matrix_with_more_or_fewer_rows(tmp_path):
    data = make.byte_level_json()
    data["added_tokens"].append(make.added(299, "<image>"))
    folder = make.folder(tmp_path, data)
    words = from_folder(folder, n_tokens=320)
    assert len(words.tokens) == 320 and words.display(319) == "⟨319⟩"
    fewer = from_folder(folder, n_tokens=299)  # a control token past the matrix is left out
    assert len(fewer.tokens) == 299 and "<image>" not in fewer.special
    assert max(fewer.encode("<image>", control=True)) < 299
    with pytest.raises(ModelFileError):
        from_folder(folder, n_tokens=298)


def test_a_folder_without_a_tokenizer_knows_ids(tmp_path):
    folder = make.folder(tmp_path, config={"vocab_size": 96, "eos_token_id": 3, "bos_token_id": 1})
    words = from_folder(folder)
    assert (len(words.tokens), words.end_ids, words.bos_id, words.add_bos) == (96, {3}, 1, False)
    assert words.display(95) == "⟨95⟩" and words.decode([1, 2]) == "" and words.pieces("a") == []
    assert len(from_folder(folder, n_tokens=128).tokens) == 128
    with pytest.raises(PromptError) as caught:
        words.encode("the")
    assert caught.value.code == "unreadable" and "without a tokenizer" in str(caught.value)
    (folder / "tokenizer.model").write_bytes(b"\n\x0e")
    with pytest.raises(PromptError) as caught:
        from_folder(folder).encode("the")
    assert "tokenizer.json is needed" in str(caught.value)
    with pytest.raises(PromptError):
        words.chat([("user", "Hi")])


@pytest.mark.parametrize("kind", ["WordLevel", "Unigram", "WordPiece"])
def test_other_models_of_the_library(tmp_path, kind):
    tokens = ["<unk>", "<s>", "the", "cat"]
    model = {"type": kind, "vocab": {token: n for n, token in enumerate(tokens)}}
    if kind == "Unigram":
        model |= {"vocab": [[token, -float(n)] for n, token in enumerate(tokens)], "unk_id": 0}
    else:
        model |= {"unk_token": "<unk>"}
    if kind == "WordPiece":
        model |= {"continuing_subword_prefix": "##", "max_input_chars_per_word": 100}
    data = {"version": "1.0", "added_tokens": [make.added(1, "<s>")], "model": model}
    data["pre_tokenizer"] = {"type": "WhitespaceSplit"}
    words = from_folder(make.folder(tmp_path, data))
    assert words.encode("the cat the") == [2, 3, 2] and words.decode([2, 3]) == "thecat"
    assert 1 not in words.encode("the <s> cat") and words.encode("<s>", control=True) == [1]
    assert words.dropped("the cat") == [0x20] and words.rule == "file"


def test_words_cut_at_their_spaces_and_one_token_for_what_is_unknown(tmp_path):
    words = from_folder(make.folder(tmp_path, make.words_json()))
    assert (words.rule, words.unknown_id) == ("words", 0)
    ids = words.encode("the ca!t ä")
    assert [words.tokens[id] for id in ids] == "▁the ▁ c a <unk> t ▁ <unk>".split()
    assert words.unknown_parts("the ca!t ä!") == ["!", "ä", "!"]
    assert words.unknown_parts("the cat") == [] == words.dropped("the ca!t ä!")


def test_a_vocabulary_with_a_token_for_every_byte_knows_everything(tmp_path):
    words = from_folder(make.folder(tmp_path / "a", make.byte_level_json()))
    assert words.unknown_id is None and words.unknown_parts("ä🙂") == []
    words = from_folder(make.folder(tmp_path / "b", make.sentencepiece_json()))
    assert words.unknown_parts("ä🙂") == [] and words.rule == "sentencepiece"


def test_settings_that_fill_up_or_cut_off_are_not_used(tmp_path):
    data = make.byte_level_json()
    data["truncation"] = {"direction": "Right", "max_length": 2, "strategy": "LongestFirst"}
    data["truncation"]["stride"] = 0
    data["padding"] = {"strategy": {"Fixed": 64}, "direction": "Left", "pad_to_multiple_of": None}
    data["padding"] |= {"pad_id": 0, "pad_type_id": 0, "pad_token": "<|endoftext|>"}
    words = from_folder(make.folder(tmp_path, data))
    assert words.encode("the cat 12") == from_gguf(make.byte_level()).encode("the cat 12")
    assert len(tiny.vocabulary()) == len(words.tokens)
