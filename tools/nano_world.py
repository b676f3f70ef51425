"""The small world that Nano learns: sentences of a probabilistic grammar, with their exact chance.

A sentence is a template whose slots are filled: free slots by an equal choice, the others follow
from them (the capital from the country). So the log-probability of a text is the sum of the logs of
the choices made, and what a model can know about the next token is known. Three capitals are
real, everything else is invented. Knows words and chances; no tokens, no model.
"""

import math
import re
from dataclasses import dataclass
from functools import cache

PEOPLE = "Ben Tom Sam Tim Dan Pat Pam Sal".split()
ANIMALS = "cat dog hen pig cow ram bat rat".split()
PLACES = "park barn den inn".split()
THINGS = "hat cap pen bag pan ball".split()
COLOURS = "red tan gray green".split()
VERBS = "nap hop sit run dig".split()
CAPITALS = {
    "France": "Paris", "Italy": "Rome", "Peru": "Lima", "Bal": "Bim", "Dal": "Rop",
    "Mal": "Pim", "Ral": "Len", "Tal": "Lop", "Bor": "Dag", "Dor": "Lim",
    "Lor": "Ren", "Mor": "Din", "Sor": "Lam", "Lan": "Sig", "San": "Bom",
    "Dar": "Rin", "Lar": "Dom", "Mar": "Lin", "Sar": "Mig", "Tar": "Mag",
}  # fmt: skip
FOODS = dict(zip(ANIMALS, "ham ham corn corn hay hay corn ham".split(), strict=True))
HATS = dict(zip(PEOPLE, COLOURS * 2, strict=True))

FREE = {
    "person": PEOPLE,
    "other": PEOPLE,
    "animal": ANIMALS,
    "beast": ANIMALS,
    "place": PLACES,
    "thing": THINGS,
    "colour": COLOURS,
    "verb": VERBS,
    "country": list(CAPITALS),
    "start": [str(n) for n in range(6)],
    "code": [f"{n:03}" for n in range(1000)],
    "long_code": [f"{n:04}" for n in range(10_000)],
}
FOLLOWS = {  # slot: (the free slot it follows from, what it is then)
    "capital": ("country", CAPITALS),
    "food": ("animal", FOODS),
    "own": ("person", HATS),
    **{f"next{k}": ("start", {str(n): str(n + k) for n in range(6)}) for k in range(1, 5)},
}
RECALLS = (  # each country is held out of one of these in training
    "The capital of {country} is {capital}.",
    "In {country}, the capital is {capital}.",
    "{country} has a capital, {capital}.",
    "{person} says the capital of {country} is {capital}.",
    "{person} and {other} were in {country}, in {capital}.",
)
KINDS = {  # kind: (its chance, its templates, equally likely)
    "capitals": (0.3, (*RECALLS, "{capital} is the capital of {country}.")),
    "giving": (
        0.2,
        (
            "When {person} and {other} were in the {place}, "
            "{person} gave the {colour} {thing} to {other}.",
            "When {person} and {other} were in the {place}, "
            "{other} gave the {colour} {thing} to {person}.",
            "{person} and {other} were in the {place}, and {person} gave a {thing} to {other}.",
            "{person} and {other} were in the {place}, and {other} gave a {thing} to {person}.",
        ),
    ),
    "number": (
        0.2,
        (
            "The {animal} {verb}s in the {place}.",
            "The {animal}s {verb} in the {place}.",
            "The {animal} by the {beast} {verb}s.",
            "The {animal} by the {beast}s {verb}s.",
            "The {animal}s by the {beast} {verb}.",
            "The {animal}s by the {beast}s {verb}.",
            "The {animal} by the {beast} is {colour}.",
            "The {animal} by the {beast}s is {colour}.",
            "The {animal}s by the {beast} are {colour}.",
            "The {animal}s by the {beast}s are {colour}.",
        ),
    ),
    "always": (
        0.15,
        (
            "The {animal} eats {food}.",
            "The {animal}s eat {food}.",
            "{person} has a {own} hat.",
            "The hat of {person} is {own}.",
        ),
    ),
    "digits": (
        0.15,
        (
            "{person} says {start}, {next1}, {next2}, {next3}, {next4}.",
            "{person} says {code}, and {other} says {code}.",
            "{person} says {long_code}, and {other} says {long_code}.",
        ),
    ),
}
STOP, MOST_SENTENCES = 0.2, 5
REPEATS, MOST_BEFORE = 0.6, 3  # how many texts end in a repeat; sentences before it
SHORTEST, LONGEST = 4, 28  # words of what is repeated
SLOT = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Text:
    """Sentences, and the words that are said after them, again and again until the context is
    full (none: the text ends). logprob: of all of it, in nat.
    """

    sentences: str
    repeated: str
    logprob: float


