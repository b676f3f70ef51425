"""The formats that are fuzzed: valid tiny files of each, how they are damaged, how they are opened.

Knows what makes a model of each kind; the damage itself is drawn by its neighbours.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import gguf
import numpy as np

from core.comparing import compare_file
from core.errors import ModelFileError, PromptError, TokenwalkError
from core.run import RunSpec, open_model, run
from tests import families, vocabularies
from tests.core.conftest import CASES
from tests.family_arrays import hf_arrays
from tests.family_gguf import ARCHITECTURES, gguf_arrays, gguf_metadata, tokenizer_metadata
from tests.fuzz.damage import damaged_bytes, damaged_json
from tests.fuzz.gguf_damage import damaged, restored
from tests.fuzz.gguf_image import image
from tests.fuzz.table_damage import damaged_npz, damaged_safetensors, npy, npz, safetensors

IDS = (0, 1, 2)
TEXT = "the cat  12 <|im_end|></s>\n🙂é"
SMALL = {"num_hidden_layers": 1, "n_layer": 1, "no_rope_layers": [1]}
TYPES = {"float32": "F32", "float16": "F16"}


@dataclass(frozen=True)
class Seed:
    """A valid model: the bytes of its files by name, and which of them is opened ("": the folder).

    damage(rng): the files to replace, {name: bytes}. use(path): opens it and runs it.
    """

    files: dict[str, bytes]
    opened: str
    damage: Callable
    use: Callable


# ---- what is done with a file --------------------------------------------------------------------


def run_model(path: str) -> str:
    """Open a model, use its vocabulary, run three ids. What came of it, in a word."""
    try:
        model = open_model(path)
    except TokenwalkError as error:
        assert isinstance(error, ModelFileError), repr(error)
        raise
    use_words(model.tokenizer)
    with np.errstate(all="ignore"):  # numbers may be infinite
        scores = run(RunSpec(path, ids=IDS)).logits()
    assert scores.shape == (model.config.vocab,)
    return "ran" if np.isfinite(scores).all() else "ran, not finite"


def use_words(words):
    """What a page asks of a vocabulary; ids must be in it."""
    for control in (False, True):
        try:
            ids = words.encode(TEXT, control)
        except PromptError:
            continue
        assert all(0 <= id < len(words.tokens) for id in ids)
        words.decode(ids)
        assert all(words.display(id) for id in ids)
    assert all(0 <= id < len(words.tokens) for id in {words.bos_id or 0, *words.end_ids})
    try:
        words.pieces(TEXT)
        words.dropped(TEXT)
    except PromptError:
        pass


def compare(path: str, model: str) -> str:
    """Compare the values in a file with a run of the model."""
    code, lines = compare_file(path, model)
    assert code in (0, 1) and all(isinstance(line, str) for line in lines)
    return ("agrees", "differs")[code]


# ---- GGUF ----------------------------------------------------------------------------------------


@cache
def gguf_images():
    """Every family and scaling, SentencePiece's vocabulary, and numbers of several types."""
    images = [gguf_image(family, {**changes}) for family, changes in CASES.values()]
    images.append(gguf_image("llama", {}, vocabularies.sentencepiece().metadata))
    stored = gguf_image("llama", {})
    kinds = [gguf.GGMLQuantizationType[name] for name in ("Q8_0", "Q4_1", "Q5_0", "F16", "BF16")]
    for n, tensor in enumerate(stored.tensors):
        if len(tensor[1]) == 2:
            kind, rows = kinds[n % 5], np.frombuffer(tensor[4], "<f4").reshape(tensor[1][::-1])
            tensor[2], tensor[4] = int(kind), gguf.quants.quantize(rows, kind).tobytes()
    return [*images, stored]


def gguf_image(family, changes, words=None):
    """The parts of a family's GGUF file, one block where its pattern allows it."""
    words = tokenizer_metadata() if words is None else words
    c = small(family, changes) | {"vocab_size": len(words["tokenizer.ggml.tokens"])}
    architecture = ARCHITECTURES.get(family, family)
    own = {f"{architecture}.{key}": value for key, value in gguf_metadata(family, c).items()}
    return image(architecture, {"general.name": "Tiny"} | own | words, gguf_arrays(family, c))


def small(family, changes):
    """The config of a family with one block, or two where layers differ."""
    c = families.config(family, **changes)
    layers = {key: value for key, value in SMALL.items() if key in c}
    if family == "gemma3":
        layers |= {"num_hidden_layers": 2, "sliding_window_pattern": 2}
    return c | layers


def gguf_seed(n):
    whole = gguf_images()[n % len(gguf_images())]
    damage = lambda rng: {"m.gguf": damaged(whole, rng)}  # noqa: E731
    return Seed({"m.gguf": whole.pack()}, "m.gguf", damage, run_model)


