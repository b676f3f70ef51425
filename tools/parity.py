"""Compare every op with transformers: tiny random models of all families, SmolLM2 itself and Nano.

Prints tables op x model of the largest error, relative to the largest number of that op in its
layer; inf where only one of the two has the op, or they hide other cells. Ends with 1 if one is
over the limit or a known mistake stays unseen. Needs requirements-parity.txt. `--golden` writes
tests/golden from transformers instead.
"""

import argparse
import functools
import os
import sys
import tempfile
import time
from pathlib import Path

# Everything is made here or on disk. One thread for each side: little here is large, and two teams
# of threads hold each other up.
os.environ |= {"HF_HUB_OFFLINE": "1", "TQDM_DISABLE": "1"}
os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402

from core import RunSpec, open_model, run  # noqa: E402
from core.analyse import rollout  # noqa: E402
from core.analyse.heads import attention  # noqa: E402
from core.analyse.repeating import repeated  # noqa: E402
from core.model.axes import OP_AXES, VOCAB_OPS  # noqa: E402
from core.record.catalogue import catalogue_of  # noqa: E402
from core.run import prompt_ids  # noqa: E402
from tests import families  # noqa: E402
from tools import parity_attribution, parity_beam, parity_heads, parity_sampling  # noqa: E402
from tools import parity_ours as ours  # noqa: E402
from tools import parity_witness as witness  # noqa: E402
from tools.parity_cases import (  # noqa: E402
    CHUNKED,
    FAMILIES,
    LIMIT,
    OPTIONS,
    SCALINGS,
    Case,
    error,
    ids_of,
    save_golden,
)
from tools.parity_controls import CONTROLS  # noqa: E402

MODEL = "smollm2-135m-instruct"
PROMPTS = {
    "English": "The capital of France is",
    "Chinese": "法国的首都是巴黎,德国的首都是",
    "code": "def fib(n):\n    if n < 2:\n        return n\n    return fib(n - 1) +",
    "emoji": "I love pizza 🍕🍕 and my family 👩‍👩‍👧‍👦! 🙂",
}
HEAD_PROMPTS = ("code", "emoji")  # both repeat tokens
NANO = ROOT / "models" / "nano"
NANO_PROMPTS = {
    "fact": "The capital of France is",
    "giving": "When Ben and Sam were in the park, Sam gave the red ball to",
    "digits": "Tom says 4170, and Pat says 417",
    "unknown": "Zoe wrote: the cats sit! the cats",
}
# GGUF files do not hold gemma's scale of scores: llama.cpp takes the root of head_dim
IN_GGUF = dict.fromkeys(("gemma2", "gemma3"), {"query_pre_attn_scalar": 16})
LONG_TEXT = 2 * (ROOT / "LICENSE").read_text("utf-8")
N_LONG = 400  # tokens of it
N_PROMPT, N_DECODED = 50, 80  # tokens before decoding, and after it


