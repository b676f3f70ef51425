"""Write: what the page shows equals what `generate` makes of the same spec; buttons, links, ends
and examples.
"""

import math
import re

import pytest

import lessons
from core import open_model
from core.spec import ORDERS
from pages.parts import html
from tests import tiny
from tests.conftest import SMOLLM
from tests.pages import reader
from tests.pages.writing import FRANCE, expected, ids, open_view, press, settled, strips

EACH_LANGUAGE = pytest.mark.parametrize("lang", lessons.LANGUAGES)


@EACH_LANGUAGE
def test_it_begins_with_one_guess_and_grows_by_buttons(lang):
    app, events = open_view(model="nano", lang=lang, prompt=FRANCE), expected()
    assert ids(app) == [events[0].id] and "cell" not in app.query_params
    meta, arrays = strips(app)[0]
    assert "".join(meta["before"]).removeprefix("<s>").strip() == FRANCE
    assert arrays["probs"].tolist() == pytest.approx([math.exp(events[0].logprob)], rel=1e-6)
    press(app, "step")
    assert ids(app) == [e.id for e in events[:2]]
    press(app, "run")
    assert ids(app) == [e.id for e in events] and app.button(key="writing_run").disabled
    assert events[-1].stop == "limit" and len(events) == 40
    assert reader.notices(app) == [lessons.text(lang, "loop.text.why_limit").replace("**", "")]
    press(app, "again")
    assert ids(app) == [events[0].id]


def test_a_link_opens_a_text_with_its_token_explained():
    app = open_view(model="nano", prompt=FRANCE, at=6, seed=5, top_k=20)
    events = expected(seed=5, top_k=20, n=7)
    assert ids(app) == [e.id for e in events] and strips(app)[0][0]["selected"] == 6
    event, shown = events[6], reader.text(app)
    assert f"u = {event.u:.4f}" in shown and f"id {event.id}" in shown
    low = event.draw.cumulative[event.draw.place]
    assert f"from {low:.4f} to {low + event.prob:.4f}" in shown
    table = next(part for part in reader.html(app) if "tw-written" in part)
    assert table.count("<tr") >= 9 and table.count("data-branch") >= 7
    app.session_state["written_check"] = True
    assert reader.verdict(app.run()) == "equal"


def test_other_settings_write_another_text():
    app = open_view(model="nano", prompt=FRANCE, cell=12)
    app.slider(key="set_temperature").set_value(0.0).run()
    assert ids(settled(app)) == [e.id for e in expected(n=12, temperature=0.0)]
    assert lessons.text("en", "loop.text.greedy", kept="", prob="", ms="")[:9] in reader.text(app)
    assert lessons.text("en", "loop.text.card_greedy") in reader.text(app)
    app.number_input(key="set_max_new_tokens").set_value(5).run()
    assert len(ids(settled(app))) == 5 and "limit of tokens" in " ".join(reader.notices(app))


@pytest.mark.parametrize("name", ["repeats", "broken", "hot"])
def test_examples_of_nano_run_at_a_click(name):
    app = open_view(model="nano", prompt="The cats")
    settled(app.button(key=f"example_{name}").click().run())
    settings = {"repeats": {"temperature": 0.0}, "hot": {"temperature": 2.0}}
    settings["broken"] = {"temperature": 0.0, "repetition_penalty": 1.1}
    found = ids(app)
    assert found == [e.id for e in expected(**settings[name])]
    assert not reader.missing(app, lessons.text("en", f"loop.text.note.{name}"))
    assert (found[-7:] == found[-14:-7]) == (name == "repeats")


def test_a_question_without_its_template_ends_at_once_and_in_chat_is_answered(smollm):
    app = open_view(model=SMOLLM)
    settled(app.button(key="example_bare").click().run())
    assert ids(app) == [2] and strips(app)[0][0]["special"] == [True]
    (said,) = reader.notices(app)
    assert "<|im_end|>" in said and "id 2" in said
    settled(app.button(key="example_chat").click().run())
    meta = strips(app)[0][0]
    assert "".join(meta["tokens"]) == "The capital of France is Paris.<|im_end|>"
    assert "<|im_start|>assistant" in "".join(meta["before"])


def test_a_text_that_repeats_feeds_itself(smollm):
    app = open_view(model=SMOLLM, prompt="Hi", temperature=0, cell=24)
    meta, arrays = strips(app)[0]
    party = [n for n, token in enumerate(meta["tokens"]) if token == "party"]
    assert len(party) > 4
    probs = arrays["probs"][party]
    assert probs[-1] > 0.85 and probs[0] < 0.25


@EACH_LANGUAGE
def test_the_answer_says_why_it_ended_and_what_was_least_expected(lang):
    app = open_view(model="nano", lang=lang, prompt=FRANCE, cell=40)
    app.session_state["reveal"] = True
    app.run()
    events = expected()
    least = min(events, key=lambda e: e.logprob)
    sure, name = sum(e.logprob > math.log(0.5) for e in events), "loop"
    assert not reader.missing(app, lessons.page(lang, name).reveal)
    told = reader.plain(next(part for part in reader.html(app) if _is_answer(part, lang)))
    assert re.search(rf"\D{len(events)}\D+{sure}\D", told)
    assert open_model("nano").tokenizer.display(least.id) in told
    assert html.percent(math.exp(least.logprob)) in told


def _is_answer(part, lang):
    last = reader.pieces(lessons.page(lang, "loop").reveal)[1]
    return last in reader.plain(part)


# ---- what links and models bring -----------------------------------------------------------------


@pytest.mark.parametrize(
    "link", [{"cell": 999}, {"at": 999}, {"at": 0}, {"seed": "x"}, {"cell": 0}]
)
@pytest.mark.parametrize("op", ["text", "branch"])
def test_what_a_link_asks_for_is_bounded(op, link):
    app = open_view(op, model="nano", prompt="The", **link)
    assert 1 <= len(ids(app)) <= 40


@pytest.mark.parametrize("prompt", ["<b>x</b>", "🙂", "\n", "the the the", "\u202e"])
def test_any_prompt_is_continued_and_shown_as_text(prompt):
    app = open_view(model="nano", prompt=prompt, cell=3, temperature=2, order=ORDERS[1])
    assert len(ids(app)) >= 1 and not any("<b>x" in part for part in reader.html(app))


def test_the_end_of_the_context_is_said(tmp_path, monkeypatch):
    path = tiny.build(tmp_path / "short.gguf", {"llama.context_length": 6})
    monkeypatch.setenv("TOKENWALK_MODELS", path)
    app = open_view(model="short", prompt="the", cell=40)
    n = len(open_model(path).tokenizer.encode("the"))
    assert ids(app)[-1] not in open_model(path).tokenizer.end_ids
    assert len(ids(app)) == 6 - n + 1
    assert "context is full" in " ".join(reader.notices(app))


def test_a_long_prompt_shows_its_end():
    app = open_view(model="nano", prompt="The cat " * 60, cell=2)
    before = strips(app)[0][0]["before"]
    assert before[0] == "… " and len(before) == 61
