"""The small Hub of tests/stub_hub.py served to one test, and what lies in the folder afterwards."""

from functools import cache

import pytest
from huggingface_hub import close_session, constants

from core.errors import ModelFileError
from core.files import client, registry
from core.files.fetch import fetch
from core.files.registry import fetched, on_disk
from tests.stub_hub import Hub, Repo

NAME, WAIT = "someone/tiny", 20
WEIGHTS = bytes(range(256)) * 4000  # a megabyte
SMALL = {"config.json": b"{}", "tokenizer.json": b"[1]", "chat_template.jinja": b"{{ x }}"}
FILES = SMALL | {"model.safetensors": WEIGHTS}
USELESS = {"README.md": b"#", "pytorch_model.bin": b"\x80", "model.py": b"", "original/x.pth": b""}


@pytest.fixture
def home(monkeypatch, tmp_path):
    """An empty folder of models."""
    monkeypatch.setenv("TOKENWALK_HOME", str(tmp_path / "home"))
    return tmp_path / "home" / "hub"


@pytest.fixture
def served(monkeypatch, tmp_path, home):
    """A Hub with one model; no token, no waiting between tries."""
    monkeypatch.delenv("HF_TOKEN", raising=False)
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(tmp_path / "token"))
    monkeypatch.setattr(client, "PAUSES", (0, 0))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    fresh_client()
    with Hub().open() as served:
        monkeypatch.setenv("HF_ENDPOINT", served.url)
        served.repos[NAME] = Repo(FILES | USELESS)
        yield served


@cache
def fresh_client():
    """Once: the client keeps the proxies that were set when it was first used."""
    close_session()


def failure(name=NAME, **arguments) -> ModelFileError:
    """Why this fetch fails; it must leave nothing that passes for a model."""
    with pytest.raises(ModelFileError) as caught:
        fetch(name, **arguments)
    assert not on_disk(name) and registry.entry_of(name).name not in fetched()
    return caught.value


def content(folder):
    """What a reader of the folder sees: no hidden file, no receipt."""
    files = (p for p in folder.iterdir() if not p.name.startswith("."))
    return {path.name: path.read_bytes() for path in files if path.name != "fetched.json"}


def hidden(folder):
    """Files that no reader sees, but for the lock."""
    return [path for path in folder.rglob(".*") if path.suffix != ".lock"]


def parts(home):
    """Bytes of what has arrived of files that are not whole, by the file's stem."""
    return {path.name.split(".")[1]: path.stat().st_size for path in home.rglob("*.part")}
