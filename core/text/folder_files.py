"""The small files beside a tokenizer.json, read within bounds.

Knows their names, how large they may be and which of their keys speak of special tokens, ends and
the chat template; no vocabulary.
"""

import functools
import json
import os
from dataclasses import dataclass
from pathlib import Path

from core.errors import ModelFileError

from .spelling import whole

LARGEST = 8 << 20  # bytes; Gemma 3's tokenizer_config.json has 1 MB
NAMES = ("bos_token", "eos_token", "unk_token", "pad_token")


@dataclass(frozen=True)
class Files:
    """A folder with a model; every error names the file."""

    folder: Path

    def broken(self, name: str, reason: str) -> ModelFileError:
        """The error for a file that is not what it should be."""
        path = str(self.folder / name)
        return ModelFileError("broken", path=path, place="the tokenizer", reason=reason)

    def has(self, name: str) -> bool:
        """Whether there is such a file."""
        return (self.folder / name).is_file()

    def bytes(self, name: str, largest: int = LARGEST) -> bytes | None:
        """A file's contents, None where there is none."""
        if not self.has(name):
            return None
        try:
            with open(self.folder / name, "rb") as file:
                # no more than it has: some files of a system have no end
                data = file.read(min(os.fstat(file.fileno()).st_size, largest + 1))
        except OSError as error:
            path, reason = str(self.folder / name), error.strerror or str(error)
            raise ModelFileError("cannot_read", path=path, reason=reason) from None
        if len(data) > largest:
            raise self.broken(name, f"it is larger than {largest} bytes")
        return data

    def _json(self, name):
        """A file's JSON object, empty where there is no such file."""
        data = self.bytes(name)
        if data is None:
            return {}
        try:
            value = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise self.broken(name, f"it is no JSON ({error})") from None
        if not isinstance(value, dict):
            raise self.broken(name, "it holds no JSON object")
        return value

    @functools.cached_property
    def _settings(self):
        return self._json("tokenizer_config.json")

    @functools.cached_property
    def _configs(self):
        names = ("generation_config.json", "config.json")
        return {name: self._json(name) for name in names}

    @functools.cached_property
    def names(self) -> dict[str, str]:
        """The texts of the tokens that tokenizer_config.json or special_tokens_map.json name."""
        older = self._json("special_tokens_map.json")
        names = self._names("special_tokens_map.json", older)
        return names | self._names("tokenizer_config.json", self._settings)

    def _names(self, name, settings):
        names = {}
        for key in NAMES:
            value = settings.get(key)
            value = value.get("content") if isinstance(value, dict) else value
            if value is not None and not isinstance(value, str):
                raise self.broken(name, f"{key} is {value!r}"[:100])
            if value:
                names[key] = whole(value)
        return names

    def ids(self, key: str) -> list[int]:
        """The ids that generation_config.json, or else config.json, gives for a key."""
        for name, config in self._configs.items():
            value = config.get(key)
            values = value if isinstance(value, list) else [value]
            if values != [None]:
                if not all(type(id) is int and id >= 0 for id in values):
                    raise self.broken(name, f"{key} is {value!r}"[:100])
                return values
        return []

    @property
    def adds_bos(self) -> bool:
        """Whether tokenizer_config.json asks for BOS before a text."""
        return self._settings.get("add_bos_token") is True

    def template(self) -> str | None:
        """The chat template: a file of its own, a text in the settings, or "default" of several."""
        own = self.bytes("chat_template.jinja")
        if own is not None:
            return own.decode("utf-8", "replace")
        older = ("chat_template.json", self._json("chat_template.json"))
        for name, settings in (("tokenizer_config.json", self._settings), older):
            value = settings.get("chat_template")
            if isinstance(value, list):
                value = self._default(name, value)
            if value is not None and not isinstance(value, str):
                raise self.broken(name, "its chat template is no text")
            if value is not None:
                return value
        return None

    def _default(self, name, templates):
        try:
            by_name = {template["name"]: template["template"] for template in templates}
        except (TypeError, KeyError):
            raise self.broken(name, "its chat templates have no names") from None
        return by_name.get("default", next(iter(by_name.values()), None))
