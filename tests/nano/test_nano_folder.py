"""How models/nano is written: which moments are kept, and that a stop leaves the old folder."""

import json
from dataclasses import dataclass

import numpy as np
import pytest
from safetensors.numpy import load_file

from tools import nano_folder


@dataclass(frozen=True)
class Moment:
    """As tools/train_nano.py keeps them, with weights that say which it is."""

    step: int
    induction: float
    loss: float = 1.0

    @property
    def weights(self):
        return {"w": np.full((2, 2), self.step, np.float32)}


def moments(*scores):
    return [Moment(100 * n, score) for n, score in enumerate(scores)]


def test_moments_by_hand():
    """Random, half way there, the last without the head, nearest the middle, the first with it."""
    kept = moments(0.03, 0.05, 0.1, 0.25, 0.1, 0.3, 0.45, 0.7, 0.85, 0.8, 0.9)
    assert [moment.step for moment in nano_folder.chosen(kept)] == [0, 200, 400, 600, 800, 1000]


def test_without_an_induction_head_there_is_nothing_to_choose():
    with pytest.raises(SystemExit):
        nano_folder.chosen(moments(0.1, 0.2, 0.3))


@pytest.fixture
def folder(tmp_path):
    old = tmp_path / "models" / "nano"
    old.mkdir(parents=True)
    (old / "README.md").write_text("kept")
    (old / "step-99999.safetensors").write_text("of another training")
    return old


def test_a_folder_takes_the_place_of_the_old_one(folder):
    kept = moments(0.03, 0.05, 0.1, 0.5, 0.9, 0.9)
    nano_folder.write(folder, {"model_type": "llama"}, kept, {"seed": 7})
    said = json.loads((folder / "checkpoints.json").read_text())
    assert [row["step"] for row in said["steps"]] == [0, 100, 200, 300, 400, 500]
    assert said["seed"] == 7 and said["entropy"] > 0
    arrays = [load_file(folder / row["file"])["w"] for row in said["steps"]]
    assert [array[0, 0] for array in arrays] == [0, 100, 200, 300, 400, 500]
    assert [array.dtype.name for array in arrays] == ["float16"] * 5 + ["float32"]
    assert (folder / "README.md").read_text() == "kept"
    assert not (folder / "step-99999.safetensors").exists()
    assert [path.name for path in folder.parent.iterdir()] == ["nano"]


def test_a_stop_while_writing_leaves_the_old_folder(folder, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(nano_folder, "save_file", stop)
    with pytest.raises(KeyboardInterrupt):
        nano_folder.write(folder, {}, moments(0.0, 0.1, 0.5, 0.9, 0.9), {})
    assert sorted(file.name for file in folder.iterdir()) == ["README.md", "step-99999.safetensors"]
    assert [path.name for path in folder.parent.iterdir()] == ["nano"]
