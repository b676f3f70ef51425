"""The registry: names are looked up, or match what the Hub allows; the folder can be moved."""

from pathlib import Path

import pytest

from core import open_model
from core.errors import ModelFileError
from core.files import receipt, registry
from core.files.fetch import fetch
from core.files.registry import MODELS, NANO, OnHub, Packaged, find, home, on_disk, path_of

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
    assert all(entry.name == name for name, entry in MODELS.items())
    for entry in (e for e in MODELS.values() if isinstance(e, Packaged)):
        assert Path(entry.file).name == entry.file
        for sha256 in (entry.file_sha256, entry.package_sha256):
            assert len(bytes.fromhex(sha256)) == 32


def test_the_default_is_first_and_as_it_was():
    first = next(iter(MODELS.values()))
    assert first is MODELS[SMOLLM2] is registry.DEFAULT
    assert first.memory_bytes == 538_060_032 and first.file_sha256.startswith("b179c952")


# What each config.json says: vocabulary, width, layers, query heads, KV heads, head size, neurons;
# then weights besides these: biases and norms of a layer, and whether there is a head of its own.
SIZES = {
    "smollm2-135m": (49_152, 576, 30, 9, 3, 64, 1_536, 2 * 576, False),
    "smollm2-360m-instruct": (49_152, 960, 32, 15, 5, 64, 2_560, 2 * 960, False),
    "qwen2.5-0.5b-instruct": (151_936, 896, 24, 14, 2, 64, 4_864, 2 * 896 + 896 + 2 * 128, False),
    "qwen3-0.6b": (151_936, 1_024, 28, 16, 8, 128, 3_072, 2 * 1_024 + 2 * 128, False),
    "tinyllama-1.1b-chat-v1.0": (32_000, 2_048, 22, 32, 4, 64, 5_632, 2 * 2_048, True),
    "llama-3.2-1b-instruct": (128_256, 2_048, 16, 32, 8, 64, 8_192, 2 * 2_048, False),
    "gemma-3-270m-it": (262_144, 640, 18, 4, 1, 256, 2_048, 4 * 640 + 2 * 256, False),
}


@pytest.mark.parametrize("name", SIZES)
def test_parameters_follow_from_the_sizes(name):
    vocab, d, layers, heads, kv_heads, hd, neurons, small, own_head = SIZES[name]
    layer = 2 * d * heads * hd + 2 * d * kv_heads * hd + 3 * d * neurons + small
    n = (1 + own_head) * vocab * d + layers * layer + d  # d: the last norm
    assert MODELS[name].n_parameters == n and MODELS[name].memory_bytes == 4 * n


def test_the_parameters_of_gpt2_follow_from_its_sizes():
    d, layer = 768, 12 * 768**2 + 9 * 768 + 4 * 768  # matrices; their biases; two norms
    assert MODELS["gpt2"].n_parameters == (50_257 + 1_024) * d + 12 * layer + 2 * d


def test_the_hubs_models_are_all_listed():
    listed = {entry.source for entry in MODELS.values() if isinstance(entry, OnHub)}
    gated = {entry.name for entry in MODELS.values() if getattr(entry, "gated", False)}
    assert len(listed) == len(MODELS) - 2 and MODELS.keys() == {SMOLLM2, "nano", "gpt2", *SIZES}
    assert gated == {"llama-3.2-1b-instruct", "gemma-3-270m-it"}
    assert all(registry.HUB_NAME.fullmatch(source) for source in listed)


# --- Nano, which comes with the program


@pytest.fixture
def project(monkeypatch, tmp_path):
    """Nano's folder in a project of our own, whole."""
    monkeypatch.setattr(registry, "PROJECT", tmp_path)
    NANO.folder.mkdir(parents=True)
    for name in NANO.files:
        (NANO.folder / name).write_bytes(b"{}")
    return tmp_path


def test_nano_lies_in_the_project_wherever_the_program_was_started(monkeypatch, tmp_path):
    monkeypatch.setenv("TOKENWALK_HOME", str(tmp_path / "empty"))
    monkeypatch.chdir(tmp_path)
    folder = Path(__file__).parents[2] / "models" / "nano"
    assert path_of("nano") == find("nano") == folder and on_disk("nano")


def test_nano_has_as_many_weights_as_the_registry_says():
    assert open_model("nano").weights.nbytes == 4 * NANO.n_parameters == NANO.memory_bytes


