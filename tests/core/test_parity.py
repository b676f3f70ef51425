"""Every op of every family against values that transformers computed: tests/golden, written by
`make parity` (tools/parity.py --golden). Here without torch; and decoding against the full pass.
"""

import numpy as np
import pytest

from core import RunSpec, generate, open_model, run
from core.decode.sampling import log_softmax
from core.record.catalogue import catalogue_of
from tools import parity_ours as ours
from tools.parity_cases import (
    FAMILIES,
    GOLDEN,
    LIMIT,
    SCALINGS,
    error,
    ids_of,
    label,
    load_golden,
    sample,
)
from tools.parity_controls import CONTROLS

CASES = {case.name: case for case in (*FAMILIES, *SCALINGS)}
each_case = pytest.mark.parametrize("name", CASES)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Every tiny model, once."""
    root = tmp_path_factory.mktemp("parity")
    return {name: case.build(root) for name, case in CASES.items()}


def errors(taken: dict, golden) -> dict:
    """Label and error of every op and layer over the limit; inf for one that is not there."""
    named = {label(*key): array for key, array in taken.items()}
    found = {}
    for name, cells, size in zip(golden["names"], golden["cells"], golden["sizes"], strict=True):
        e = error(sample(named[name]), cells, size) if name in named else np.inf
        if not e <= LIMIT:
            found[str(name)] = e
    return found


def wanted(model):
    """Labels of every op of every layer that the model has."""
    catalogue = catalogue_of(model.config)
    return {label(op, n) for op in catalogue.ids for n in catalogue.layers_with(op)}


def test_every_golden_file_has_its_model():
    assert {path.stem for path in GOLDEN.glob("*.npz")} == set(CASES)


@each_case
def test_golden_values_cover_the_catalogue(name, folder):
    assert set(load_golden(name)["names"]) == wanted(open_model(folder[name]))


@each_case
def test_every_op_is_what_transformers_computed(name, folder):
    golden = load_golden(name)
    assert errors(ours.values(open_model(folder[name]), golden["ids"]), golden) == {}


@each_case
def test_logits_of_a_run_are_what_transformers_computed(name, folder):
    golden = load_golden(name)
    logits = run(RunSpec(folder[name], ids=golden["ids"].tolist())).logits()
    assert error(logits, golden["logits"]) <= LIMIT


@pytest.mark.parametrize("control", CONTROLS, ids=lambda c: f"{c.case}: {c.name}")
def test_known_mistakes_are_found(control, folder):
    golden = load_golden(control.case)
    wrong = control.wrong(open_model(folder[control.case]))
    assert errors(ours.values(wrong, golden["ids"]), golden)


@each_case
@pytest.mark.parametrize("n_prompt", [1, 17])
def test_decoding_is_the_full_pass(name, n_prompt, folder):
    # as long as the original context holds all of it; past it "dynamic" and "longrope" differ by
    # design: keys in the cache stay as they were turned
    model, ids = open_model(folder[name]), ids_of(32)
    whole = ours.values(model, ids)[catalogue_of(model.config).last, None]
    assert error(ours.decode(model, ids, n_prompt), whole[n_prompt - 1 :]) <= LIMIT


@pytest.mark.parametrize("name", [case.name for case in FAMILIES])
def test_generated_tokens_have_the_probabilities_of_full_passes(name, folder):
    ids = ids_of(24)
    for event in generate(RunSpec(folder[name], ids=ids, max_new_tokens=6)):
        logits = run(RunSpec(folder[name], ids=ids)).logits()
        right = log_softmax(logits.astype(np.float64))[event.id]
        assert abs(event.logprob - right) <= 2 * LIMIT * np.abs(logits).max()
        ids = [*ids, event.id]
    assert len(ids) > 24
