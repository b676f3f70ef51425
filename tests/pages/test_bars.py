"""The bars of the Output page: some at first, all of a small vocabulary on demand."""

import json

import pytest

from core import RunSpec, run
from tests.conftest import SMOLLM
from tests.pages.reader import open_page

PROMPT = "The cat eats"


def bars(app):
    """How long the bars are, the first on top."""
    spec = json.loads(app.get("plotly_chart")[0].proto.spec)
    return len(spec["data"][0]["customdata"])


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_all_tokens_of_a_small_vocabulary_are_drawn_on_demand(lang):
    n = len(run(RunSpec("nano", prompt=PROMPT)).logits())
    app = open_page("output", model="nano", prompt=PROMPT, op="probs", lang=lang)
    assert bars(app) == 20 < n
    app.toggle(key="all_bars").set_value(True).run()
    assert bars(app) == n and not app.exception


def test_a_large_vocabulary_has_no_such_switch(smollm):
    app = open_page("output", model=SMOLLM, op="probs")
    assert bars(app) == 20 and not [t for t in app.toggle if t.key == "all_bars"]
