"""What a repository of the Hub holds, and which of its files make up a model.

Knows the names that models' files have there. Every name, size and hash comes from a server: only
plain ones are used. Does not load a file.
"""

import re
from dataclasses import dataclass

from core.errors import ModelFileError
from core.files import client
from core.files.receipt import HubFile, count_of, licence_of
from core.files.registry import PART, STEP, OnHub

CONFIG, WEIGHTS, INDEX = "config.json", "model.safetensors", "model.safetensors.index.json"
SMALL = ("generation_config.json", "tokenizer.json", "tokenizer_config.json")
SMALL += ("special_tokens_map.json", "chat_template.jinja", "chat_template.json")
PIECE = re.compile(rf"{STEP}-\d{{5}}-of-\d{{5}}\.safetensors")
PATH = re.compile(rf"(?:{STEP}/){{0,4}}{STEP}")
COMMIT, GIT, SHA256 = (re.compile(rf"[0-9a-f]{{{n}}}") for n in (40, 40, 64))
MOST_NAMED = 8  # in a sentence


@dataclass(frozen=True)
class Listing:
    """The commit of a repository, and the files of it that are wanted."""

    commit: str
    licence: str | None
    n_parameters: int | None
    files: tuple[HubFile, ...]


def look_up(entry: OnHub) -> Listing:
    """Ask the Hub.

    Raises ModelFileError: hub_gated, hub_no_model, hub_gguf, hub_no_file, hub_failed; and
    client.ERRORS.
    """
    info = _info(entry)
    if not isinstance(info.sha, str) or not COMMIT.fullmatch(info.sha):
        raise _not_the_hub(entry)
    there = dict(_files(info.siblings or ()))
    if info.gated and not there:
        raise client.sentence("hub_gated", entry)
    files = _gguf(entry, there) if entry.file else _folder(entry, there)
    return Listing(info.sha, _licence(info), _n_parameters(info, entry), files)


def _info(entry):
    try:
        return client.model_info(entry)
    except client.ERRORS:
        raise
    except (ValueError, TypeError, KeyError, AttributeError):
        raise _not_the_hub(entry) from None


def _not_the_hub(entry) -> ModelFileError:
    reason = "its answer is not one of the Hub (does this network ask for a login first?)"
    return client.sentence("hub_failed", entry, reason=reason)


def _files(siblings):
    """Path and HubFile of each file with a plain name and a size."""
    for sibling in siblings:
        path, nbytes = sibling.rfilename, count_of(sibling.size)
        if isinstance(path, str) and PATH.fullmatch(path) and nbytes is not None:
            yield path, HubFile(path, nbytes, _digest(sibling))


def _digest(sibling) -> str:
    sha256, git = sibling.lfs and sibling.lfs.sha256, sibling.blob_id
    if isinstance(sha256, str) and SHA256.fullmatch(sha256):
        return f"sha256:{sha256}"
    plain = not sibling.lfs and isinstance(git, str) and GIT.fullmatch(git)
    return f"git:{git}" if plain else ""


def _folder(entry, there):
    """config.json, what goes with it, and one set of weights in safetensors."""
    pieces = [path for path in there if PIECE.fullmatch(path)] if INDEX in there else []
    weights = [WEIGHTS] if WEIGHTS in there else [INDEX, *pieces] if pieces else []
    if CONFIG in there and weights:
        small = [path for path in SMALL if path in there]
        return tuple(there[path] for path in (CONFIG, *small, *weights))
    if ggufs := _ggufs(there):
        example = min(ggufs, key=lambda path: there[path].nbytes)
        raise client.sentence("hub_gguf", entry, example=example, found=_named(ggufs, there))
    raise client.sentence("hub_no_model", entry, found=_named(there, there))


def _gguf(entry, there):
    """The one file, or all parts of it."""
    parts = [entry.file]
    if split := PART.search(entry.file):
        count = int(split[1])
        stem = entry.file[: split.start()]
        parts = [f"{stem}-{n:05d}-of-{count:05d}.gguf" for n in range(1, count + 1)]
    for path in parts:
        if path not in there:
            found = _named(_ggufs(there), there)
            raise client.sentence("hub_no_file", entry, file_name=path, found=found)
    return tuple(there[path] for path in parts)


def _ggufs(there):
    """Those one can ask for: of a split file the first part."""
    return [p for p in there if p.endswith(".gguf") and PART.sub(r"-00001-of-\1.gguf", p) == p]


def _named(paths, there) -> str:
    """Some file names with their sizes, the largest first."""
    paths = sorted(paths, key=lambda path: -there[path].nbytes)
    names = [f"{path} ({-(-there[path].nbytes // 10**6)} MB)" for path in paths[:MOST_NAMED]]
    more = len(paths) - MOST_NAMED
    return ", ".join(names + [f"and {more} more"] * (more > 0)) or "nothing"


def _licence(info) -> str | None:
    return licence_of(getattr(info.card_data, "license", None))


def _n_parameters(info, entry) -> int | None:
    counts = info.gguf if entry.file else info.safetensors
    return count_of(counts.get("total")) if isinstance(counts, dict) else None
