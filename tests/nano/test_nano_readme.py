"""The README of Nano: sizes, and how it was made. Its figures: test_behaviour."""

import json
from pathlib import Path

from core import open_model
from tools import nano_measure as measure
from tools import nano_readme

README = nano_readme.README.read_text("utf-8")


def test_the_sizes_it_names_are_those_of_the_model():
    model = open_model(measure.NANO)
    c, n_weights = model.config, sum(array.size for array in model.weights.arrays())
    for said in (
        f"{n_weights:,} weights",
        f"{c.n_layers} layers",
        f"width {c.width}",
        f"{c.n_heads} query heads on {c.n_kv_heads} key/value heads of {c.head_dim} numbers",
        f"{c.neurons} neurons",
        f"{c.vocab} tokens",
        f"a context of {c.context}",
    ):
        assert said in " ".join(README.split())


def test_how_it_was_made_is_as_the_checkpoints_say():
    said = json.loads((Path(measure.NANO) / "checkpoints.json").read_text("utf-8"))
    assert f"seed {said['seed']}:" in README
    assert f"{said['steps'][-1]['step']} steps of {said['rows']} rows" in README
    assert f"{said['minutes']} minutes" in README
