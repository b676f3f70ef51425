"""What the committed Nano does, measured by our own engine: what models/nano/README.md promises.

Knows bounds; the measures are those of tools/nano_measure.py.
"""

import functools
import json
from pathlib import Path

import numpy as np
import pytest

from core import RunSpec, open_model, run
from core.analyse import learning
from core.files import checkpoints
from tools import nano_measure as measure
from tools import nano_readme

FOLDER = Path(measure.NANO)
GOLDEN = Path(__file__).with_name("golden.json")  # written by tools/nano_golden.py
FORMED, ABSENT = 0.8, 0.2  # of an induction score: there is such a head, there is none
NEAR = 1.1  # the loss as a multiple of the entropy

ONCE = ("losses", "scores", "facts_recalled", "receivers", "agreement", "continuation")
ONCE += ("second_copy_accuracy",)


@pytest.fixture(scope="module", autouse=True)
def measured_once():
    """Each of these takes a second or two, and several tests read the same one."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ONCE:
            patch.setattr(measure, name, functools.cache(getattr(measure, name)))
        yield


@pytest.fixture(scope="module")
def training():
    """The checkpoints, the first first."""
    return checkpoints.beside(FOLDER)


@pytest.fixture(scope="module")
def heads():
    """Scores of every head, [layer, head], by name."""
    return measure.scores(measure.NANO)


@pytest.fixture(scope="module")
def moments(training):
    """What each checkpoint can do with repeated words."""
    return [learning.skill(checkpoint.path) for checkpoint in training.checkpoints]


# ---- what it can do ------------------------------------------------------------------------------


@pytest.mark.parametrize("part", ["all", "sentences", "repeats"])
def test_the_loss_on_held_out_texts_is_near_the_entropy_of_the_generator(part):
    loss, floor = measure.losses(measure.NANO)[part]
    assert loss <= floor * NEAR
    assert loss >= floor * 0.99  # nobody beats the dice by more than the luck of 256 texts


def test_facts_are_recalled_in_sentences_that_training_never_had():
    assert len(measure.facts()) >= 100
    assert measure.facts_recalled(measure.NANO) >= 0.95


def test_who_was_given_it_is_told_in_both_orders():
    assert measure.receivers(measure.NANO) >= 0.9


def test_the_verb_agrees_with_the_first_of_two_nouns():
    assert measure.agreement(measure.NANO) >= 0.95


def test_repeated_random_words_are_continued():
    assert measure.second_copy_accuracy(measure.NANO) >= 0.9


def test_one_head_is_an_induction_head_and_one_looks_at_the_token_before(heads):
    assert heads["induction"].max() >= 0.8
    assert heads["previous"].max() >= 0.8


def test_it_writes_sentences_of_the_grammar():
    assert len(measure.PROMPTS) == len(set(measure.PROMPTS)) == 10
    wrong = [p for p in measure.PROMPTS if not measure.is_grammatical(continued(p))]
    assert wrong == []


def continued(prompt):
    """The prompt and its continuation of 60 tokens or more."""
    said, words = measure.continuation(measure.NANO, prompt), open_model(measure.NANO).tokenizer
    assert said.startswith(prompt) and len(words.encode(said)) - len(words.encode(prompt)) >= 60
    return said


@pytest.mark.parametrize("text", ["The cat eats ham", "The cats eats ham.", "Cat the.", ""])
def test_the_check_of_the_grammar_can_fail(text):
    assert not measure.is_grammatical(text)


def test_the_measures_can_fail(training):
    """At step 0 the weights are random, and so are the answers."""
    first = training.checkpoints[0].path
    loss, floor = measure.losses(first)["all"]
    assert loss > 2 * floor
    assert measure.facts_recalled(first) < 0.1
    assert measure.second_copy_accuracy(first) < 0.1
    assert measure.grammatical(first) == 0


def test_the_readme_has_the_table_of_what_is_measured():
    readme = nano_readme.README.read_text("utf-8")
    table = readme.split(nano_readme.FIRST)[1].split(nano_readme.LAST)[0].splitlines()
    assert table[2:] == nano_readme.figures(measure.NANO)


# ---- how it came there ---------------------------------------------------------------------------


def test_six_checkpoints_from_random_to_trained(training):
    steps = [checkpoint.step for checkpoint in training.checkpoints]
    assert len(steps) == 6 and steps[0] == 0
    assert Path(training.checkpoints[-1].path).name == "model.safetensors"


def test_the_losses_that_the_file_states_are_those_that_our_engine_measures(training):
    stated = [checkpoint.loss for checkpoint in training.checkpoints]
    *before, last = training.checkpoints
    assert open_model(last.path).source.sha256 == open_model(measure.NANO).source.sha256
    places = [*(checkpoint.path for checkpoint in before), measure.NANO]
    found = [measure.losses(place)["all"][0] for place in places]
    np.testing.assert_allclose(stated, found, rtol=2e-3)
    assert training.entropy == pytest.approx(measure.entropy(), abs=1e-4)
    assert stated == sorted(stated, reverse=True)


def test_the_induction_head_forms_on_the_way(moments):
    best = [learning.best(moment.induction)[0] for moment in moments]
    assert best[0] < ABSENT and best[-1] >= FORMED
    assert any(ABSENT <= score < FORMED for score in best)


def test_both_kinds_of_heads_form_in_the_same_stretch(moments):
    """As the lesson of the page says: at the same moment of those kept, or at the next."""
    previous = [learning.best(moment.previous)[0] for moment in moments]
    induction = [learning.best(moment.induction)[0] for moment in moments]
    n, m = learning.first_above(previous, 0.5), learning.first_above(induction, 0.5)
    assert abs(n - m) <= 1
    layers = [learning.best(getattr(moments[-1], name))[1] for name in ("previous", "induction")]
    assert layers[0] < layers[1]  # what one writes the other reads


def test_words_are_copied_from_when_there_is_an_induction_head(moments):
    assert moments[0].copied < 0.1 and moments[-1].copied >= 0.9


# ---- the folder ----------------------------------------------------------------------------------


def test_the_folder_is_small_and_holds_no_pickle():
    files = [file for file in FOLDER.rglob("*") if file.is_file()]
    assert sum(file.stat().st_size for file in files) < 1_000_000
    assert {file.suffix for file in files} <= {".json", ".safetensors", ".md"}
    assert not any(file.read_bytes()[:2] in (b"PK", b"\x80\x02", b"\x80\x04") for file in files)


@pytest.mark.parametrize("n", range(6))
def test_every_checkpoint_is_a_model_of_the_same_shape(n, training):
    ours, last = open_model(training.checkpoints[n].path), open_model(measure.NANO)
    assert ours.config == last.config and ours.tokenizer.tokens == last.tokenizer.tokens
    assert all(np.isfinite(array).all() for array in ours.weights.arrays())
    assert sum(array.size for array in ours.weights.arrays()) < 100_000


# ---- as transformers has it ----------------------------------------------------------------------


def test_logits_are_those_of_transformers():
    """In float32; the numbers were computed once and are kept with the hash of the weights."""
    golden = json.loads(GOLDEN.read_text())
    sha256 = open_model(measure.NANO).source.sha256
    assert golden["sha256"] == sha256, "the weights are others: run tools/nano_golden.py again"
    for row in golden["runs"]:
        trace = run(RunSpec(measure.NANO, prompt=row["prompt"]))
        assert list(trace.ids) == row["ids"]  # and the tokenizer's ids are those of transformers
        theirs = np.array(row["logits"], np.float32)
        assert np.abs(trace.logits() - theirs).max() <= 1e-5 * np.abs(theirs).max()
