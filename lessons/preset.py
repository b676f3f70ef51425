"""The prompts that the pages offer, from presets.toml. Knows prompts and places in a model; no
page.
"""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path


@dataclass(frozen=True)
class Preset:
    """A prompt that shows something, and the layer and head where it shows."""

    id: str
    prompt: str
    layer: int
    head: int


@cache
def presets() -> tuple[Preset, ...]:
    """All presets, in the order in which they are offered."""
    table = tomllib.loads((Path(__file__).parent / "presets.toml").read_text(encoding="utf-8"))
    return tuple(Preset(id=name, **values) for name, values in table.items())
