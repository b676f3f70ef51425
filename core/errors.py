"""What can go wrong, each with one sentence: what, where, what to do.

Knows no model, file format or page. An error carries a `code` and `params`; `str(error)` is the English
sentence for the command line, and the pages show the sentence that `lessons/<language>` keeps for the same code.
"""

SENTENCES = {
    # models and their files
    "unknown_model": "There is no model called {name!r}. Known names: {known}. A path to a .gguf file works too.",
    "not_on_disk": "The model {name!r} is not on this computer yet. Fetch it with: python -m core fetch {name}",
    "no_such_file": "There is no file at {path}. Check the path, or list what can be opened: python -m core models",
}


class TokenwalkError(Exception):
    """An error with a `code` (a key of SENTENCES) and the `params` its sentence names."""

    def __init__(self, code: str, **params):
        self.code, self.params = code, params
        super().__init__(SENTENCES[code].format(**params))


class ModelFileError(TokenwalkError, ValueError):
    """A model cannot be found, fetched or read."""


class PromptError(TokenwalkError, ValueError):
    """The text cannot be run: nothing is left of it, or it is longer than the context."""


class SettingError(TokenwalkError, ValueError):
    """A setting of a run is outside what it may be."""


class TraceTooLarge(TokenwalkError):
    """An array asked of a trace is larger than the stated bound."""