def main():
    """Compare everything, or write the golden values."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--golden", action="store_true", help="write tests/golden")
    golden, start = parser.parse_args().golden, time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        if golden:
            return write_golden(folder)
        green = [
            table("Families", tiny_columns(FAMILIES, folder)),
            table("Rope scalings, long and short texts", tiny_columns(SCALINGS, folder)),
            table("Options", tiny_columns(OPTIONS, folder)),
            table("Texts that run in several passes", chunk_columns(folder)),
            table(f"Decoding after {N_PROMPT} tokens", decode_columns(folder)),
            table("From GGUF files", gguf_columns(folder)),
            controls(folder),
            table(MODEL, prompt_columns()),
            heads(),
            parity_attribution.check(MODEL, smollm()),
            table("Nano", nano_columns()),
            parity_sampling.check(),
            parity_beam.check(MODEL, smollm(), FAMILIES[0].build(folder)),
        ]
    print(f"\n{'All' if all(green) else 'NOT all'} within {LIMIT}.", end=" ")
    print(f"{time.perf_counter() - start:.0f} s")
    sys.exit(not all(green))


def tiny_columns(cases, folder):
    """Name and errors of each tiny model and length of text."""
    for case in cases:
        path = case.build(folder)
        theirs = witness.open_folder(path)
        for n in case.lengths:
            name = case.name if len(case.lengths) == 1 else f"{n} {case.name}"
            yield name, compare(run(RunSpec(path, ids=ids_of(n))), theirs)


def gguf_columns(folder):
    """Name and errors of each family whose GGUF tensors transformers reads: ours from the file
    alone, theirs with the configuration of the folder.
    """
    for family in witness.FROM_GGUF:
        path, changes = Path(folder) / f"{family}.gguf", IN_GGUF.get(family, {})
        families.build_gguf(path, family, **changes)
        theirs = witness.open_gguf(path, Case(f"{path}.folder", family, changes).build(folder))
        yield family, compare(run(RunSpec(str(path), ids=ids_of(32))), theirs)


def chunk_columns(folder):
    """Name and errors of the logits after every token of a text that is cut for prefill."""
    for case in CHUNKED:
        path, ids = case.build(folder), ids_of(*case.lengths)
        trace, theirs = run(RunSpec(path, ids=ids)), witness.logits(witness.open_folder(path), ids)
        op = trace.catalogue.last
        yield case.name, {op: (error(read(trace, op, None), theirs), None)}


def decode_columns(folder):
    """Name and errors of logits token by token from the cache, across the end of the original
    context.
    """
    for case in (*FAMILIES, *SCALINGS):
        path, ids = case.build(folder), ids_of(N_DECODED)
        model, theirs = open_model(path), witness.open_folder(path)
        found = error(ours.decode(model, ids, N_PROMPT), witness.decode(theirs, ids, N_PROMPT))
        yield case.name, {catalogue_of(model.config).last: (found, None)}


def prompt_columns():
    """Name and errors of each prompt: SmolLM2 through transformers' GGUF loader, on our ids."""
    encode, theirs = open_model(MODEL).tokenizer.encode, smollm()
    texts = {name: encode(text) for name, text in PROMPTS.items()}
    texts[f"{N_LONG} tokens"] = encode(LONG_TEXT)[:N_LONG]
    for name, ids in texts.items():
        yield name, compare(run(RunSpec(MODEL, ids=ids)), theirs)


@functools.cache
def smollm():
    """SmolLM2 through transformers' GGUF loader."""
    return witness.open_gguf(open_model(MODEL).source.path)


def heads() -> bool:
    """What heads do and rollout, from the maps of transformers; print the worst difference of each
    number, whether all are within the limit.
    """
    found = {}
    for name in HEAD_PROMPTS:
        ids = open_model(MODEL).tokenizer.encode(PROMPTS[name])
        trace, maps = run(RunSpec(MODEL, ids=ids)), theirs_of(ids)
        scores = attention(trace).scores
        for measure, values in parity_heads.measures(maps, ids).items():
            see(found, measure, scores[measure], values)
        for kind in rollout.KINDS:
            mine = rollout.rollout(rollout.means(trace), kind)
            see(found, f"rollout, {kind}", mine, parity_heads.rollouts(maps, kind))
    twice = repeated(open_model(MODEL), MODEL)
    theirs = parity_heads.induction(theirs_of(twice.trace.ids), twice.period)
    see(found, "induction", twice.scores, theirs)
    print(f"\nHeads of {MODEL}, {len(HEAD_PROMPTS)} texts and words said twice: worst difference\n")
    print("\n".join(f"  {name:20}{worst:.1e}" for name, worst in found.items()), flush=True)
    return all(worst <= LIMIT for worst in found.values())


def theirs_of(ids):
    """The maps of SmolLM2 by transformers."""
    return parity_heads.attentions(smollm(), ids)


def see(found, name, mine, theirs):
    """Keep the worst error of a number; one that only one of the two has is infinitely wrong."""
    found[name] = max(found.get(name, 0.0), error(mine, theirs, 1.0))


