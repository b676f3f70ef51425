"""The prompts that the pages offer, from presets.toml. Knows prompts and places in a model; no
page.
"""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path


@dataclass(frozen=True)
class Preset:
    """A prompt that shows something, and the layer and head where it shows. of: the set that it
    belongs to, which is named after the model that it was measured on.
    """

    of: str
    id: str
    prompt: str
    layer: int
    head: int

    @property
    def texts(self) -> str:
        """Where ui.toml keeps what is said of it."""
        return f"presets.{self.of}.{self.id}"


@cache
def presets(of: str = "smollm2") -> tuple[Preset, ...]:
    """All presets of a set, "smollm2" or "nano", in the order in which they are offered."""
    table = tomllib.loads((Path(__file__).parent / "presets.toml").read_text(encoding="utf-8"))
    return tuple(Preset(of=of, id=name, **values) for name, values in table[of].items())


def matching(preset: Preset, of: str) -> Preset:
    """What shows the same in another set, or the first of that set."""
    others = presets(of)
    return next((other for other in others if other.id == preset.id), others[0])
