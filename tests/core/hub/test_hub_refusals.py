"""What Hub, network or disk refuse, each in one sentence; and pickles are never fetched."""

import errno

import pytest
from huggingface_hub import constants

from core.files import disk, transfer
from core.files.fetch import fetch
from core.files.registry import path_of
from tests.core.hub.conftest import FILES, NAME, WEIGHTS, content, failure
from tests.stub_hub import MEMBER, STRANGER, sibling


def test_no_network(served, home, monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")  # nobody listens there
    assert failure().code == "hub_offline" and not home.exists()
    monkeypatch.setenv("HF_ENDPOINT", "nowhere")
    assert failure().code == "hub_offline"
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert "HF_HUB_OFFLINE is set" in str(failure())


@pytest.mark.parametrize("token", [None, STRANGER])
def test_a_gated_model(served, home, monkeypatch, token):
    served.repos[NAME].gated = True
    monkeypatch.setenv("HF_TOKEN", token or "")
    error = failure()
    assert error.code == "hub_gated" and f"Open {served.url}/{NAME} in a browser" in str(error)
    assert "HF_TOKEN" in str(error) and not path_of(NAME).exists()
    monkeypatch.setenv("HF_TOKEN", MEMBER)
    assert content(fetch(NAME)) == FILES


def test_a_gated_model_that_lists_no_files(served):
    served.repos[NAME].listed = {"gated": "auto", "siblings": []}
    assert failure().code == "hub_gated"


@pytest.mark.parametrize("token", ["hf_old", "hf_ü"])
def test_a_token_that_is_not_accepted(served, monkeypatch, token):
    monkeypatch.setenv("HF_TOKEN", token)
    assert failure().code == "hub_token"


@pytest.mark.parametrize("token", ["", MEMBER])
def test_a_model_that_is_not_there(served, home, monkeypatch, token):
    monkeypatch.setenv("HF_TOKEN", token)
    error = failure("someone/else")
    assert error.code == "hub_not_found" and f"{served.url}/someone/else" in str(error)
    assert not home.exists()


@pytest.mark.parametrize(
    "answer",
    [
        (500, {}, b""),
        (200, {"Content-Type": "text/html"}, b"<html>Log in to this network</html>"),
        (200, {}, b"[]"),
        (200, {}, b"{}"),
        (200, {}, b'{"id": "a/b", "sha": "../..", "siblings": []}'),
        (200, {}, b'{"id": "a/b", "siblings": [{"size": 1}]}'),
    ],
)
def test_an_answer_that_is_not_the_hubs(served, home, answer):
    served.answer = answer
    assert failure().code == "hub_failed" and not home.exists()


@pytest.mark.parametrize("path", ["../model.safetensors", "/etc/x.safetensors", "a\\b.safetensors"])
def test_a_name_that_is_a_path_is_nobodys_file(served, path):
    entries = [sibling("config.json", b"{}"), sibling("model.safetensors.index.json", b"{}")]
    served.repos[NAME].listed = {"siblings": [*entries, sibling(path, WEIGHTS)]}
    error = failure()
    assert error.code == "hub_no_model" and path not in str(error)


def test_a_size_that_is_none(served):
    entries = [sibling(path, data) for path, data in FILES.items()]
    served.repos[NAME].listed = {"siblings": [e | {"size": -1} for e in entries]}
    assert failure().code == "hub_no_model"


@pytest.mark.parametrize("lacks", ["model.safetensors", "config.json"])
def test_pickles_are_never_fetched_and_why(served, lacks):
    del served.repos[NAME].files[lacks]
    error = failure()
    assert error.code == "hub_no_model" and "can run any program" in str(error)
    assert "pytorch_model.bin (1 MB)" in str(error)
    assert not any("/resolve/" in path for _, path, _ in served.requests)


def test_too_little_space_is_known_before_anything_is_loaded(served, home, monkeypatch):
    needed = sum(map(len, FILES.values()))
    monkeypatch.setattr(disk, "free_bytes", lambda: needed - 1)
    error = failure()
    assert error.code == "fetch_disk_full" and "takes 2 MB" in str(error)
    assert not any("/resolve/" in path for _, path, _ in served.requests)
    assert not path_of(NAME).exists()
    monkeypatch.setattr(disk, "free_bytes", lambda: needed)
    assert content(fetch(NAME)) == FILES


def test_a_disk_that_fills_up(served, monkeypatch):
    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(transfer.os, "fsync", full)
    error = failure()
    assert error.code == "fetch_disk_full" and error.params["needed_mb"] == 2


def test_a_folder_that_cannot_be_written(served, home):
    home.parent.mkdir()
    home.write_text("a file stands where the folder should be")
    error = failure()
    assert error.code == "fetch_cannot_write" and str(home.parent) in str(error)
