"""Tokenizers from damaged and hostile files: a vocabulary, or one ModelFileError."""

import copy
import json
import random

import pytest

from core.errors import ModelFileError, PromptError
from core.text.tokenizer import from_folder, from_gguf
from tests import vocabularies as make

TEXT = "the cat  12 <|im_end|></s>\n🙂é"
ODD = [None, True, -1, 0, 1, 3, 299, 2**31, 2**64, 1.5, float("nan"), float("inf"), "", "a", "a b"]
ODD += [[], {}, [1], ["a"], [None], "\ud800", "x" * 2000, {"content": "the"}, {"a": 4294967295}]


def use(words):
    """What a page asks of a vocabulary; ids must be in it."""
    for control in (False, True):
        try:
            ids = words.encode(TEXT, control)
        except PromptError:
            continue
        assert all(0 <= id < len(words.tokens) for id in ids)
        words.decode(ids)
        assert all(words.display(id) for id in ids)
    assert all(0 <= id < len(words.tokens) for id in {words.bos_id or 0, *words.end_ids})
    try:
        words.pieces(TEXT)
        words.dropped(TEXT)
    except PromptError:
        pass


def damaged_value(value, rng):
    """A value of a GGUF's metadata, made wrong in one of the ways of a bad converter."""
    if not isinstance(value, list) or rng.random() < 0.2:
        return rng.choice(ODD)
    value, at = list(value), rng.randrange(len(value))
    how = rng.randrange(5)
    if how == 0:
        value[at] = rng.choice(ODD)
    elif how == 1:
        value[at] = rng.choice(value)
    elif how == 2:
        del value[at : at + rng.choice([1, 1, 100])]
    elif how == 3:
        value += [rng.choice(value)] * rng.choice([1, 100])
    else:
        rng.shuffle(value)
    return value


@pytest.mark.parametrize("build", [make.byte_level, make.sentencepiece])
def test_damaged_metadata(build):
    rng, whole, refused = random.Random(1), build().metadata, 0
    names = [name for name in whole if name.startswith("tokenizer.")]
    for _ in range(400):
        metadata = dict(whole)
        for name in rng.sample(names, rng.choice([1, 1, 2])):
            metadata[name] = damaged_value(metadata[name], rng)
        if rng.random() < 0.2:
            metadata["tokenizer.ggml.pre"] = rng.choice(["llama-bpe", "gpt-2", "qwen2"])
        try:
            use(from_gguf(make.Header(metadata)))
        except ModelFileError:
            refused += 1
    assert 50 < refused < 400


def damaged_json(value, rng):
    """The same JSON with one node replaced, left out or doubled."""
    value = copy.deepcopy(value)
    node, places = value, []
    while isinstance(node, (dict, list)) and node and (not places or rng.random() < 0.75):
        key = rng.choice([*node]) if isinstance(node, dict) else rng.randrange(len(node))
        places.append((node, key))
        node = node[key]
    parent, key = places[-1]
    how = rng.random()
    if how < 0.6:
        parent[key] = rng.choice(ODD)
    elif how < 0.8:
        del parent[key]
    elif isinstance(parent, list):
        parent.append(parent[key])
    else:
        parent[rng.choice(["a", "the", "content", "type"])] = parent[key]
    return value


JSONS = [make.byte_level_json, make.sentencepiece_json, lambda: make.sentencepiece_json("legacy")]


@pytest.mark.parametrize("build", JSONS)
def test_damaged_tokenizer_json(tmp_path, build):
    rng, whole, refused = random.Random(2), build(), 0
    whole["pre_tokenizer"] = whole["pre_tokenizer"] or {"type": "Whitespace"}
    for n in range(250):
        data = damaged_json(whole, rng)
        text = json.dumps(data)
        if n % 5 == 0:  # the bytes instead
            at = rng.randrange(len(text))
            text = text[:at] + rng.choice(['"', "}", "9", "", "\\", "e"]) + text[at + 1 :]
        folder = make.folder(tmp_path, text)
        try:
            use(from_folder(folder, n_tokens=rng.choice([None, 299, 300])))
        except ModelFileError:
            refused += 1
    assert 50 < refused < 250


SETTINGS = {
    "tokenizer_config": {
        "bos_token": {"content": "<|im_start|>"},
        "eos_token": "<|im_end|>",
        "add_bos_token": True,
        "chat_template": [{"name": "default", "template": "{{ 1 }}"}],
    },
    "special_tokens_map": {"unk_token": "<|endoftext|>", "bos_token": "<|im_start|>"},
    "generation_config": {"eos_token_id": [2, 0], "bos_token_id": 1},
    "config": {"eos_token_id": 2, "bos_token_id": 1},
    "chat_template": {"chat_template": "{{ 1 }}"},
}


