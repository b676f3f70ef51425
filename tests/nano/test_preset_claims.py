"""What is said of Nano's prompts, measured on its weights: the guess, where the head that a prompt
names looks, and what becomes of the guess when that head is switched off.

Knows the sentences of lessons/<language>/ui.toml by what they claim; the numbers come from runs.
"""

import pytest

import lessons
from core.analyse.overview import overview
from core.model.tap import Edit
from tools import nano_world as world
from tools.nano_claims import CLAIMS, HALF, guess, kept_without, looks, preset, trace_of
from tools.nano_measure import scores


def at(id):
    """The layer and head that a prompt names."""
    return preset(id).layer, preset(id).head


def test_every_prompt_is_measured():
    assert CLAIMS.keys() == {preset.id for preset in lessons.presets("nano")}


@pytest.mark.parametrize("id", [id for id, claim in CLAIMS.items() if claim.guess])
def test_the_guess_is_what_is_said(id):
    assert guess(trace_of(preset(id).prompt)) == CLAIMS[id].guess


@pytest.mark.parametrize("id", [id for id, claim in CLAIMS.items() if claim.at])
def test_the_head_looks_where_it_is_said_to(id):
    assert looks(id, *at(id)) > CLAIMS[id].share


@pytest.mark.parametrize("id", [id for id, claim in CLAIMS.items() if claim.needed])
def test_without_the_head_the_guess_loses_most_of_its_probability(id):
    assert kept_without(id, *at(id)) < HALF


def test_training_never_had_this_sentence_about_france():
    template = world.RECALLS[0]
    assert template.format(country="France", capital="Paris").startswith(preset("fact").prompt)
    assert world.held_out(template, "France")


def test_who_gives_decides_and_not_the_order_of_the_names():
    other = preset("names").prompt.replace("Ben gave", "Tom gave")
    assert guess(trace_of(other)) == "␣Ben"


def test_the_head_looks_at_tom_whoever_gives():
    prompt, (layer, head) = preset("names").prompt, at("names")
    for said in (prompt, prompt.replace("Ben gave", "Tom gave")):
        trace = trace_of(said)
        assert trace.tokens[4] == "␣Tom" and trace.read("attn.weights", layer)[head, -1, 4] > 0.9


def test_without_the_head_the_guess_is_the_giver():
    layer, head = at("names")
    off = trace_of(preset("names").prompt, Edit("attn.mix", layer=layer, head=head))
    assert guess(off) == "␣Ben"


def test_the_head_looks_more_at_the_s_of_cats_than_at_any_other_token():
    (layer, head), trace = at("number"), trace_of(preset("number").prompt)
    assert int(trace.read("attn.weights", layer)[head, -1].argmax()) == 3


def test_the_head_of_the_repeat_is_an_induction_head_elsewhere_too():
    assert scores("nano")["induction"][at("repeat")] > 0.7  # on repeats of random tokens


def test_the_answer_comes_from_far_behind():
    ranks = overview(trace_of(preset("answer").prompt)).lens.ranks
    assert ranks[0] > 5 and ranks[-1] == 1
    assert world.HATS["Sam"] == "gray"


def test_the_verb_goes_with_the_first_noun():
    for prompt, right, wrong in (
        (preset("number").prompt, "are", "is"),
        ("The cat by the dogs", "is", "are"),
    ):
        trace = trace_of(prompt)
        right, wrong = (trace.model.tokenizer.encode(word)[0] for word in (right, wrong))
        assert trace.probs()[right] > 10 * trace.probs()[wrong]


def test_peru_is_three_tokens():
    assert trace_of(preset("pieces").prompt).tokens[2:5] == ("␣P", "er", "u")


def test_a_cat_in_the_place_of_a_zebra_eats_a_food():
    foods = {f"␣{food}" for food in world.FOODS.values()}
    assert guess(trace_of("The cat eats")) in foods
    assert guess(trace_of(preset("unknown").prompt)) not in foods
    assert not any(animal in preset("unknown").prompt for animal in world.ANIMALS)


def test_a_space_at_the_end_takes_the_answer_away():
    assert preset("space").prompt == preset("fact").prompt + " "
    assert trace_of(preset("space").prompt).tokens[-1] == "␣"
    paris = int(trace_of(preset("fact").prompt).logits().argmax())
    assert trace_of(preset("space").prompt).probs()[paris] < 0.05
    assert at("space") == at("fact")
