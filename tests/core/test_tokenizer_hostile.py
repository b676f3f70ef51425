"""Hostile tokenizer.json files, each by hand: a vocabulary, or one ModelFileError."""

import json

import pytest

from core.errors import ModelFileError, PromptError
from core.text.tokenizer import from_folder
from tests import vocabularies as make
from tests.fuzz.formats import use_words


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
        use_words(from_folder(folder))
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
