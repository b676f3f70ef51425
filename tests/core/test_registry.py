"""The registry: names are looked up, never turned into paths; the folder can be moved."""

from pathlib import Path

import pytest

from core.errors import ModelFileError
from core.files import registry
from core.files.registry import MODELS, home, on_disk, path_of

SMOLLM2 = "smollm2-135m-instruct"


def test_home_is_the_variable_or_the_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("TOKENWALK_HOME", str(tmp_path / "here"))
    assert home() == tmp_path / "here"
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("TOKENWALK_HOME", "~/models")
    assert home() == tmp_path / "models"
    monkeypatch.setenv("TOKENWALK_HOME", "")
    assert home() == tmp_path / ".cache" / "tokenwalk"


def test_path_is_home_name_file(monkeypatch):
    monkeypatch.setenv("TOKENWALK_HOME", "/somewhere")
    expected = Path("/somewhere/smollm2-135m-instruct/SmolLM2-135M-Instruct.Q4_1.gguf")
    assert path_of(SMOLLM2) == expected


@pytest.mark.parametrize(
    "name", ["", "nope", "../" + SMOLLM2, SMOLLM2 + "/", "/etc/passwd", "a\0b"]
)
def test_any_other_text_is_an_unknown_model(name):
    for look_up in (path_of, on_disk):
        with pytest.raises(ModelFileError) as caught:
            look_up(name)
        assert caught.value.code == "unknown_model"
        assert SMOLLM2 in str(caught.value)


def test_on_disk_means_there_with_its_size(monkeypatch, tmp_path):
    monkeypatch.setenv("TOKENWALK_HOME", str(tmp_path))
    monkeypatch.setitem(MODELS, "tiny", small_entry(file_bytes=3))
    assert not on_disk("tiny")
    path_of("tiny").parent.mkdir()
    for content, there in ((b"ab", False), (b"abc", True), (b"abcd", False)):
        path_of("tiny").write_bytes(content)
        assert on_disk("tiny") is there


def test_a_folder_in_the_place_of_the_file_is_not_a_model(monkeypatch, tmp_path):
    monkeypatch.setenv("TOKENWALK_HOME", str(tmp_path))
    path_of(SMOLLM2).mkdir(parents=True)
    assert not on_disk(SMOLLM2)


def test_each_entry_is_called_what_its_key_says_and_has_whole_hashes():
    for name, entry in MODELS.items():
        assert entry.name == name
        assert Path(entry.file).name == entry.file
        for sha256 in (entry.file_sha256, entry.package_sha256):
            assert len(bytes.fromhex(sha256)) == 32


def small_entry(**changes) -> registry.Entry:
    texts = dict.fromkeys(("title", "licence", "source", "package", "package_version"), "x")
    hashes = dict.fromkeys(("file_sha256", "package_sha256"), "00" * 32)
    sizes = dict.fromkeys(("file_bytes", "package_bytes", "memory_bytes"), 1)
    return registry.Entry(
        **{"name": "tiny", "file": "tiny.gguf"} | texts | hashes | sizes | changes
    )
