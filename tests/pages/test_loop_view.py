"""Write and Branch: what the page shows equals what `generate` makes of the same spec; buttons,
links, ends and examples.
"""

import math
import re
import threading

import pytest

import lessons
from core import RunSpec, open_model, run
from core.decode import background
from core.decode.generate import generate
from core.run import prompt_ids
from core.spec import ORDERS
from pages.parts import html, writing
from tests import tiny
from tests.conftest import SMOLLM
from tests.pages import reader

EACH_LANGUAGE = pytest.mark.parametrize("lang", lessons.LANGUAGES)
FRANCE = "The capital of France is"


def open_view(op="text", **link):
    app = reader.open_page("loop", op=op, **link)
    return settled(app)


def settled(app):
    """The page when all that it waits for has come: its button to stop is off."""
    for _ in range(200):
        assert not app.exception and not reader.notices(app, "error")
        stop = [button for button in app.button if button.key == "writing_stop"]
        if stop and stop[0].disabled:  # before the text has come to a fork there is none
            return app
        app.run()
    raise AssertionError("it never ends")


def strips(app):
    return [
        (meta, arrays)
        for meta, arrays in reader.figures(app)
        if "before" in meta and "tokens" in meta
    ]


def ids(app, number=0):
    return strips(app)[number][0]["ids"]


def expected(model="nano", n=40, prompt=FRANCE, **settings):
    spec = RunSpec(model, prompt=prompt, max_new_tokens=n, **({"temperature": 1.0} | settings))
    return list(generate(spec))


def press(app, name):
    return settled(app.button(key=f"writing_{name}").click().run())


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


# ---- while it is written -------------------------------------------------------------------------


@pytest.fixture
def gate(monkeypatch):
    """gate.at: how many tokens of a text come before `gate.go` is set."""

    class Gate:
        at, go = 5, threading.Event()

        def generate(self, spec):
            for event in generate(spec):
                if event.step >= self.at:
                    self.go.wait(20)
                yield event

    gate = Gate()
    monkeypatch.setattr(background, "generate", gate.generate)
    yield gate
    gate.go.set()


def under_way(op="text", n=5, seed=0, **link):
    """A page with n tokens in its last text, and more on their way."""
    app = reader.open_page("loop", op=op, model="nano", prompt=FRANCE, seed=seed, **link)
    for _ in range(100):
        if len(strips(app)) and len(ids(app, -1)) == n:
            break
        app.run()
    assert len(ids(app, -1)) == n and not app.button(key="writing_stop").disabled
    return app


@pytest.mark.parametrize("at", [30, 2])
def test_a_stop_ends_a_text_even_before_the_chosen_token(gate, at):
    app = under_way(seed=901 + at, at=at, cell=40)
    app.button(key="writing_stop").click().run()
    assert app.button(key="writing_stop").disabled and len(ids(app)) == 5
    assert app.session_state["at"] == (at if at < 5 else None)


def test_the_first_token_can_be_looked_at_while_others_come(gate):
    card = lessons.text("en", "loop.text.card", token="", number=1, id="")[:8]
    assert card in reader.text(under_way(seed=904, at=0, cell=40))


def test_a_page_that_was_drawn_before_the_last_token_is_drawn_again(gate, monkeypatch):
    def buttons(texts, *args, **kwargs):
        gate.go.set()
        assert background.look(texts[0].spec, 12, wait=20, again=0).has(12)
        drawn(texts, *args, **kwargs)

    drawn = writing.buttons
    monkeypatch.setattr(writing, "buttons", buttons)
    app = reader.open_page("loop", op="text", model="nano", prompt=FRANCE, seed=905, cell=12)
    assert app.button(key="writing_stop").disabled and len(ids(app)) == 12


def test_a_stop_in_branch_leaves_both_as_long_as_the_one_under_way(gate):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(background, "generate", generate)
        settled(reader.open_page("loop", op="text", model="nano", prompt=FRANCE, seed=907, cell=40))
    app = under_way("branch", n=6, seed=907, at=3)
    assert len(ids(app)) == 40
    app.button(key="writing_stop").click().run()
    assert app.button(key="writing_stop").disabled
    assert len(ids(app)) == 9 and len(ids(app, 1)) == 6
    gate.go.set()
    for name, n in (("step", 10), ("run", 40), ("again", 40)):
        press(app, name)
        assert len(ids(app)) == n and app.session_state["at"] == 3
    assert strips(app)[0][0]["forked"] == 3


def test_what_fails_is_said_and_tried_again(monkeypatch):
    def broken(spec):
        raise MemoryError("no room")

    monkeypatch.setattr(background, "generate", broken)
    app = reader.open_page("loop", op="text", model="nano", prompt=FRANCE, seed=908)
    assert "MemoryError: no room" in " ".join(reader.notices(app, "error")) and not app.exception
    monkeypatch.setattr(background, "generate", generate)
    assert ids(settled(app.run())) == [expected(seed=908, n=1)[0].id]


