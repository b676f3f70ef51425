"""The tiny models and texts that `make parity` compares with transformers, and how errors count.

Used by the tool and, without torch, by the tests of the golden values. Knows tests/families.py and
arrays; no transformers.
"""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from tests import families
from tests.families import ORIGINAL, VOCAB, WINDOW

GOLDEN = Path(__file__).parents[1] / "tests" / "golden"
LIMIT = 1e-4
CELLS = 24  # golden numbers per op and layer


@dataclass(frozen=True)
class Case:
    """A tiny model and the lengths of the texts to run.

    Attributes:
        name: the column of the table and the name of the golden file.
        family: as in tests/families.py. changes: of its config.json.
        lengths: tokens of each text; the first is the one with golden values.
    """

    name: str
    family: str
    changes: dict = field(default_factory=dict)
    lengths: tuple[int, ...] = (32,)  # past every window

    def build(self, folder) -> str:
        """Write the model as a Hugging Face folder; return its path."""
        return families.build_folder(Path(folder) / self.name, self.family, **self.changes)


# past the original context, where "dynamic" and the long factors of "longrope" act, and before it
LONG_AND_SHORT = (ORIGINAL + 36, 32)
YARN_BORDERS = {"beta_fast": 8.0, "beta_slow": 0.5, "truncate": False, "attention_factor": 1.3}
YARN_MSCALE = {"factor": 4.0, "mscale": 0.7, "mscale_all_dim": 0.4}
BY_LAYER_TYPE = {
    "sliding_attention": {"rope_type": "default", "rope_theta": 2e4},
    "full_attention": {"rope_type": "default", "rope_theta": 5e5},
}
FAMILIES = [Case(family, family) for family in families.CONFIGS]
SCALINGS = [
    Case(f"{family}-{kind}", family, changes, LONG_AND_SHORT)
    for family, kinds in (("llama", families.SCALINGS), ("phi3", families.PHI3_SCALINGS))
    for kind, changes in kinds.items()
]
OPTIONS = [
    Case("llama wide", "llama", {"head_dim": 16, "num_key_value_heads": 1}),
    Case("llama biased", "llama", {"attention_bias": True, "mlp_bias": True}),
    Case("llama tied", "llama", {"tie_word_embeddings": True}),
    Case("mistral whole", "mistral", {"sliding_window": None}),
    Case(
        "qwen2 window",
        "qwen2",
        {"use_sliding_window": True, "sliding_window": WINDOW, "max_window_layers": 1},
    ),
    Case("qwen3 biased", "qwen3", {"attention_bias": True}),
    Case("gemma erf", "gemma", {"hidden_act": "gelu", "hidden_activation": None}),
    Case("gemma2 swapped", "gemma2", {"layer_types": ["full_attention", "sliding_attention"]}),
    Case("gemma3 capped", "gemma3", {"final_logit_softcapping": 3.0}),
    Case("gemma3 no cap", "gemma3", {"attn_logit_softcapping": 5.0}),
    Case(
        "gemma3 scaled", "gemma3", {"rope_scaling": {"rope_type": "linear", "factor": 8.0}}, (100,)
    ),
    Case("gemma3 new", "gemma3", {"rope_parameters": BY_LAYER_TYPE, "rope_theta": ...}),
    Case("phi3 whole", "phi3", {"sliding_window": None, "partial_rotary_factor": 1.0}),
    Case("neox serial", "gpt_neox", {"use_parallel_residual": False, "rotary_pct": 1.0}),
    Case("smollm3 window", "smollm3", {"use_sliding_window": True, "sliding_window": WINDOW}),
    Case("gpt2 untied", "gpt2", {"tie_word_embeddings": False, "n_inner": 40}),
    Case("yarn borders", "llama", {"rope_scaling": families.YARN | YARN_BORDERS}, (100,)),
    Case("yarn mscale", "llama", {"rope_scaling": families.YARN | YARN_MSCALE}, (100,)),
]

DYNAMIC = {"rope_scaling": {"rope_type": "dynamic", "factor": 32.0}}
LONG_CONTEXT = {"max_position_embeddings": 2048}
CHUNKED = [
    Case("mistral long", "mistral", LONG_CONTEXT, (1100,)),
    Case("gemma3 long", "gemma3", LONG_CONTEXT, (1100,)),
    Case("llama dynamic", "llama", DYNAMIC | {"max_position_embeddings": ORIGINAL}, (1100,)),
]


def ids_of(n_tokens: int) -> list[int]:
    """A text for the tiny models: ids without a pattern, some of them more than once."""
    return [(i * i * 7 + i * 31 + 5) % VOCAB for i in range(n_tokens)]


def error(ours, theirs, size=None) -> float:
    """The largest difference over the largest number of theirs (or `size`); inf where the shapes
    differ, or what is not a finite number.
    """
    shown = np.isfinite(theirs)
    if ours.shape != theirs.shape or not np.array_equal(shown, np.isfinite(ours)):
        return np.inf
    if not np.array_equal(ours[~shown], theirs[~shown]):
        return np.inf
    difference = np.abs(ours[shown] - theirs[shown]).max(initial=0)
    with np.errstate(divide="ignore"):
        return float(difference / (size or largest(theirs))) if difference else 0.0


def largest(array) -> np.float32:
    """The largest absolute value of the cells that are not hidden."""
    return np.abs(array[np.isfinite(array)]).max()


def sample(array) -> np.ndarray:
    """Some cells of an array, always the same ones, spread evenly without following its axes."""
    spread = np.arange(1, CELLS + 1) * ((5**0.5 - 1) / 2) % 1  # the golden ratio: never in step
    return array.reshape(-1)[(spread * array.size).astype(int)]


def save_golden(case, ids, theirs):
    """Write some cells and the largest number of every op and layer, and the last logits.

    theirs: {(op, layer): array} from transformers, in the order of the pass.
    """
    last = ("logits_capped", None) if ("logits_capped", None) in theirs else ("logits", None)
    np.savez_compressed(
        GOLDEN / f"{case.name}.npz",
        ids=np.int32(ids),
        names=[label(*key) for key in theirs],
        cells=np.stack([sample(array) for array in theirs.values()]),
        sizes=np.stack([largest(array) for array in theirs.values()]),
        logits=theirs[last][-1],
    )


def load_golden(name: str) -> dict:
    """ids, names of ops and layers, cells [op, cell], sizes [op], logits of the last position."""
    with np.load(GOLDEN / f"{name}.npz", allow_pickle=False) as file:
        return dict(file)


def label(op, layer) -> str:
    """The op's name in a file: layers.3.attn.q, embed."""
    return op if layer is None else f"layers.{layer}.{op}"