@cache
def wide_image():
    """Rows of 256 numbers: every type of number fits."""
    changes = {"hidden_size": 256, "intermediate_size": 256, "num_attention_heads": 1}
    changes |= {"num_key_value_heads": 1, "head_dim": 256}
    return gguf_image("llama", changes)


def gguf_types_seed(n):
    """All types of numbers, with any bytes in them."""

    def damage(rng):
        changed = image("llama", {}, {})
        changed.metadata = wide_image().metadata
        changed.tensors = [list(tensor) for tensor in wide_image().tensors]
        restored(rng.choice(changed.tensors[2:]), rng)
        return {"m.gguf": changed.pack()}

    return Seed({"m.gguf": wide_image().pack()}, "m.gguf", damage, run_model)


def split_seed(n):
    """Three parts of one model; any of them is opened, some of them are damaged."""
    whole = gguf_images()[n % len(gguf_images())]
    names = [f"m-{k}-of-00003.gguf" for k in ("00001", "00002", "00003")]
    parts, third = {}, -(-len(whole.tensors) // 3)
    for k, name in enumerate(names):
        said = {"split.no": k, "split.count": 3, "split.tensors.count": len(whole.tensors)}
        part = image("llama", {}, {})
        part.metadata = (whole.metadata if k == 0 else {}) | said
        part.tensors = whole.tensors[k * third : (k + 1) * third]
        parts[name] = part

    def damage(rng):
        some = rng.sample(names, rng.choice([1, 1, 2]))
        out = {name: damaged(parts[name], rng) for name in some}
        if rng.random() < 0.1:  # a part in the place of another, or none
            out[rng.choice(names)] = rng.choice([parts[rng.choice(names)].pack(), b""])
        return out

    files = {name: part.pack() for name, part in parts.items()}
    return Seed(files, names[n % 3], damage, run_model)


# ---- Hugging Face folders ------------------------------------------------------------------------


def stored(arrays):
    """{name: (dtype, shape, bytes)} of arrays."""
    return {k: (TYPES[a.dtype.name], list(a.shape), a.tobytes()) for k, a in arrays.items()}


@cache
def folder_parts(case):
    """config.json as text, and the tensors, of one family or scaling."""
    family, changes = [*CASES.values()][case % len(CASES)]
    c = small(family, changes)
    return json.dumps(c), stored(hf_arrays(family, c))


@cache
def folder_files(case, words=False):
    config, tensors = folder_parts(case)
    files = {"config.json": config.encode(), "model.safetensors": safetensors(tensors)}
    return files | (word_files(case) if words else {})


def safetensors_seed(n):
    _, tensors = folder_parts(n)
    metadata = {"format": "pt"} if n % 2 else None
    damage = lambda rng: {"model.safetensors": damaged_safetensors(tensors, rng, metadata)}  # noqa: E731
    return Seed(folder_files(n), "", damage, run_model)


NEW_SPELLINGS = (
    {"rope_parameters": {"rope_type": "default", "rope_theta": 5e5}, "dtype": "float32"},
    {"rope_parameters": {"full_attention": {"rope_type": "linear", "factor": 8.0}}}
    | {"layer_types": ["full_attention"]},
    {"use_sliding_window": True, "sliding_window": 8, "max_window_layers": 0, "auto_map": {}},
    {"text_config": {"num_hidden_layers": 1}, "quantization_config": None, "eos_token_id": [1, 2]},
)


def config_seed(n):
    files = folder_files(n)
    more = NEW_SPELLINGS[n % 4] if n % 3 else {}
    text = json.dumps(json.loads(files["config.json"]) | more)
    damage = lambda rng: {"config.json": damaged_json(text, rng)}  # noqa: E731
    return Seed(files, "", damage, run_model)


INDEX = "model.safetensors.index.json"


def index_seed(n):
    """Two files; the index, or rarely one of the files, is damaged."""
    config, tensors = folder_parts(n)
    names = ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"]
    placed = {tensor: names[k % 2] for k, tensor in enumerate(tensors)}
    files = {"config.json": config.encode()} | {
        name: safetensors({k: t for k, t in tensors.items() if placed[k] == name}) for name in names
    }
    text = json.dumps({"metadata": {"total_size": 1}, "weight_map": placed})

    def damage(rng):
        out = {INDEX: damaged_json(text, rng)}
        if rng.random() < 0.1:
            name = rng.choice(names)
            out[name] = damaged_bytes(files[name], rng)
        return out

    return Seed(files | {INDEX: text.encode()}, "", damage, run_model)


# ---- tokenizers ----------------------------------------------------------------------------------

WORDS = (
    vocabularies.byte_level_json,
    vocabularies.sentencepiece_json,
    lambda: vocabularies.sentencepiece_json("legacy"),
)


@cache
def words(case):
    """A tokenizer.json as text, and its settings."""
    whole = WORDS[case % 3]()
    if case % 2:
        split = {"type": "Split", "pattern": {"Regex": r"\p{L}+"}, "behavior": "Isolated"}
        whole["pre_tokenizer"] = whole["pre_tokenizer"] or split | {"invert": False}
    first, second = (whole["added_tokens"][k]["content"] for k in (1, 2))
    settings = {"bos_token": {"content": first}, "eos_token": second, "add_bos_token": True}
    settings |= {"unk_token": "<unk>", "chat_template": "{{ messages[0]['content'] }}"}
    if case % 2:
        settings["chat_template"] = [{"name": "default", "template": "{{ 1 }}"}]
    generation = {"eos_token_id": [2, 0], "bos_token_id": 1, "temperature": 0.6}
    return json.dumps(whole), json.dumps(settings), json.dumps(generation)


def word_files(case):
    names = ("tokenizer.json", "tokenizer_config.json", "generation_config.json")
    return {name: text.encode() for name, text in zip(names, words(case), strict=True)}


@cache
def spoken_files(case):
    """A small llama with as many tokens as the vocabulary has."""
    n = len(json.loads(words(case)[0])["model"]["vocab"])
    c = small("llama", {"vocab_size": n, "hidden_size": 8, "intermediate_size": 8, "head_dim": 2})
    files = {"config.json": json.dumps(c).encode()}
    return (
        files | {"model.safetensors": safetensors(stored(hf_arrays("llama", c)))} | word_files(case)
    )


def tokenizer_seed(n):
    text = words(n)[0]
    damage = lambda rng: {"tokenizer.json": damaged_json(text, rng)}  # noqa: E731
    return Seed(spoken_files(n), "", damage, run_model)


def settings_seed(n):
    _, settings, generation = words(n)

    def damage(rng):
        out = {"tokenizer_config.json": damaged_json(settings, rng)}
        if rng.random() < 0.5:
            out["generation_config.json"] = damaged_json(generation, rng)
        if rng.random() < 0.2:
            out[rng.choice(["special_tokens_map.json", "chat_template.json"])] = out.pop(
                "tokenizer_config.json"
            )
        if rng.random() < 0.1:
            out["chat_template.jinja"] = damaged_bytes(b"{{ messages }}", rng)
        return out

    return Seed(spoken_files(n), "", damage, run_model)


# ---- values to compare ---------------------------------------------------------------------------

COMPARED = "layers.0.resid_pre layers.0.attn.q layers.0.attn.weights layers.0.mlp.out final_norm"


def compared(folder: Path):
    """The path of a small model, and values of a run of it by name."""
    path = families.build_folder(folder / "compared", "llama", **SMALL_LLAMA)
    trace = run(RunSpec(path, ids=IDS))
    values = {
        name: trace.read(name.split(".", 2)[-1], 0 if "." in name else None)
        for name in COMPARED.split()
    }
    values = {**values, "logits": trace.logits()}
    return path, values


SMALL_LLAMA = {"num_hidden_layers": 1, "vocab_size": 12, "hidden_size": 8, "intermediate_size": 8}
SMALL_LLAMA |= {"head_dim": 2}


def values_seed(folder, n):
    """Values in .safetensors."""
    path, values = _compared(folder)
    tensors = stored(values)
    metadata = {"ids": "[0, 1, 2]", "precision": "float32", "quantization": '{"F32": 12}'}
    metadata |= {"model_sha256": "0" * 64, "edits": "[]"}
    damage = lambda rng: {"x.safetensors": damaged_safetensors(tensors, rng, metadata)}  # noqa: E731
    files = {"x.safetensors": safetensors(tensors, metadata)}
    return Seed(files, "x.safetensors", damage, partial(compare, model=path))


def npz_seed(folder, n):
    path, values = _compared(folder)
    arrays = {k: ("<f4", a.shape, a.tobytes()) for k, a in values.items()}
    arrays["ids"] = ("<i8", (1, 3), np.array(IDS, "<i8").tobytes())
    arrays["precision"] = ("<U7", (), np.array("float32").tobytes())
    damage = lambda rng: {"x.npz": damaged_npz(arrays, rng)}  # noqa: E731
    files = {"x.npz": npz([(f"{k}.npy", npy(*a)) for k, a in arrays.items()])}
    return Seed(files, "x.npz", damage, partial(compare, model=path))


_compared = cache(compared)
FORMATS = {
    "gguf": gguf_seed,
    "gguf types": gguf_types_seed,
    "split gguf": split_seed,
    "safetensors": safetensors_seed,
    "config.json": config_seed,
    "index.json": index_seed,
    "tokenizer.json": tokenizer_seed,
    "tokenizer settings": settings_seed,
    "values safetensors": values_seed,
    "values npz": npz_seed,
}
