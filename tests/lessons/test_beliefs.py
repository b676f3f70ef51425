"""What is often believed: quoted in one line, answered by the run, and true for every family.

Knows the section Misread of the lessons of ops; no page and no run.
"""

import re

import pytest

import lessons
from core.analyse import misreadings
from tests.lessons.models import CONFIGS, MISREAD
from tests.lessons.test_lessons import ALL, fields, placeholders
from tests.lessons.test_tags import MODES, filled, markers, said_by_some

HOLDS = [  # family, op, layer, what its answer says
    ("llama", "embed", None, "numbers that enter layer 0 equal those of the row"),
    ("gemma", "resid_pre", 0, "first multiplied by the constant 4.89898"),
    ("gpt2", "resid_pre", 0, "In this model it is: a row of its own for each position"),
    ("gemma2", "attn_norm", 0, "normed once more, but still before the sum"),
    ("llama", "resid_mid", 0, "the copy that attention reads"),
    ("gpt_neox", "resid_mid", 0, "the copy that attention reads"),
    ("gemma2", "resid_mid", 0, "at both ends"),
    ("olmo2", "resid_mid", 0, "at its end"),
    ("smollm3", "attn.scores", 3, "score the same at every distance"),
    ("gpt2", "attn.scores", 0, "Positions were added before the first layer"),
]
HOLDS_NOT = [
    ("llama", "resid_pre", 0, "a row of its own for each position"),
    ("llama", "embed", None, "first multiplied by the constant"),
    ("gpt2", "resid_pre", 0, "Not in this model."),
    ("llama", "attn_norm", 0, "normed once more"),
    ("gemma2", "resid_mid", 0, "the copy that attention reads"),
    ("olmo2", "resid_mid", 0, "the copy that attention reads"),
    ("gpt2", "attn.scores", 0, "score the same at every distance"),
    ("llama", "attn.scores", 0, "turns nothing"),
]


@pytest.mark.parametrize("language", lessons.LANGUAGES)
@pytest.mark.parametrize("kind, name, tags", ALL)
def test_a_belief_is_quoted_in_one_line_and_answered(language, kind, name, tags):
    """The belief stands alone, with nothing to fill in; the answer is of the run."""
    misread = fields(language, kind, name, tags).get("misread", "")
    assert bool(misread) == (kind == "ops" and name in MISREAD)
    if misread:
        belief, _, answer = misread.partition("\n\n")
        assert belief.startswith("“") and "”" in belief and not placeholders(belief)
        assert len(belief) < 100 and answer


@pytest.mark.parametrize("op", MISREAD)
def test_tags_of_beliefs_stand_in_their_own_section_only(op):
    """The other sections are shown without them."""
    of_beliefs = frozenset().union(*map(misreadings.tags, CONFIGS.values()))
    assert of_beliefs == {"learned", "stretched", "behind", "both"}
    for name, used in markers("en", f"ops/{op}").items():
        found = set(re.findall(r"\w+", str(used)))
        assert name == "misread" or not found & of_beliefs, name


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("family, op, layer, words", HOLDS)
def test_an_answer_says_what_its_model_does(family, op, layer, words, mode):
    assert words in filled(family, op, layer, mode=mode)


@pytest.mark.parametrize("family, op, layer, words", HOLDS_NOT)
def test_an_answer_does_not_say_what_its_model_does_not_do(family, op, layer, words):
    assert said_by_some(op, words)
    assert not any(words in filled(family, op, layer, mode=mode) for mode in MODES)
