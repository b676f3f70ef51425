"""The settings of a model file under one set of names, read with their kind and bounds checked.

Knows keys, kinds and bounds; no family and no format. null counts as absent.
"""

from core.errors import ModelFileError

LARGEST = 1 << 24  # no size in a model of ours is near this; a larger one is damage
LARGEST_NUMBER = 1e30
REQUIRED = object()


class Settings:
    """values: by our names. spelling: {our name: the file's key}, for what errors say."""

    def __init__(self, path, values: dict, spelling: dict[str, str] | None = None):
        self.path, self.values, self.spelling = str(path), values, spelling or {}

    def fail(self, key: str, reason: str) -> ModelFileError:
        """The error for a setting that cannot be."""
        place = f"key {self.spelling.get(key, key)}"
        return ModelFileError("broken", path=self.path, place=place, reason=reason)

    def unsupported(self, reason: str, supported: str) -> ModelFileError:
        """The error for a setting that asks for another computation than ours."""
        return ModelFileError("unsupported", path=self.path, reason=reason, supported=supported)

    def has(self, key: str) -> bool:
        """Whether the file says anything for it."""
        return self.values.get(key) is not None

    def get(self, key: str, kind, default=REQUIRED):
        """A value of one of these kinds (True is no whole number)."""
        value = self.values.get(key)
        if value is None:
            if default is REQUIRED:
                raise self.fail(key, "the file does not have it")
            return default
        if not _is(value, kind):
            raise self.fail(key, f"it holds a {type(value).__name__}")
        return value

    def size(self, key: str, default=REQUIRED, least: int = 1) -> int:
        """A whole number from `least` to LARGEST."""
        value = self.get(key, int, default)
        if value is not default and not least <= value <= LARGEST:
            raise self.fail(key, f"{str(value)[:40]} cannot be a size")
        return value

    def number(self, key: str, default=REQUIRED) -> float:
        """A finite number above 0."""
        value = self.get(key, (int, float), default)
        return value if value is default else self._positive(key, value)

    def _positive(self, key, value):
        if not 0 < value <= LARGEST_NUMBER:
            raise self.fail(key, f"{str(value)[:40]} is not a number above 0 of a usual size")
        return float(value)

    def flag(self, key: str, default=REQUIRED) -> bool:
        """True or false."""
        return self.get(key, bool, default)

    def text(self, key: str, default=REQUIRED) -> str:
        """A text."""
        return self.get(key, str, default)

    def items(self, key: str, kind, n: int) -> tuple | None:
        """A list of n values of these kinds, or None."""
        values = self.get(key, list, None)
        if values is None:
            return None
        if len(values) != n or not all(_is(value, kind) for value in values):
            raise self.fail(key, f"it is not a list of {n} values of the right kind")
        return tuple(values)

    def numbers(self, key: str, n: int) -> tuple[float, ...]:
        """A list of n finite numbers above 0."""
        values = self.items(key, (int, float), n)
        if values is None:
            raise self.fail(key, "the file does not have it")
        return tuple(self._positive(key, value) for value in values)

    def inside(self, key: str) -> "Settings":
        """The settings of a table that stands under a key; none where it is absent."""
        table = self.get(key, dict, {})
        return Settings(self.path, table, {name: f"{key}.{name}" for name in table})


def _is(value, kind):
    kinds = kind if isinstance(kind, tuple) else (kind,)
    return isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool))
