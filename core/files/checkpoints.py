"""The checkpoints of a model: the same model at earlier moments of its training, beside it.

Knows `checkpoints.json` in a model's folder and what must be so in it; opens no weights.
"""

from dataclasses import dataclass
from pathlib import Path

from core.errors import ModelFileError
from core.files.folder import PLAIN_NAME, read_json

NAME, LARGEST, MOST, MOST_NAT = "checkpoints.json", 1 << 16, 24, 1e6


@dataclass(frozen=True)
class Checkpoint:
    """One moment. step: how many steps of training came before it. path: what `open_model` takes.
    loss: on texts kept out of the training, in nat per token, as the file says.
    """

    step: int
    path: str
    loss: float


@dataclass(frozen=True)
class Training:
    """Moments of one training, the first first. entropy: the loss of who knows how the texts are
    made, in nat per token: the floor.
    """

    checkpoints: tuple[Checkpoint, ...]
    entropy: float


def beside(path: Path) -> Training | None:
    """The training of the model in a folder, or in a file of it; None where no file tells of it.

    Raises ModelFileError: damaged, or a checkpoint missing.
    """
    folder = path if path.is_dir() else path.parent
    if not (folder / NAME).is_file():
        return None
    table = read_json(folder / NAME, LARGEST)
    rows = table.get("steps")
    if not isinstance(rows, list) or not 2 <= len(rows) <= MOST:
        raise _broken(folder, f"it needs a list of 2 to {MOST} steps")
    checkpoints = tuple(_checkpoint(folder, row) for row in rows)
    steps = [checkpoint.step for checkpoint in checkpoints]
    if steps != sorted(set(steps)):
        raise _broken(folder, "the steps do not follow each other")
    return Training(checkpoints, _number(folder, table, "entropy"))


def _checkpoint(folder, row):
    """One entry of the list. No path from it is followed: its file lies in the folder itself."""
    if not isinstance(row, dict):
        raise _broken(folder, "a step is no table")
    step, name = row.get("step"), row.get("file")
    if not isinstance(step, int) or isinstance(step, bool) or not 0 <= step < 1 << 40:
        raise _broken(folder, f"{str(step)[:40]!r} is no number of steps")
    if not isinstance(name, str) or not PLAIN_NAME.fullmatch(name):
        raise _broken(folder, f"{str(name)[:80]!r} is not the plain name of a .safetensors file")
    if not (folder / name).is_file():
        raise ModelFileError("missing_part", path=str(folder), part=name)
    return Checkpoint(step, str(folder / name), _number(folder, row, "loss"))


def _number(folder, table, name):
    """A number of nat: finite, not negative. (Compared first: a huge integer is no float.)"""
    value = table.get(name)
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not number or not 0 <= value <= MOST_NAT:
        raise _broken(folder, f"its {name} is {str(value)[:40]!r}")
    return float(value)


def _broken(folder, reason):
    return ModelFileError("broken", path=str(folder / NAME), place="its steps", reason=reason)
