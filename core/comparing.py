"""`python -m core compare`: somebody's file of values, the model it names, a run of ours, and what
differs, in lines of text.

Joins the rooms; the words of the command line live here and in core.record.report.
"""

import json

from core.errors import ModelFileError, PromptError, SettingError
from core.files import arrays, registry
from core.record import report
from core.record.compare import check_length, compare, eps_of
from core.record.given import Given
from core.run import RunSpec, open_model, prompt_ids, run

IDS = ("ids", "input_ids", "tokens")  # names of an array that holds token ids
MOST_IDS = 1 << 16
PRECISIONS = {"float64": "float64", "float32": "float32", "float16": "float16"}
PRECISIONS |= {"half": "float16", "bfloat16": "bfloat16"}
PRECISIONS |= {"f64": "float64", "f32": "float32", "f16": "float16", "bf16": "bfloat16"}
PRECISIONS |= {"fp64": "float64", "fp32": "float32", "fp16": "float16"}
AGREES, DIFFERS = 0, 1


def compare_file(path, model=None, precision=None, **text) -> tuple[int, list[str]]:
    """Compare the values in a .npz or .safetensors file with a run of ours: exit code and report.

    model: a name or path; else the name that the file gives. precision: what the values were
    computed in, else what the file says. text: prompt, messages or ids of a RunSpec; else the ids
    in the file. Raises TokenwalkError where nothing can be compared.
    """
    file = arrays.read(path)
    model = model or _model_of(file)
    source = open_model(model).source
    other = _other_model(file, model, source)
    before = f"it {other}; " if other else ""
    trace = run(_spec(file, model, text, before))
    values = {name: entry for name, entry in file.entries.items() if name not in IDS}
    given = Given(trace, values, file.refused)
    if not given.names:
        raise _bad(file, before + _nothing(given.unused))
    others = _other_weights(file, source)
    precision = _precision(precision or file.metadata.get("precision"))
    stored = _stored(file, source) if others else ()
    result = compare(trace, given, eps_of(given.kinds, precision, stored))
    named = [f"Their file {other}."] if other else []
    head = [*named, *others, _ours(trace), _theirs(file, given, precision), *_edits(file)]
    head = [part for line in head for part in report.wrapped(line)]
    return DIFFERS if result.first else AGREES, [*head, *report.lines(result, trace.catalogue)]


def _bad(file, reason):
    return ModelFileError("bad_values", path=str(file.path), reason=reason)


def _model_of(file):
    """The model's name that the file gives. Names only: a file cannot make us open a path."""
    name = file.metadata.get("model", "")
    if name in registry.MODELS or registry.HUB_NAME.fullmatch(name):
        return name
    raise _bad(file, "it names no model that can be opened by name; say which one with --model")


def _ids_of(file):
    """The token ids in the file, or None."""
    try:
        if "ids" in file.metadata:
            return _flat(json.loads(file.metadata["ids"]))
    except (ValueError, RecursionError, TypeError):
        raise _bad(file, "its metadata `ids` is no list of whole numbers") from None
    entry = next((file.entries[name] for name in IDS if name in file.entries), None)
    if entry is None:
        return None
    row = [n for n in entry.shape if n != 1]
    if entry.kind != "whole" or len(row) > 1 or max(row, default=1) > MOST_IDS:
        raise _bad(file, "its token ids are no row of whole numbers")
    return tuple(entry.read().ravel().tolist())


def _precision(said):
    """The number type that values were computed in, by our name for it; None if nobody says it."""
    if said is None:
        return None
    known = PRECISIONS.get(said.lower().removeprefix("torch."))
    if known is None:
        wanted = "float64, float32, float16 or bfloat16"
        raise SettingError("bad_setting", name="precision", wanted=wanted, value=repr(said)[:40])
    return known


def _flat(ids):
    """A list of ids, or of one such list (a batch of one), as a tuple."""
    while len(ids) == 1 and isinstance(ids[0], list):
        ids = ids[0]
    return tuple(ids)


def _spec(file, model, text, before):
    """What to run; where both the file and the reader say it, they must say the same. before: what
    is said first of a file made with another model, which may be why its ids are refused.
    """
    ids = _ids_of(file)
    if not text and ids is None:
        raise _bad(file, "it holds no token ids; say --prompt or --ids")
    spec = RunSpec(model, **(text or {"ids": ids}))
    try:
        ours = tuple(prompt_ids(open_model(model), spec))
    except PromptError as error:
        raise _bad(file, before + str(error).removesuffix(".")) if before else error from None
    if ids is not None and ids != ours:
        raise _bad(file, f"{before}its token ids are {_row(ids)}, those asked for are {_row(ours)}")
    check_length(ours)
    return spec


def _row(ids):
    return " ".join(map(str, ids[:12])) + " ..." * (len(ids) > 12)


def _nothing(unused):
    reason = "no array in it has the name and shape of an op"
    for name, why in list(unused.items())[:1]:
        reason += f" ({name[:60]!r}: {why})"
    return reason


def _other_model(file, model, source):
    """What is said where the file names another model than the one that is opened, else ""."""
    theirs, name = file.metadata.get("model", ""), source.path.name
    if theirs in ("", model, name, source.path.stem) or _stands_for(theirs, source.path):
        return ""
    if file.metadata.get("model_sha256") == source.sha256:
        return ""
    return f"says that it was made with the model {theirs[:60]!a}; the one opened here is {name!r}"


def _stands_for(name, path):
    """Whether a name is that of the model at a path. Names only, as in `_model_of`."""
    try:
        return registry.path_of(name).resolve() == path
    except ModelFileError:
        return False


def _other_weights(file, source):
    """A line, where the file was made with other weights than ours."""
    theirs = file.metadata.get("model_sha256")
    if theirs in (None, source.sha256):
        return []
    return [
        f"Other weights: theirs have sha256 {theirs[:12]!r}, ours {source.sha256[:12]!r}. What"
        " their rounding explains is not judged."
    ]


def _stored(file, source):
    """The number types of the two models' weights."""
    try:
        theirs = dict(json.loads(file.metadata.get("quantization", "{}")))
    except (ValueError, RecursionError, TypeError):
        theirs = {}
    return {*dict(source.stored), *(str(kind) for kind in theirs)}


def _ours(trace):
    source = trace.model.source
    types = ", ".join(f"{n} {kind}" for kind, n in source.stored)
    return (
        f"Ours:   {source.path.name}, {report.count(len(trace.ids), 'token')}, in float32"
        f" (weights: {types}, sha256 {source.sha256[:12]})"
    )


def _theirs(file, given, precision):
    kinds = ", ".join(sorted(given.kinds))
    computed = f", computed in {precision}" if precision else ""
    values = report.count(len(given.names), "value")
    return f"Theirs: {file.path.name}, {values} as {kinds}{computed}"


def _edits(file):
    """A line, where theirs is an export of ours that was made under edits."""
    edits = file.metadata.get("edits", "[]")
    return [] if edits == "[]" else [f"Theirs were made under edits: {ascii(edits)[:300]}"]
