"""Branch: a text and what another token made of it, beside what `generate` makes of the same."""

import math

import pytest

import lessons
from core import RunSpec, open_model, run
from core.decode.generate import generate
from core.run import prompt_ids
from tests import tiny
from tests.conftest import SMOLLM
from tests.pages import reader
from tests.pages.writing import FRANCE, expected, ids, open_view, settled, strips

EACH_LANGUAGE = pytest.mark.parametrize("lang", lessons.LANGUAGES)


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