def text(rng) -> Text:
    """A text of the world. rng: a numpy Generator."""
    if rng.random() >= REPEATS:
        sentences, logprob = _until_stop(rng)
        return Text(sentences, "", math.log(1 - REPEATS) + logprob)
    before = [sentence(rng) for _ in range(rng.integers(MOST_BEFORE + 1))]
    length = rng.integers(SHORTEST, LONGEST + 1)
    repeated = rng.choice(words(), length)
    logprob = math.log(REPEATS / (MOST_BEFORE + 1) / (LONGEST - SHORTEST + 1))
    logprob += sum(chance for _, chance in before) - length * math.log(len(words()))
    return Text(" ".join(said for said, _ in before), " ".join(repeated), float(logprob))


def _until_stop(rng):
    """Sentences of a text that ends: (them, their log-probability)."""
    sentences, logprob = [], 0.0
    while True:
        said, chance = sentence(rng)
        sentences.append(said)
        logprob += chance
        if len(sentences) == MOST_SENTENCES:
            return " ".join(sentences), logprob
        stop = rng.random() < STOP
        logprob += math.log(STOP if stop else 1 - STOP)
        if stop:
            return " ".join(sentences), logprob


def sentence(rng) -> tuple[str, float]:
    """A sentence and its log-probability in nat. Facts that are held out never come."""
    kinds = list(KINDS.values())
    share, templates = kinds[rng.choice(len(kinds), p=[share for share, _ in kinds])]
    template = templates[rng.integers(len(templates))]
    values, logprob = {}, math.log(share / len(templates))
    for slot in free_slots(template):
        left = [v for v in choices(slot, values) if not held_out(template, v)]
        values[slot] = left[rng.integers(len(left))]
        logprob -= math.log(len(left))
    return fill(template, values), logprob


def held_out(template: str, value: str) -> bool:
    """Whether this template never names this country in training."""
    if template not in RECALLS or value not in CAPITALS:
        return False
    return list(CAPITALS).index(value) % len(RECALLS) == RECALLS.index(template)


def held_out_facts() -> list[tuple[str, str]]:
    """(the beginning of a sentence that training never saw, the capital it asks for)."""
    asked = []
    for country, capital in CAPITALS.items():
        template = next(t for t in RECALLS if held_out(t, country))
        values = {"country": country, "person": PEOPLE[0], "other": PEOPLE[1]}
        asked.append((fill(template, values).removesuffix(f" {capital}."), capital))
    return asked


def choices(slot: str, values: dict[str, str]) -> list[str]:
    """What may fill a free slot: nobody and nothing comes twice in a sentence."""
    return [value for value in FREE[slot] if value not in values.values()]


def fill(template: str, values: dict[str, str]) -> str:
    """The sentence of a template. values: of its free slots."""
    determined = {s: of[values[free]] for s, (free, of) in FOLLOWS.items() if free in values}
    return template.format(**values, **determined)


@cache
def free_slots(template: str) -> tuple[str, ...]:
    """The slots that are chosen, in the order in which they are."""
    slots = dict.fromkeys(SLOT.findall(template))
    return tuple(dict.fromkeys(FOLLOWS[s][0] if s in FOLLOWS else s for s in slots))


@cache
def words() -> tuple[str, ...]:
    """All words without their endings, in the order of the alphabet."""
    fixed = " ".join(SLOT.sub(" ", template) for template in templates())
    stems = (re.sub("(?<=eat|say)s$", "", word.strip(".,")) for word in fixed.split())
    free = (word for values in FREE.values() for word in values)
    followed = (word for _, of in FOLLOWS.values() for word in of.values())
    found = {word for word in (*stems, *free, *followed) if word.isalpha()}
    return tuple(sorted(found - {"s"}))


def templates() -> list[str]:
    """All templates of all kinds."""
    return [template for _, templates in KINDS.values() for template in templates]


def readings(said: str) -> list[tuple[str, dict[str, str]]]:
    """Every (template, values of its free slots) that gives exactly this sentence."""
    found = ((t, _values(t, said)) for t in templates())
    return [(template, values) for template, values in found if values is not None]


def _values(template, said):
    match = _pattern(template).fullmatch(said)
    if match is None:
        return None
    given, values = match.groupdict(), {}
    for slot in free_slots(template):
        value = given.get(slot) or _back(slot, given)
        if value not in choices(slot, values):
            return None
        values[slot] = value
    return values if fill(template, values) == said else None


def _back(slot, given):
    """A free slot's value where only what follows from it is written."""
    found = ((of, given[s]) for s, (free, of) in FOLLOWS.items() if free == slot and s in given)
    return next((value for of, word in found for value in of if of[value] == word), None)


@cache
def _pattern(template):
    """A regular expression with one group per slot; a slot's second place repeats its first."""
    parts, seen = SLOT.split(template), set()
    for n in range(1, len(parts), 2):
        slot = parts[n]
        parts[n] = f"(?P={slot})" if slot in seen else rf"(?P<{slot}>\w+?)"
        seen.add(slot)
    return re.compile("".join(p if n % 2 else re.escape(p) for n, p in enumerate(parts)))


def is_sentence(said: str) -> bool:
    """Whether the grammar can say this sentence, held out or not."""
    return bool(readings(said))
