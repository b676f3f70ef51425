"""The model that ships with the program, from the command line: every command takes its name, on a
computer with nothing else and without network.
"""

import socket

import pytest

from core.__main__ import main
from core.files.registry import NANO


@pytest.fixture
def command(capsys, monkeypatch, tmp_path):
    """Run one command with an empty cache; returns (exit code, standard output, errors)."""

    def refuse(*_):
        raise AssertionError("something asked for the network")

    monkeypatch.setenv("TOKENWALK_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.chdir(tmp_path)

    def call(*args):
        code = main([*map(str, args)])
        return code, *capsys.readouterr()

    return call


def test_it_is_listed_as_here(command):
    code, out, _ = command("models")
    [row] = [line for line in out.splitlines() if line.startswith("nano ")]
    assert code == 0 and "MIT" in row and " yes " in row and "models/nano" in row


def test_a_fetch_says_where_it_is_and_brings_nothing(command, tmp_path):
    assert command("fetch", "nano") == (0, f"{NANO.folder}\n", "")
    assert not list(tmp_path.iterdir())


def test_it_continues_a_text_of_its_world(command):
    args = ("generate", "--model", "nano", "--prompt", "The capital of France is")
    code, out, err = command(*args, "--max-new-tokens", 2)
    assert (code, out, err) == (0, " Paris.\n", "")


def test_it_has_no_chat_template_and_says_so(command):
    code, out, err = command("generate", "--model", "nano", "--prompt", "Hi", "--chat")
    assert code == 2 and not out and "chat template" in err and err.count("\n") == 1


def test_a_trace_of_it_compares_equal_by_its_name(command, tmp_path):
    path = tmp_path / "t.safetensors"
    args = ("--model", "nano", "--prompt", "The cat naps.", "--out", path)
    assert command("trace", *args)[0] == 0
    code, out, _ = command("compare", path)  # the name stands in the file
    assert code == 0 and out


def test_it_can_be_looked_into(command):
    code, out, _ = command("inspect", "nano")
    assert code == 0 and "model.layers.0.self_attn.q_proj.weight" in out
