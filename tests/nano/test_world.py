"""The world: chances that add up, sentences that read one way, facts that training never says."""

import math
from itertools import product

import numpy as np
import pytest

from tools import nano_world as world

KINDS = [kind for kind in world.KINDS if kind != "digits"]


def rng(seed=0):
    return np.random.default_rng(seed)


def every_sentence(kind):
    """{sentence: its chance} by plain enumeration, a second way beside `sentence`."""
    share, templates = world.KINDS[kind]
    found = {}
    for template in templates:
        slots = world.free_slots(template)
        filled = [
            dict(zip(slots, values, strict=True))
            for values in product(*(world.FREE[slot] for slot in slots))
            if len(set(values)) == len(values)
            and not any(world.held_out(template, value) for value in values)
        ]
        for values in filled:
            said = world.fill(template, values)
            found[said] = found.get(said, 0) + share / len(templates) / len(filled)
    return found


def test_kinds_are_all_there_is():
    assert math.isclose(sum(share for share, _ in world.KINDS.values()), 1)


@pytest.mark.parametrize("kind", KINDS)
def test_chances_of_a_kind_add_up_to_its_share(kind):
    assert math.isclose(sum(every_sentence(kind).values()), world.KINDS[kind][0])


def test_a_sentence_comes_with_the_chance_that_counting_gives_it():
    chances = {s: p for kind in KINDS for s, p in every_sentence(kind).items()}
    chance_of, seen = rng(), 0
    for _ in range(500):
        said, logprob = world.sentence(chance_of)
        if said in chances:
            seen += 1
            assert math.isclose(math.exp(logprob), chances[said])
    assert seen > 300


def test_a_worked_example():
    """Three tenths, one of six templates, 16 of 20 countries: the others are held out."""
    chances = every_sentence("capitals")
    assert math.isclose(chances["The capital of Italy is Rome."], 0.3 / 6 / 16)
    assert "The capital of France is Paris." not in chances


def test_every_sentence_reads_in_one_way_and_gives_its_values_back():
    chance_of = rng(1)
    for _ in range(500):
        said, _ = world.sentence(chance_of)
        ((template, values),) = world.readings(said)
        assert world.fill(template, values) == said


@pytest.mark.parametrize(
    "words",
    [
        "The capital of France is Rome.",
        "The cat by the dogs are red.",
        "The cat sleeps in the barn.",
        "The cat by the cat is red.",
        "When Ben and Ben were in the den, Ben gave the red hat to Ben.",
        "When Ben and Tom were in the den, Ben gave the red hat to Ben.",
        "Ben says 417, and Tom says 418.",
        "Ben says 3, 4, 5, 6, 8.",
        "The cat eats corn.",
        "the cat eats ham.",
        "The cat eats ham. ",
        "The cat eats ham",
        "",
    ],
)
def test_what_is_no_sentence(words):
    assert not world.is_sentence(words)


def test_what_is_held_out_is_a_sentence_and_is_never_said():
    asked = world.held_out_facts()
    assert len(asked) == len(world.CAPITALS) == 20
    said = {world.sentence(r)[0] for r in [rng(2)] for _ in range(5000)}
    for ask, told in asked:
        assert world.is_sentence(f"{ask} {told}.")
        assert f"{ask} {told}." not in said


def test_every_fact_is_said_in_the_other_ways():
    said = {world.sentence(r)[0] for r in [rng(3)] for _ in range(5000)}
    for country, capital in world.CAPITALS.items():
        ways = [t.format(country=country, capital=capital) for t in world.RECALLS[:3]]
        kept = [not world.held_out(t, country) for t in world.RECALLS[:3]]
        assert [way in said for way in ways] == kept
        assert sum(world.held_out(t, country) for t in world.RECALLS) == 1


def test_words_are_those_of_the_sentences():
    known = set(world.words())
    for said in (world.sentence(r)[0] for r in [rng(8)] for _ in range(300)):
        found = {word.strip(".,") for word in said.split()}
        assert all(w in known or w.removesuffix("s") in known or w.isdigit() for w in found)
    assert {"The", "cat", "eat", "gave", "Paris"} <= known and not {"cats", "s", "417"} & known


def test_a_text_is_sentences_and_perhaps_a_repeat():
    chance_of, repeats = rng(4), 0
    for _ in range(300):
        text = world.text(chance_of)
        repeats += bool(text.repeated)
        again = text.repeated.split()
        assert not again or world.SHORTEST <= len(again) <= world.LONGEST
        assert set(again) <= set(world.words())
        ends = text.sentences.replace(". ", ".\n").splitlines()
        assert all(map(world.is_sentence, ends)) and len(ends) <= world.MOST_SENTENCES
        assert ends or again
    assert abs(repeats / 300 - world.REPEATS) < 0.1


def test_the_chance_of_a_text_by_hand(monkeypatch):
    """A repeat with nothing before it: one of 4 beginnings, one of 25 lengths, its words."""
    monkeypatch.setattr(world, "sentence", lambda rng: ("One.", math.log(0.5)))
    monkeypatch.setattr(world, "REPEATS", 0.3)
    chance_of = rng(5)
    texts = [world.text(chance_of) for _ in range(400)]
    alone = next(t for t in texts if t.repeated and not t.sentences)
    by_hand = math.log(0.3 / 4 / 25) - len(alone.repeated.split()) * math.log(96)
    assert math.isclose(alone.logprob, by_hand)
    two = next(t for t in texts if t.sentences == "One. One." and not t.repeated)
    assert math.isclose(two.logprob, math.log(0.7 * 0.5 * 0.8 * 0.5 * 0.2))
    full = next(t for t in texts if t.sentences.count(".") == 5)
    assert math.isclose(full.logprob, math.log(0.7 * 0.5**5 * 0.8**4))


def test_the_same_seed_gives_the_same_text():
    assert world.text(rng(6)) == world.text(rng(6)) != world.text(rng(7))