def test_starting_again_is_measured_anew_for_each_reader():
    apps = [open_view(model="nano", prompt=FRANCE) for _ in "ab"]
    one, two = (press(app, "again").session_state["again"] for app in apps)
    assert one != two


# ---- branch --------------------------------------------------------------------------------------


@EACH_LANGUAGE
def test_a_branch_beside_the_text_it_leaves(lang):
    app = open_view("branch", model="nano", lang=lang, prompt=FRANCE, at=3, max_new_tokens=16)
    events = expected(n=16)
    other = next(id for id in order(events[3].logits) if id != events[3].id)
    assert ids(app) == [e.id for e in events] and ids(app, 1)[0] == other
    prompt = prompt_ids(open_model("nano"), RunSpec("nano", prompt=FRANCE))
    start = (*prompt, *(e.id for e in events[:3]), other)
    after = RunSpec("nano", ids=start, first_step=4, max_new_tokens=12, temperature=1.0)
    branch = list(generate(after))
    assert ids(app, 1)[1:] == [e.id for e in branch]
    first = math.log(run(RunSpec("nano", ids=start[:-1])).probs(-1)[other])
    k = min(len(events) - 3, len(branch) + 1)
    one = sum(e.logprob for e in events[3 : 3 + k])
    two = first + sum(e.logprob for e in branch[: k - 1])
    app.session_state["reveal"] = True
    shown = reader.text(app.run())
    for total in (one, two):
        assert (
            f"{total:.2f}".replace("-", "−") in shown and f"{total:.3f}".replace("-", "−") in shown
        )
    ahead = lessons.text(lang, f"loop.branch.ahead_{'original' if one > two else 'branch'}")
    assert ahead in shown and strips(app)[0][0]["forked"] == 3 and strips(app)[1][0]["first"] == 3


def order(logits):
    return sorted(range(len(logits)), key=lambda id: (-logits[id], id))


def test_a_branch_by_a_token_of_the_link_and_one_that_ends():
    end = next(iter(open_model("nano").tokenizer.end_ids))
    app = open_view("branch", model="nano", prompt=FRANCE, at=2, target=end, max_new_tokens=8)
    assert ids(app, 1) == [end]
    assert f"(id {end})" in reader.text(app)
    another = next(id for id in order(expected(n=3)[2].logits) if id not in (end, ids(app)[2]))
    app.session_state["target"], app.session_state["moved"] = another, True
    settled(app.run())
    assert ids(app, 1)[0] == another and len(ids(app, 1)) > 1


def test_a_place_behind_the_end_of_a_text_becomes_its_first_token(smollm):
    app = open_view(
        "branch", model=SMOLLM, prompt="What is the capital of France?", temperature=0, at=9
    )
    assert app.session_state["at"] in (None, 0) and strips(app)[0][0]["forked"] == 0
    assert ids(app) == [2] and ids(app, 1)[0] != 2


def test_from_a_token_to_its_branch():
    app = open_view(model="nano", prompt=FRANCE, cell=6, at=2)
    app.text_input(key="written_own").set_value("Tom").run()
    settled(app)
    assert app.query_params["op"] in ("branch", ["branch"]) and app.session_state["at"] == 2
    tom = app.session_state["target"]
    assert open_model("nano").tokenizer.display(tom).strip("␣") == "Tom"
    assert ids(app, 1)[0] == tom and strips(app)[1][0]["first"] == 2


def test_why_a_branch_goes_no_further(tmp_path, monkeypatch):
    app = open_view("branch", model="nano", prompt=FRANCE, at=3, cell=4)
    assert len(ids(app, 1)) == 1 and ends(app) == ["not yet", "not yet"]
    assert not app.button(key="writing_run").disabled
    path = tiny.build(tmp_path / "short.gguf", {"llama.context_length": 6})
    monkeypatch.setenv("TOKENWALK_MODELS", path)
    app = open_view("branch", model="short", prompt="the", at=last_place(path))
    assert len(ids(app, 1)) == 1 and all("context is full" in end for end in ends(app))


def last_place(path):
    """The token of a text that fills the context."""
    return 6 - len(open_model(path).tokenizer.encode("the"))


def ends(app):
    """How both texts end, as the table says."""
    (table,) = [part for part in reader.html(app) if "tw-sides" in part]
    last = [row for row in table.split("<tr") if "how it ends" in row][-1]
    return [reader.plain("<td" + cell).strip() for cell in last.split("<td")[-2:]]


def test_other_settings_are_listed_as_the_language_does():
    app = open_view("branch", model="nano", prompt=FRANCE, lang="zh", cell=4, top_k=20, min_p=0.01)
    names = "、".join(lessons.text("zh", f"settings.{name}") for name in ("min_p", "top_k"))
    assert names in reader.text(app)


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