def nano_columns():
    """Name and errors of each of Nano's prompts; the ids have to be those of transformers too."""
    model, theirs = open_model(str(NANO)), witness.open_folder(NANO)
    for name, text in NANO_PROMPTS.items():
        spec = RunSpec(str(NANO), prompt=text)
        if witness.encode(NANO, text) != prompt_ids(model, spec):
            raise SystemExit(f"transformers has other ids for {text!r}")
        yield name, compare(run(spec), theirs)


def compare(trace, theirs) -> dict:
    """{op: (largest error, its layer)}; inf for an op that only one of the two has."""
    catalogue, column = trace.catalogue, {}
    unseen = {(op, layer) for op in catalogue.ids for layer in catalogue.layers_with(op)}

    def see(op, layer, value):
        found = error(read(trace, op, layer), value) if (op, layer) in unseen else np.inf
        column[op] = max(column.get(op, (0.0, None)), (found, layer), key=lambda pair: pair[0])
        unseen.discard((op, layer))

    witness.run(theirs, trace.ids, see)
    return column | {op: (np.inf, layer) for op, layer in unseen}


def read(trace, op, layer):
    """An op of a trace; those of the vocabulary for all positions."""
    if op not in VOCAB_OPS:
        return trace.read(op, layer)
    return np.stack([trace.output(op, position) for position in range(len(trace.ids))])


def table(title, columns) -> bool:
    """Print the errors op by op, column by column; whether all are within the limit."""
    print(f"\n{title}", flush=True)
    columns = dict(columns)
    width = max(8, *(len(name) + 1 for name in columns))
    per_row = 108 // width
    for first in range(0, len(columns), per_row):
        names = list(columns)[first : first + per_row]
        print(f"\n{'':14}" + "".join(f"{name:>{width}}" for name in names))
        for op in OP_AXES:
            if any(op in columns[name] for name in names):
                cells = (shown(columns[name].get(op)) for name in names)
                print(f"{op:14}" + "".join(f"{cell:>{width}}" for cell in cells))
    wrong = [
        f"  OVER THE LIMIT: {name}, {place(op, layer)}: {found:.1e}"
        for name, column in columns.items()
        for op, (found, layer) in column.items()
        if not found <= LIMIT
    ]
    print("\n".join(wrong), flush=True)
    return not wrong


def place(op, layer) -> str:
    """In words."""
    return op if layer is None else f"{op} of layer {layer}"


def shown(pair) -> str:
    """A cell: the error, or - where the model has no such op."""
    return "-" if pair is None else f"{pair[0]:.1e}"


def controls(folder) -> bool:
    """Make every known mistake; print what is found; whether each is found at its own op."""
    print("\nKnown mistakes, and the first op over the limit\n")
    cases, witnessed, green = {c.name: c for c in (*FAMILIES, *SCALINGS)}, {}, True
    for control in CONTROLS:
        case = cases[control.case]
        path, ids = case.build(folder), ids_of(case.lengths[0])
        if case.name not in witnessed:
            witnessed[case.name] = witness.values(witness.open_folder(path), ids)
        wrong = ours.values(control.wrong(open_model(path)), ids)
        op, layer, found = first_over(wrong, witnessed[case.name])
        green &= op == control.op
        where = f"{place(op, layer)}: {found:.1e}" if op else "NOTHING"
        where += "" if op == control.op else f"  NOT FOUND at {control.op}"
        print(f"  {case.name:16}{control.name:32}{where}")
    return green


def first_over(values, theirs):
    """Op, layer and error where the two first differ by more than the limit; None three times if
    nowhere.
    """
    for (op, layer), value in theirs.items():
        found = error(values[op, layer], value) if (op, layer) in values else np.inf
        if not found <= LIMIT:
            return op, layer, found
    return None, None, None


def write_golden(folder):
    """What tests/core/test_parity.py compares with: values of transformers, none of ours."""
    for case in (*FAMILIES, *SCALINGS):
        ids = ids_of(case.lengths[0])
        save_golden(case, ids, witness.values(witness.open_folder(case.build(folder)), ids))


if __name__ == "__main__":
    main()
