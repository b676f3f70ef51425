"""checkpoints.json beside a model: what is read from it, and what is refused."""

import json
from pathlib import Path

import pytest

from core import ModelFileError
from core.files import checkpoints

STEPS = [
    {"step": 0, "file": "step-0.safetensors", "loss": 4.5},
    {"step": 70, "file": "model.safetensors", "loss": 1.25},
]


@pytest.fixture
def folder(tmp_path):
    """Writes a folder whose checkpoints.json says this; the files in it are empty."""

    def write(table):
        text = table if isinstance(table, str) else json.dumps(table)
        (tmp_path / checkpoints.NAME).write_text(text)
        for name in ("step-0.safetensors", "model.safetensors"):
            (tmp_path / name).touch()
        return tmp_path

    return write


def test_a_training_is_read_as_it_was_written(folder):
    path = folder({"steps": STEPS, "entropy": 1.125, "seed": 3})
    found = checkpoints.beside(path)
    assert found.entropy == 1.125
    assert [(c.step, Path(c.path).name, c.loss) for c in found.checkpoints] == [
        (0, "step-0.safetensors", 4.5),
        (70, "model.safetensors", 1.25),
    ]
    assert all(Path(c.path).parent == path for c in found.checkpoints)
    assert checkpoints.beside(path / "step-0.safetensors") == found  # a file of the folder


def test_a_folder_that_tells_of_no_training_has_none(tmp_path):
    assert checkpoints.beside(tmp_path) is None


def changed(at, **values):
    return [row | values if n == at else row for n, row in enumerate(STEPS)]


@pytest.mark.parametrize(
    "steps",
    [
        None,
        {},
        STEPS[:1],
        STEPS * 13,
        STEPS[::-1],
        changed(0, step=70),
        [1, 2],
        changed(0, step=-1),
        changed(0, step=0.0),
        changed(0, step=True),
        changed(1, step=10**30),
        changed(0, file="../step-0.safetensors"),
        changed(0, file="/etc/passwd"),
        changed(0, file="model.bin"),
        changed(0, file=7),
        changed(0, loss="low"),
        changed(0, loss=-1),
        changed(0, loss=float("nan")),
        changed(0, loss=float("inf")),
        changed(0, loss=10**400),
        changed(0, loss=None),
        changed(0, loss=True),
    ],
    ids=lambda steps: str(steps)[:60],
)
def test_what_cannot_be_is_refused_and_named(folder, steps):
    with pytest.raises(ModelFileError) as caught:
        checkpoints.beside(folder({"steps": steps, "entropy": 1.0}))
    assert caught.value.code == "broken" and checkpoints.NAME in str(caught.value)


@pytest.mark.parametrize("entropy", [None, -0.1, "1", float("inf"), [], False])
def test_the_floor_is_a_number(folder, entropy):
    with pytest.raises(ModelFileError) as caught:
        checkpoints.beside(folder({"steps": STEPS, "entropy": entropy}))
    assert caught.value.code == "broken" and "entropy" in str(caught.value)


@pytest.mark.parametrize("text", ["", "[]", "{", '{"steps": [', "\x80", "[" * 100_000])
def test_a_file_that_is_no_table_is_refused(folder, text):
    with pytest.raises(ModelFileError):
        checkpoints.beside(folder(text))


def test_a_huge_file_is_refused_before_it_is_read(folder):
    with pytest.raises(ModelFileError, match="more than"):
        checkpoints.beside(folder('{"steps": "' + "x" * checkpoints.LARGEST + '"}'))


def test_a_missing_checkpoint_is_named(folder):
    path = folder({"steps": changed(0, file="step-1.safetensors"), "entropy": 1.0})
    with pytest.raises(ModelFileError, match="step-1.safetensors is missing"):
        checkpoints.beside(path)
