"""Opening models and saying what to run: one object for all, refusals with the right code."""

import os
import shutil
import socket

import numpy as np
import pytest

from core import Edit, ModelFileError, PromptError, RunSpec, SettingError, open_model, run
from core.run import prompt_ids
from tests import families
from tests import tiny as tiny_file
from tests.conftest import SMOLLM


def code_of(action, *args, **settings):
    with pytest.raises((ModelFileError, PromptError, SettingError)) as caught:
        action(*args, **settings)
    return caught.value.code


def test_one_model_for_every_spelling_of_its_path(tiny, tmp_path, monkeypatch):
    path = tiny.source.path
    link = tmp_path / "link.gguf"
    link.symlink_to(path)
    monkeypatch.chdir(path.parent)
    opened = open_model(str(path))  # the tests of the fuzz worker empty the stores
    for name in (str(link), path.name, f"../{path.parent.name}/{path.name}"):
        assert open_model(name) is opened


def test_a_changed_file_is_another_model(tmp_path):
    path = tmp_path / "m.gguf"
    first = open_model(tiny_file.build(path))
    tiny_file.build(path, tensors=tiny_file.arrays(seed=5))
    os.utime(path, ns=(1, 1))
    again = open_model(str(path))
    assert again is not first and again.source.sha256 != first.source.sha256
    assert not np.array_equal(again.weights.embed, first.weights.embed)


def test_source(tiny):
    s = tiny.source
    assert (s.format, s.licence, s.name) == ("gguf", "mit", "Tiny")
    assert len(s.sha256) == 64


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("../../x", "no_such_file"),
        ("/etc/nothing/here", "no_such_file"),
        ("nothing.gguf", "no_such_file"),
        ("smollm", "unknown_model"),
        ("", "unknown_model"),
        ("SMOLLM2-135M-INSTRUCT", "unknown_model"),
        ("a\0b", "unknown_model"),
        ("a\0b.gguf", "no_such_file"),
        ("~nobody-at-all/m.gguf", "no_such_file"),
        ("n" * 5000, "unknown_model"),
        ("n" * 5000 + ".gguf", "no_such_file"),
        ("\ud800.gguf", "no_such_file"),
    ],
)
def test_names_that_are_no_model(name, code):
    assert code_of(open_model, name) == code


def test_unknown_names_list_the_known_ones():
    with pytest.raises(ModelFileError, match=SMOLLM):
        open_model("gpt-5")


def test_a_folder_without_config_is_no_model(tmp_path):
    assert code_of(open_model, str(tmp_path)) == "not_a_model"


def test_files_in_a_cache_of_links_open_by_their_own_names(tmp_path, tiny):
    """The Hub's cache: snapshots of links to files that are called by their hash."""
    families.build_folder(tmp_path / "built", "llama")
    blobs, snapshot = tmp_path / "blobs", tmp_path / "snapshots" / "r"
    blobs.mkdir()
    snapshot.mkdir(parents=True)
    named = {file.name: file for file in (tmp_path / "built").iterdir()}
    for n, (name, file) in enumerate([*named.items(), ("tiny.gguf", tiny.source.path)]):
        shutil.copy(file, blobs / f"{n:064x}")
        (snapshot / name).symlink_to(f"../../blobs/{n:064x}")
    for name in ("", "model.safetensors", "config.json"):
        assert open_model(str(snapshot / name)).config.architecture == "llama"
    assert open_model(str(snapshot / "tiny.gguf")).config == tiny.config


def test_a_name_that_is_not_utf8(tmp_path, tiny):
    name = os.fsdecode(os.fsencode(tmp_path) + b"/m\xff.gguf")
    shutil.copy(tiny.source.path, name)
    assert open_model(name).config == tiny.config
    with open(name, "wb") as file:
        file.write(b"no model")
    assert code_of(open_model, name) == "not_a_model"


def test_opening_never_fetches(monkeypatch, tmp_path):
    def refuse(*args, **settings):
        raise AssertionError("the network was used")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setenv("TOKENWALK_HOME", str(tmp_path))
    with pytest.raises(ModelFileError) as caught:
        open_model(SMOLLM)
    assert caught.value.code == "not_on_disk"
    assert f"python -m core fetch {SMOLLM}" in str(caught.value)


