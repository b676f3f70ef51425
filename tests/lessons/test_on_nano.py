"""What the lessons say of Nano, on the weights that ship with the program."""

import numpy as np
import pytest

from core import RunSpec, open_model, run
from tools import nano_world as world

DECIDED = {  # by a rule of its world
    "The cow eats": world.FOODS["cow"],
    "Pat has a": world.HATS["Pat"],
    "When Ben and Sam were in the park, Ben gave the red ball to": "Sam",
}
FREE = ("When Ben and Sam were in the", "The capital of")


@pytest.fixture(scope="module")
def nano():
    return open_model("nano")


def probabilities(prompt: str) -> np.ndarray:
    """Of the token after a prompt."""
    scores = run(RunSpec(model="nano", prompt=prompt)).logits()
    powers = np.exp(scores - scores.max())
    return powers / powers.sum()


@pytest.mark.parametrize("prompt", DECIDED)
def test_output_where_a_rule_decides_one_token_gets_most_of_the_probability(prompt, nano):
    p = probabilities(prompt)
    assert nano.tokenizer.display(int(p.argmax())) == f"␣{DECIDED[prompt]}"
    assert p.max() > 0.5


@pytest.mark.parametrize("prompt", FREE)
def test_output_where_the_grammar_is_free_several_share_it(prompt):
    first, *_, fourth = np.sort(probabilities(prompt))[::-1][:4]
    assert first < 0.5 and fourth > 0.05


def test_tokens_nearly_every_word_of_its_world_is_one_token(nano):
    words = world.words()
    whole = [word for word in words if len(nano.tokenizer.encode(word)) == 1]
    assert 0.9 < len(whole) / len(words) < 1


def test_tokens_what_it_has_no_character_for_is_one_and_the_same_token(nano):
    ids = {nano.tokenizer.encode(f"The {character}")[-1] for character in "zü好🙂"}
    assert ids == {nano.tokenizer.special["<unk>"]}
