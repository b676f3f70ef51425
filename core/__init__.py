"""Tokenwalk's core: the public names, and nothing else."""

from core.decode.generate import Event, generate
from core.errors import ModelFileError, PromptError, SettingError, TraceTooLarge
from core.model.tap import Edit
from core.run import Model, RunSpec, open_model, run

__all__ = [
    "Edit",
    "Event",
    "Model",
    "ModelFileError",
    "PromptError",
    "RunSpec",
    "SettingError",
    "TraceTooLarge",
    "generate",
    "open_model",
    "run",
]