def test_nano_is_never_fetched_and_is_there_whole_or_not_at_all(project):
    assert fetch("nano") == NANO.folder
    for name in NANO.files:
        (NANO.folder / name).rename(project / name)
        assert not on_disk("nano")
        for look_up in (find, fetch):
            with pytest.raises(ModelFileError) as caught:
                look_up("nano")
            assert caught.value.code == "not_shipped"
            assert "git checkout models/nano" in str(caught.value)
        (project / name).rename(NANO.folder / name)
    assert find("nano") == NANO.folder


# --- names of the Hub


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("owner/name", "owner--name"),
        ("Owner_1/n.a-m_e", "Owner_1--n.a-m_e"),
        ("a/b/c.gguf", "a--b--c.gguf/c.gguf"),
        ("a/b/d/c.gguf", "a--b--d--c.gguf/c.gguf"),
        ("a/b/c-00002-of-00003.gguf", "a--b--c-00001-of-00003.gguf/c-00001-of-00003.gguf"),
        ("Qwen/Qwen3-0.6B", "Qwen--Qwen3-0.6B"),
        ("qwen3-0.6b", "Qwen--Qwen3-0.6B"),
    ],
)
def test_the_place_of_a_hubs_model(monkeypatch, tmp_path, name, place):
    monkeypatch.setenv("TOKENWALK_HOME", str(tmp_path))
    assert path_of(name) == tmp_path / "hub" / place
    assert not on_disk(name)


@pytest.mark.parametrize(
    "name",
    ["a/..", "../a", "a/b..c", "a--b/c", "a/b--c", "-a/b", "a/.b", "a/b.", "a/b-", "a/b/", "/a/b"]
    + ["a//b", "a/b/c", "a/b/../c.gguf", "a/b/..gguf", "a/b/c/.gguf", "a/b\n", "a\\b", "a/b c"]
    + ["ü/b", "a/" + "b" * 97, "a/b.gguf", "a/b.safetensors", "a/config.json", "a/b/c.gguf/d"],
)
def test_what_is_no_name_of_the_hub(name):
    with pytest.raises(ModelFileError) as caught:
        path_of(name)
    assert caught.value.code == "unknown_model"


# --- what a name stands for


def found(name):
    try:
        return find(name)
    except ModelFileError as error:
        return error.code


@pytest.fixture
def place(monkeypatch, tmp_path):
    """A computer on which nothing was fetched, in an empty folder."""
    monkeypatch.setenv("TOKENWALK_HOME", str(tmp_path / "home"))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "here"


def test_names_and_paths(place):
    (place / "m.gguf").write_bytes(b"GGUF")
    (place / "gpt2").mkdir()
    (place / "gpt2" / "config.json").write_bytes(b"{}")
    assert found("m.gguf") == found(str(place / "m.gguf")) == place / "m.gguf"
    assert found("./gpt2") == found("gpt2/") == place / "gpt2"
    assert found("gpt2") == "not_on_disk"  # a listed name is that model, whatever lies around
    assert found("nobody/nothing") == "not_fetched" and found("") == "unknown_model"
    assert found("nothing.gguf") == found("a/b.gguf") == "no_such_file"


def test_a_folder_of_a_model_hides_one_of_the_hub_and_another_folder_does_not(place):
    entry = registry.entry_of("a/b")
    folder = registry.folder_of(entry)
    folder.mkdir(parents=True)
    (folder / "config.json").write_bytes(b"{}")
    file = receipt.HubFile("config.json", 2, "")
    receipt.write(folder, receipt.Receipt("a/b", "c", None, None, (file,)))
    (place / "a" / "b").mkdir(parents=True)
    assert found("a/b") == folder
    (place / "a" / "b" / "config.json").write_bytes(b"{}")
    assert found("a/b") == place / "a" / "b"


def test_a_folder_without_a_model_is_for_its_reader_to_refuse(place):
    (place / "a" / "b").mkdir(parents=True)
    assert found("a/b") == place / "a" / "b"


def small_entry(**changes) -> registry.Packaged:
    texts = dict.fromkeys(("title", "licence", "source", "package", "package_version"), "x")
    hashes = dict.fromkeys(("file_sha256", "package_sha256"), "00" * 32)
    sizes = dict.fromkeys(("file_bytes", "package_bytes", "n_parameters"), 1)
    return registry.Packaged(
        **{"name": "tiny", "file": "tiny.gguf"} | texts | hashes | sizes | changes
    )