def test_a_spec_is_a_key():
    spec = RunSpec("m", prompt="x", edits=[Edit("attn.mix", 2, 1)])
    assert spec == RunSpec("m", prompt="x", edits=(Edit("attn.mix", 2, 1),))
    assert hash(spec) == hash(RunSpec("m", prompt="x", edits=[Edit("attn.mix", 2, 1)]))
    assert spec != RunSpec("m", prompt="x") and spec.edits[0].kind == "zero"
    assert RunSpec("m", ids=[1, 2]).ids == (1, 2)
    with pytest.raises(AttributeError):
        spec.seed = 1


def test_exactly_one_input():
    assert code_of(RunSpec, "m") == "one_input"
    assert code_of(RunSpec, "m", prompt="x", ids=[1]) == "one_input"
    assert code_of(RunSpec, "m", prompt="x", messages=[("user", "x")], ids=[1]) == "one_input"


@pytest.mark.parametrize("wrong", [{"prompt": 5}, {"prompt": b"x"}, {"ids": 5}, {"messages": 5}])
def test_inputs_of_another_kind(wrong):
    assert code_of(RunSpec, "m", **wrong) in ("bad_setting", "bad_message")


def test_edits_of_another_kind():
    assert code_of(RunSpec, "m", prompt="x", edits=["attn.mix"]) == "bad_setting"


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"prompt": ""}, "nothing_to_run"),
        ({"prompt": "\x04\x04"}, "nothing_to_run"),
        ({"ids": []}, "nothing_to_run"),
        ({"ids": [299]}, "bad_ids"),
        ({"ids": [-1]}, "bad_ids"),
        ({"ids": [1.0]}, "bad_ids"),
        ({"ids": [True]}, "bad_ids"),
        ({"ids": ["1"]}, "bad_ids"),
        ({"ids": [1] * 2049}, "prompt_too_long"),
        ({"prompt": "1" * 2049}, "prompt_too_long"),
    ],
)
def test_prompts_that_cannot_run(tiny_name, given, code):
    assert code_of(run, RunSpec(tiny_name, **given)) == code


def test_a_prompt_of_the_whole_context_runs(tiny_name):
    assert run(RunSpec(tiny_name, prompt="1" * 2048)).logits().shape == (299,)


def test_the_context_of_the_real_model(smollm):
    assert len(prompt_ids(smollm, RunSpec(SMOLLM, prompt="the " * 8191))) == 8192
    with pytest.raises(PromptError) as caught:
        prompt_ids(smollm, RunSpec(SMOLLM, prompt="the " * 8192))
    assert caught.value.params == {"n_tokens": 8193, "limit": 8192}


def test_bos_is_added_once_where_the_file_asks_for_it(tmp_path, tiny):
    asks = open_model(tiny_file.build(tmp_path / "b.gguf", {"tokenizer.ggml.add_bos_token": True}))
    name = str(asks.source.path)
    assert prompt_ids(asks, RunSpec(name, prompt="the")) == [1, *tiny.tokenizer.encode("the")]
    assert prompt_ids(tiny, RunSpec(name, prompt="the")) == tiny.tokenizer.encode("the")
    assert prompt_ids(asks, RunSpec(name, ids=[5])) == [5]
    chat = prompt_ids(asks, RunSpec(name, messages=[("user", "Hi")]))
    assert chat[0] == 1 and chat[1] != 1
    assert code_of(prompt_ids, asks, RunSpec(name, prompt="")) == "nothing_to_run"


def test_numpy_ids_are_plain_ids(tiny_name):
    trace = run(RunSpec(tiny_name, ids=np.array([5, 6])))
    assert trace.ids == (5, 6) and all(type(i) is int for i in trace.ids)


def test_every_error_has_a_sentence_with_its_numbers():
    with pytest.raises(PromptError) as caught:
        raise PromptError("prompt_too_long", n_tokens=9000, limit=8192)
    assert "9000" in str(caught.value) and "8192" in str(caught.value)
    assert isinstance(caught.value, ValueError)
