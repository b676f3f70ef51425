"""A tokenizer.json as an object of the `tokenizers` library, checked before the library sees it.

Knows the file's parts and how much each may hold; the other files of a folder are not its business.
The library reads whatever it is given: a file that is valid and still takes gigabytes, or a
normalizer that makes every text a thousand times longer, has to be refused here.
"""

import json

from tokenizers import AddedToken, models
from tokenizers import Tokenizer as Library

from .library import EMPTY_MODEL, guarded, parts

LARGEST = 64 << 20  # bytes; Gemma 3's has 33 MB
# of each row of the matrix; what Llama 3's has, printed over many lines: 134, 5.4, 2.2, 0
PER_ROW = {"bytes": 192, b",": 8, b"[": 4, b"{": 1}
SMALLEST_LIMIT = {"bytes": 1 << 20, b",": 20_000, b"[": 20_000, b"{": 20_000}
MOST_ADDED = 1 << 16  # tokens
LONGEST_ADDED, ALL_ADDED = 1_000, 1_000_000  # characters of one added token, of all
LARGEST_PART = 100_000  # characters of a normalizer, pre-tokenizer, ...
LARGEST_GROWTH = 256  # how many times longer a normalizer may make a text
PARTS = ("normalizer", "pre_tokenizer", "post_processor", "decoder")
FLAGS = ("lstrip", "rstrip", "normalized", "special", "single_word")


def library_of(data: bytes, rows: int, fail) -> tuple[Library, dict[str, int]]:
    """The library object and every token's id. rows: of the embedding matrix.

    Raises what `fail(reason)` makes: for no JSON, parts that are missing, too large or contradict
    each other.
    """
    try:
        return _library_of(_parsed(data, rows, fail), rows, fail)
    except RecursionError:
        raise fail("its parts are nested too deep") from None


def _library_of(content, rows, fail):
    model, added = content.get("model"), content.get("added_tokens", [])
    if not isinstance(model, dict) or not isinstance(added, list):
        raise fail("it has no model, or its added tokens are no list")
    vocabulary = model.get("vocab")
    # which tokens past the last row are no error is decided later
    if not isinstance(vocabulary, (dict, list)) or len(vocabulary) > rows + MOST_ADDED:
        raise fail(f"it has no vocabulary, or one far too large for {rows} rows of the matrix")
    if model.get("type", "BPE") == "BPE":
        _check_bpe(model, fail)
    _check_added(added, fail)
    settings = {name: content[name] for name in PARTS if isinstance(content.get(name), dict)}
    _check_settings(settings, fail)
    if model.get("type", "BPE") == "BPE":
        library = guarded(_bpe, model, settings, added, fail=fail)
        new = {token.content: id for id, token in library.get_added_tokens_decoder().items()}
        return library, vocabulary | new
    whole = settings | {"version": "1.0", "model": model, "added_tokens": added}
    library = guarded(Library.from_str, json.dumps(whole), fail=fail)
    return library, library.get_vocab(with_added_tokens=True)


def _parsed(data, rows, fail):
    """The JSON object, of a size that fits a vocabulary of so many rows."""
    for what, each in PER_ROW.items():
        n = len(data) if what == "bytes" else data.count(what)
        if n > min(LARGEST, SMALLEST_LIMIT[what] + each * rows):
            raise fail(f"it is far too large for a vocabulary of {rows} tokens")
    try:
        content = json.loads(data)
    except ValueError as error:
        raise fail(f"it is no JSON ({error})") from None
    if not isinstance(content, dict):
        raise fail("it holds no JSON object")
    return content


def _check_bpe(model, fail):
    if not isinstance(model["vocab"], dict) or not isinstance(model.get("merges"), list):
        raise fail("its vocabulary is no table, or its merges are no list")
    if not all(type(id) is int and 0 <= id < 1 << 32 for id in model["vocab"].values()):
        raise fail("an id in its vocabulary is no whole number from 0")


def _check_added(added, fail):
    texts = [token.get("content") if isinstance(token, dict) else None for token in added]
    if not all(isinstance(text, str) and text for text in texts):
        raise fail("an added token has no text")
    longest = max(map(len, texts), default=0)
    if len(texts) > MOST_ADDED or longest > LONGEST_ADDED or sum(map(len, texts)) > ALL_ADDED:
        raise fail(f"its {len(texts)} added tokens are too many, or too long")


def _check_settings(settings, fail):
    """The small parts, and how much longer the normalizer makes a text."""
    for name, part in settings.items():
        if len(json.dumps(part)) > LARGEST_PART:
            raise fail(f"its {name} is too large")
    growth = 1
    for part in parts(settings.get("normalizer", {})):
        added = part.get("content", part.get("prepend", ""))
        growth *= 1 + len(added) if isinstance(added, str) else 1
    if growth > LARGEST_GROWTH:
        raise fail(f"its normalizer makes a text up to {growth} times longer")


def _bpe(model, settings, added):
    """As the library itself builds it, from parts that were looked at."""
    merges = _merges(model["merges"], model["vocab"])
    options = {
        name: model[name]
        for name in ("unk_token", "continuing_subword_prefix", "end_of_word_suffix")
        if model.get(name)
    }
    for name in ("fuse_unk", "byte_fallback", "ignore_merges"):
        options[name] = bool(model.get(name))
    library = Library(models.BPE(model["vocab"], merges, **options))
    small = Library.from_str(json.dumps(settings | {"version": "1.0", "model": EMPTY_MODEL}))
    for name in PARTS:
        if name in settings:
            setattr(library, name, getattr(small, name))
    by_id = sorted(added, key=lambda token: token["id"])
    library.add_tokens([_added(token) for token in by_id])
    return library


def _merges(merges, vocabulary):
    """Pairs of tokens, whether the file has lists or texts with a space. The list is filled with
    the vocabulary's own texts: in a large file they would take as much memory again.
    """
    same = {token: token for token in vocabulary}
    for n, merge in enumerate(merges):
        pair = merge.split(" ") if isinstance(merge, str) else merge
        known = isinstance(pair, list) and len(pair) == 2
        if not known or not all(isinstance(half, str) and half in same for half in pair):
            raise ValueError(f"the merge {str(pair)[:80]} is no pair of tokens")
        merges[n] = same[pair[0]], same[pair[1]]
    return merges


def _added(token):
    return AddedToken(token["content"], **{flag: bool(token.get(flag)) for flag in FLAGS})
