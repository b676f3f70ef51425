"""What is refused: with the right code and a sentence of file, place and cause, in 2 s and 200 MB.

The files are made and opened in processes of their own, under an address limit of 3 GB.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from core import ModelFileError, open_model
from core.opening import identity
from tests import families, tiny, vocabularies
from tests.fuzz import changes
from tests.fuzz.measure import MEMORY, SECONDS
from tests.fuzz.refusals import CASES

ROOT = Path(__file__).parents[2]


def said_by(module, folder):
    """What a program of tests/fuzz prints, as a table."""
    line = [sys.executable, "-m", f"tests.fuzz.{module}", str(folder)]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"ended with {done.returncode}: {done.stderr[-2000:]}"
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def refusals(tmp_path_factory):
    """What came of every case, by its name."""
    return said_by("refuse", tmp_path_factory.mktemp("refused"))


@pytest.mark.parametrize("name", CASES)
def test_a_file_that_cannot_be_opened_is_refused_in_one_sentence(refusals, name):
    code, sentence, seconds, memory, path = refusals[name]
    _, wanted, words = CASES[name]
    assert code == wanted, sentence
    assert words in sentence
    place = str(Path(path).parent) if code == "missing_part" else path
    assert place in sentence or os.path.realpath(place) in sentence
    assert sentence.endswith((".", "core models")) and sentence.isprintable()
    assert len(sentence) < len(path) + 400
    assert seconds < SECONDS and memory < MEMORY


@pytest.mark.parametrize("cut", [0, 3, 4, 8, 24, 60])
def test_the_first_bytes_of_a_model(tmp_path, tiny, cut):
    path = tmp_path / "cut.gguf"
    path.write_bytes(tiny.source.path.read_bytes()[:cut])
    with pytest.raises(ModelFileError) as caught:
        open_model(str(path))
    assert caught.value.code == ("incomplete" if cut else "not_a_model")


def test_half_of_the_real_file(smollm, tmp_path):
    path = tmp_path / "half.gguf"
    with open(smollm.source.path, "rb") as file:
        path.write_bytes(file.read(49_181_216))
    start = time.process_time()
    with pytest.raises(ModelFileError) as caught:
        open_model(str(path))
    assert time.process_time() - start < SECONDS
    assert caught.value.code == "incomplete" and caught.value.params["has"] == 49_181_216
    assert caught.value.params["needs"] > 49_181_216
    assert "tensor blk." in caught.value.params["place"]


# ---- files that change while they are read -------------------------------------------------------


@pytest.fixture(scope="module")
def changed(tmp_path_factory):
    """What came of every change, by format and change."""
    return said_by("changes", tmp_path_factory.mktemp("changed"))


@pytest.mark.parametrize("kind", changes.FORMATS)
@pytest.mark.parametrize("change", ["cut", "emptied", "zeroed"])
def test_a_file_that_changes_after_its_header_was_read(changed, kind, change):
    assert changed[f"{kind} {change}"].startswith("changed: ")
    assert "was changed while it was read" in changed[f"{kind} {change}"]


@pytest.mark.parametrize("kind", changes.FORMATS)
@pytest.mark.parametrize("change", ["replaced", "removed"])
def test_an_open_file_stays_the_same_whatever_becomes_of_its_name(changed, kind, change):
    assert changed[f"{kind} {change}"] == "the same"


def test_a_model_is_not_kept_if_its_file_changed_meanwhile(tmp_path, monkeypatch):
    path = Path(families.build_gguf(tmp_path / "m.gguf", "llama"))
    sha256 = identity.sha256

    def rewritten(opened):
        changes.zeroed(path)
        return sha256(opened)

    monkeypatch.setattr(identity, "sha256", rewritten)
    with pytest.raises(ModelFileError) as caught:
        open_model(str(path))
    assert caught.value.code == "changed"


# ---- what may not be read ------------------------------------------------------------------------


@pytest.fixture
def nobody():
    """A folder that everybody may look into, and no right to read what is forbidden there."""
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o755)
        root = hasattr(os, "geteuid") and os.geteuid() == 0

        def run(call):
            try:
                os.seteuid(65_534) if root else None
                return call()
            finally:
                os.seteuid(0) if root else None

        yield Path(name), run


def forbidden(folder, name):
    """A model of which one file, or the folder, may not be read; and what is opened."""
    if name.endswith(".gguf"):
        tiny.build(folder / name)
        (folder / name).chmod(0)
        return folder / name
    path = Path(families.build_folder(folder / "m", "llama", vocab_size=len(tiny.vocabulary())))
    vocabularies.folder(path, vocabularies.byte_level_json())
    for file in path.iterdir():
        file.chmod(0o644)
    places = {"the folder": path, "its names": path}
    places.get(name, path / name).chmod(0o444 if name == "its names" else 0)
    return path


PLACES = ["m.gguf", "the folder", "its names", "config.json", "model.safetensors", "tokenizer.json"]


@pytest.mark.skipif(sys.platform == "win32", reason="no such rights there")
@pytest.mark.parametrize("name", PLACES)
def test_what_may_not_be_read_is_said(nobody, name):
    folder, run = nobody
    path = forbidden(folder, name)
    with pytest.raises(ModelFileError) as caught:
        run(lambda: open_model(str(path)))
    assert "Permission denied" in str(caught.value) and path.name in str(caught.value)
    assert caught.value.code == "cannot_read"
    (folder / "m").chmod(0o755) if (folder / "m").exists() else None


@pytest.mark.skipif(sys.platform == "win32", reason="no such rights there")
def test_a_file_in_a_folder_that_may_not_be_looked_into(nobody):
    folder, run = nobody
    (folder / "closed").mkdir()
    path = tiny.build(folder / "closed" / "m.gguf")
    (folder / "closed").chmod(0)
    with pytest.raises(ModelFileError) as caught:
        run(lambda: open_model(path))
    assert caught.value.code == "cannot_read" and path in str(caught.value)
    (folder / "closed").chmod(0o755)
