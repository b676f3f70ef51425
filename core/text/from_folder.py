"""The vocabulary of a Hugging Face folder: tokenizer.json, and the small files beside it.

Knows what these files say about special tokens, BOS, ends and the chat template; the library reads
tokenizer.json itself. A folder without it still gives a vocabulary: ids without text.
"""

from functools import partial
from pathlib import Path

from . import tokenizer_json
from .folder_files import Files
from .library import ByLibrary, parts, state
from .rules import GROUPS
from .spelling import SPACE, as_it_is, byte_level, sentencepiece
from .vocabulary import END_NAMES, LARGEST, NoText, Tokenizer

OTHER_TOKENIZERS = ("tokenizer.model", "spiece.model", "vocab.json", "vocab.txt")


def from_folder(folder: Path, n_tokens: int | None = None) -> Tokenizer:
    """The tokenizer of a folder, or one that knows ids only where it has no tokenizer.json.

    n_tokens: rows of the embedding matrix; rows past the vocabulary get a token without text.
    Raises ModelFileError for damaged files and a vocabulary larger than the matrix.
    """
    files = Files(Path(folder))
    data = files.bytes("tokenizer.json", tokenizer_json.LARGEST)
    if data is None:
        return _without_text(files, n_tokens)
    fail = partial(files.broken, "tokenizer.json")
    rows = LARGEST if n_tokens is None else n_tokens
    library, ids = tokenizer_json.library_of(data, rows, fail)
    tokens = _tokens(fail, library, ids, n_tokens)
    added = library.get_added_tokens_decoder()
    control = {token.content: id for id, token in added.items() if token.special}
    special = {text: id for text, id in control.items() if id < len(tokens)}
    bos, add_bos = _bos(files, library, len(tokens))
    spell, space_first = _spelling(library)
    unknown = getattr(library.model, "unk_token", None) or files.names.get("unk_token", "")
    never = frozenset(control.values()) - {library.token_to_id(unknown)}
    return Tokenizer(
        tokens=tokens,
        special=special,
        end_ids=_ends(files, library, special, len(tokens)),
        bos_id=bos,
        add_bos=add_bos,
        rule=_rule(library, spell),
        template=files.template(),
        encoder=ByLibrary(library, never, byte_level=spell is byte_level),
        spell=spell,
        literal=frozenset(added),
        names=files.names,
        space_first=space_first,
        strips={token.content: (token.lstrip, token.rstrip) for token in added.values()},
    )


def _without_text(files, n_tokens):
    """A vocabulary of ids: the numbers of a checkpoint that came without a tokenizer."""
    other = next((name for name in OTHER_TOKENIZERS if files.has(name)), None)
    reason = "the model came without a tokenizer"
    if other:
        reason = f"{other} alone is not supported; tokenizer.json is needed"
    n = n_tokens if n_tokens is not None else max(files.ids("vocab_size"), default=0)
    return Tokenizer(
        tokens=("",) * min(n, LARGEST),
        special={},
        end_ids=frozenset(id for id in files.ids("eos_token_id") if id < n),
        bos_id=next((id for id in files.ids("bos_token_id") if id < n), None),
        add_bos=False,
        rule="none",
        template=None,
        encoder=NoText(reason),
        spell=as_it_is,
    )


def _tokens(fail, library, ids, n_tokens):
    """The texts by id. Control tokens past the embedding matrix are left out: the model has no row
    for them (Gemma 3 lists one for pictures).
    """
    last = max(ids.values(), default=-1)
    rows = last + 1 if n_tokens is None else n_tokens
    if not ids or not 0 < rows <= LARGEST:
        raise fail(f"it has {len(ids)} tokens, the last is {last}")
    special = {t.content for t in library.get_added_tokens_decoder().values() if t.special}
    tokens = [""] * rows
    for token, id in ids.items():
        if id < rows:
            tokens[id] = token
        elif token not in special:
            raise fail(f"it has a token {id}, the embedding matrix has {rows} rows")
    return tuple(tokens)


def _bos(files, library, n_tokens):
    """BOS, and whether it comes first: as the post-processor has it, else as the settings say."""
    leading = _leading_ids(library)
    if leading and leading[0] >= n_tokens:
        raise files.broken("tokenizer.json", f"its first token {leading[0]} has no row")
    named = library.token_to_id(files.names.get("bos_token", ""))
    ids = [*(leading or ()), named, *files.ids("bos_token_id")]
    bos = next((id for id in ids if id is not None and id < n_tokens), None)
    return bos, bos is not None and (files.adds_bos if leading is None else bool(leading))


def _ends(files, library, special, n_tokens):
    """What ends a generation. Ids outside the vocabulary are no error: configurations that nobody
    filled in carry the ids of another model.
    """
    ends = {library.token_to_id(files.names.get("eos_token", "")), *files.ids("eos_token_id")}
    ends |= {special[name] for name in END_NAMES & special.keys()}
    return frozenset(id for id in ends if id is not None and id < n_tokens)


def _leading_ids(library):
    """The ids that the post-processor puts before a text; None where it says nothing of it."""
    for part in parts(state(library.post_processor)):
        if "cls" in part:
            return [part["cls"][1]]
        if part["type"] == "TemplateProcessing":
            first = part["single"][0] if part["single"] else {}
            name = first.get("SpecialToken", {}).get("id")
            return part["special_tokens"].get(name, {}).get("ids", [])
    return None


def _spelling(library):
    """How tokens are spelled, and whether decoding leaves a first space out."""
    decoder = parts(state(library.decoder)) or parts(state(library.pre_tokenizer))
    by_type = {part["type"]: part for part in decoder}
    if "ByteLevel" in by_type:
        return byte_level, False
    spaces = by_type.get("Metaspace", {}).get("replacement") or _replaced_by_space(decoder)
    if spaces is None and "ByteFallback" not in by_type:
        return as_it_is, False
    spaced = by_type.get("Metaspace", {}).get("prepend_scheme", "never") != "never"
    return partial(sentencepiece, space=spaces or SPACE), spaced or "Strip" in by_type


def _replaced_by_space(decoder):
    """What a decoder writes as a space, None where it replaces nothing."""
    patterns = (p["pattern"] for p in decoder if p["type"] == "Replace" and p["content"] == " ")
    return next((pattern.get("String") for pattern in patterns), None)


def _rule(library, spell):
    """The name of the rule that cuts like the file's pre-tokenizer, for the pages to explain."""
    own = _cutting(library.pre_tokenizer)
    for rule, _ in GROUPS:
        if own == _cutting(rule.pre_tokenizer()):
            return rule.name
    if _by_words(library, own):
        return "words"
    return "sentencepiece" if spell not in (byte_level, as_it_is) else "file"


def _by_words(library, cuts):
    """Whether a text is cut at its spaces, and a character without a token is unknown."""
    model = library.model
    known = getattr(model, "unk_token", None) is None or getattr(model, "byte_fallback", False)
    kinds = [(cut["type"], cut.get("split"), cut.get("prepend_scheme")) for cut in cuts]
    return not known and kinds == [("Metaspace", True, "always")]


def _cutting(pre_tokenizer):
    found = parts(state(pre_tokenizer))
    return [{key: value for key, value in p.items() if key != "trim_offsets"} for p in found]