@pytest.mark.parametrize("name", SETTINGS)
def test_damaged_settings(tmp_path, name):
    rng = random.Random(3)
    folder = make.folder(tmp_path, make.byte_level_json(), **SETTINGS)
    for n in range(60):
        content = damaged_json(SETTINGS[name], rng)
        make.folder(folder, **{name: content if n % 6 else rng.choice(["[1]", "{", "", "null"])})
        try:
            use(from_folder(folder))
        except ModelFileError as error:
            assert name in str(error)


def replacing(n, content):
    part = {"type": "Replace", "pattern": {"String": "a"}, "content": content}
    return {"type": "Sequence", "normalizers": [part] * n}


@pytest.mark.parametrize(
    "changed",
    [
        {"model": {"type": "BPE", "vocab": {"a": 4294967295}, "merges": []}},
        {"model": {"type": "BPE", "vocab": {"a": 2**32}, "merges": []}},
        {"model": {"type": "BPE", "vocab": {"a": -1}, "merges": []}},
        {"model": {"type": "BPE", "vocab": {}, "merges": []}, "added_tokens": []},
        {"model": {"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": ["ab"]}},
        {"model": {"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": [["a", "b"]]}},
        {"model": {"type": "BPE", "vocab": {"a": 0}, "merges": "a"}},
        {"model": {"type": "Pickle"}},
        {"model": None},
        {"added_tokens": [make.added(n, f"<{n}>") for n in range(70_000)]},
        {"added_tokens": [make.added(299, "x" * 2000)]},
        {"added_tokens": {}},
        {"normalizer": replacing(40, "aa")},
        {"normalizer": replacing(1, "a" * 5000)},
        {"normalizer": {"type": "Prepend", "prepend": "a" * 5000}},
        {"normalizer": {"type": "Precompiled", "precompiled_charsmap": "A" * 200_000}},
        {"pre_tokenizer": {"type": "Split", "pattern": {"Regex": "("}, "behavior": "Isolated"}},
        {"post_processor": make.template_processor("<s>", 5000)},
    ],
    ids=lambda changed: str(changed)[:60],
)
def test_hostile_tokenizer_json(tmp_path, changed):
    data = json.dumps(make.byte_level_json() | changed)
    with pytest.raises(ModelFileError) as caught:
        from_folder(make.folder(tmp_path, data), n_tokens=299)
    assert caught.value.code == "broken" and "tokenizer.json" in str(caught.value)


@pytest.mark.parametrize("levels", [20, 60, 150, 230, 320, 450, 5_000, 200_000])
def test_parts_in_parts_in_parts(tmp_path, levels):
    data = json.dumps(make.byte_level_json() | {"normalizer": "HERE"})
    nested = '{"type":"Sequence","normalizers":[' * levels + '{"type":"NFC"}' + "]}" * levels
    folder = make.folder(tmp_path, data.replace('"HERE"', nested))
    try:
        use(from_folder(folder))
    except ModelFileError:
        assert levels > 20


def test_a_file_too_large_for_its_vocabulary_is_not_parsed(tmp_path):
    data = json.dumps(make.byte_level_json())
    for filler in (" " * (2 << 20), "," * 40_000):
        with pytest.raises(ModelFileError) as caught:
            from_folder(make.folder(tmp_path, data + filler), n_tokens=299)
        assert "too large" in str(caught.value)


def test_a_pattern_that_would_search_for_ever(tmp_path):
    data = make.byte_level_json()
    pattern = {"Regex": r"(a+)+$"}
    split = {"type": "Split", "pattern": pattern, "behavior": "Isolated", "invert": False}
    words = from_folder(make.folder(tmp_path, data | {"pre_tokenizer": split}))
    with pytest.raises(PromptError) as caught:
        words.encode("a" * 60 + "!")
    assert caught.value.code == "unreadable"


def test_a_folder_where_a_file_should_be(tmp_path):
    (tmp_path / "tokenizer.json").mkdir()
    assert from_folder(tmp_path, n_tokens=5).rule == "none"
    (tmp_path / "chat_template.jinja").write_bytes(b"\xff" * 10)
    assert from_folder(make.folder(tmp_path / "b", make.byte_level_json())).template is None
