"""A text while it is written: what its figure is sent, stops, and what fails on the way."""

import asyncio
import json
import math
import re
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

import lessons
from core import RunSpec, open_model
from core.decode import background
from core.decode.generate import generate
from pages.parts import following, writing
from tests.pages import reader
from tests.pages.writing import FRANCE, expected, ids, open_view, press, settled, strips


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
    monkeypatch.setattr(background, "passes", gate.generate)
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


def test_a_page_that_was_drawn_before_the_last_token_is_told_to_run_again(gate, monkeypatch):
    def buttons(texts, *args, **kwargs):
        gate.go.set()
        assert background.look(texts[0].spec, 12, wait=20, again=0).has(12)
        drawn(texts, *args, **kwargs)

    drawn = writing.buttons
    monkeypatch.setattr(writing, "buttons", buttons)
    app = reader.open_page("loop", op="text", model="nano", prompt=FRANCE, seed=905, cell=12)
    assert not app.button(key="writing_stop").disabled and len(ids(app)) == 12
    assert streamed(app) == ([], True)
    assert app.run().button(key="writing_stop").disabled and strips(app)[0][0]["follow"] is None


def streamed(app, number=0):
    """The tokens that a text's figure is sent from where it stands, and whether that is all."""
    name, first = re.fullmatch(
        r"/written/(.+)\?first=(\d+)", strips(app)[number][0]["follow"]
    ).groups()

    async def told():
        return "".join([part async for part in following.stream(name, int(first))])

    with ThreadPoolExecutor(1) as pool:  # whose thread has no event loop, as this one may have
        events = pool.submit(asyncio.run, told()).result()
    data = [json.loads(line) for line in re.findall(r"^data: (\{.+)$", events, re.M)]
    assert re.findall(r"^id: (.+)$", events, re.M) == [str(one["number"] + 1) for one in data]
    return data, events.endswith("event: whole\ndata: .\n\n")


def test_a_figure_is_sent_what_comes_and_told_when_it_is_all(gate):
    app = under_way(seed=913, cell=12)
    gate.go.set()
    sent, whole = streamed(app)
    events = expected(seed=913, n=12)
    assert whole and [one["id"] for one in sent] == [e.id for e in events[5:]]
    assert [one["prob"] for one in sent] == pytest.approx([math.exp(e.logprob) for e in events[5:]])
    last, tokenizer = sent[-1]["values"], open_model("nano").tokenizer
    assert "".join(one["token"] for one in sent) == "".join(
        following.piece(tokenizer, e.id) for e in events[5:]
    )
    assert last["n"] == "12" and last["positions"] == str(events[-1].n_cached)
    assert app.run().button(key="writing_stop").disabled and len(ids(app)) == 12


def test_what_comes_in_time_is_sent_and_then_the_browser_asks_again(gate, monkeypatch):
    monkeypatch.setattr(following, "LASTS_SECONDS", 0.3)
    app = under_way(seed=909, cell=12)
    assert streamed(app) == ([], False)
    gate.go.set()
    assert background.look(expected_spec(seed=909), 12, wait=20).has(12)
    sent, whole = streamed(app)
    assert len(sent) == 7 and whole


def expected_spec(**settings):
    return RunSpec("nano", prompt=FRANCE, temperature=1.0, **settings)


def test_who_stops_is_sent_nothing_more(gate):
    app = under_way(seed=910, cell=40)
    name = strips(app)[0][0]["follow"].split("/")[2].split("?")[0]
    assert following.ticket(name)
    app.button(key="writing_stop").click().run()
    gate.go.set()
    assert following.ticket(name) is None and len(ids(app)) == 5


def test_a_new_run_of_a_page_takes_the_place_of_the_last_and_tickets_are_bounded(gate, monkeypatch):
    app = under_way(seed=911, cell=40)
    first = strips(app)[0][0]["follow"]
    second = strips(app.run())[0][0]["follow"]
    names = [each.split("/")[2].split("?")[0] for each in (first, second)]
    assert [following.ticket(name) is None for name in names] == [True, False]
    gate.go.set()  # there is one writer for all
    assert background.look(expected_spec(seed=911), 40, wait=20).has(40)
    gate.go.clear()
    monkeypatch.setattr(following, "MOST", 1)
    under_way(seed=912, cell=40)
    assert following.ticket(names[1]) is None


def test_a_stop_in_branch_leaves_both_as_long_as_the_one_under_way(gate):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(background, "passes", generate)
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

    monkeypatch.setattr(background, "passes", broken)
    app = reader.open_page("loop", op="text", model="nano", prompt=FRANCE, seed=908)
    assert "MemoryError: no room" in " ".join(reader.notices(app, "error")) and not app.exception
    monkeypatch.setattr(background, "passes", generate)
    assert ids(settled(app.run())) == [expected(seed=908, n=1)[0].id]


def test_starting_again_is_measured_anew_for_each_reader():
    apps = [open_view(model="nano", prompt=FRANCE) for _ in "ab"]
    one, two = (press(app, "again").session_state["again"] for app in apps)
    assert one != two
