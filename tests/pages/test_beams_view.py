"""Beams: the tree, the sums and the scores on the page are those of transformers and of full
passes; a search that is stopped goes on where it was.
"""

import re

import numpy as np
import pytest
import streamlit as st

import lessons
from core import RunSpec, run
from core.errors import PromptError
from pages.views.loop import beams, beams_node, beams_run
from tests.conftest import SMOLLM
from tests.pages import reader
from tests.pages.test_draw_view import rows

EACH_LANGUAGE = pytest.mark.parametrize("lang", lessons.LANGUAGES)
PROMPT = "The capital of France is"


def open_view(**link):
    app = reader.open_page("loop", **({"op": "beams"} | link))
    assert not app.exception and not reader.notices(app, "error")
    return app


def tree(app):
    return next(meta for meta in reader.canvases(app) if "columns" in meta)


def number(shown):
    return float(shown.replace("−", "-").replace(",", ""))


def sum_of(prompt, text_ids, model=SMOLLM):
    """The sum of log-probabilities of ids after a prompt, from one pass, by NumPy alone."""
    ids = [*run(RunSpec(model, prompt=prompt)).ids, *text_ids]
    logits = [
        run(RunSpec(model, ids=ids)).logits(n)
        for n in range(len(ids) - len(text_ids) - 1, len(ids) - 1)
    ]
    rows = [row.astype(np.float64) for row in logits]
    return sum(row[id] - np.logaddexp.reduce(row) for row, id in zip(rows, text_ids, strict=True))


@EACH_LANGUAGE
def test_the_sums_and_scores_are_those_of_transformers(smollm, lang):
    """Three beams, eight tokens, by transformers 5.13 in float32."""
    app = open_view(lang=lang)
    found = rows(app, "text")
    texts = [row[1] for row in found]
    assert texts[0].startswith(" Paris. The capital of France is not")
    assert texts[1].startswith(" Paris.\n- The United States has")
    assert texts[2].startswith(" Paris. The capital of France is Paris")
    assert [row[3] for row in found] == ["−7.2237", "−7.2577", "−7.2733"]
    assert [row[4] for row in found] == ["−0.9030", "−0.9072", "−0.9092"]
    greedy = smollm.tokenizer.encode(" Paris.\n\nThe answer is:")
    assert f"−{-sum_of(PROMPT, greedy):.4f}" in reader.text(app)
    assert "= −0.9030" in reader.text(app)
    app.session_state["reveal"] = True
    app.run()
    assert not reader.missing(app, lessons.view(lang, "loop.beams").reveal)
    assert "3.53" in reader.text(app)


def test_another_length_penalty_weighs_the_same_texts_anew(smollm, monkeypatch):
    for power, scores in (("2.0", ["−0.1129"]), ("-1.0", ["−57.789", "−58.061"])):
        app = open_view(length_penalty=power)
        for row, score in zip(rows(app, "text"), scores, strict=False):
            assert row[4].startswith(score)
    monkeypatch.setattr(beams_run, "step", lambda *_: pytest.fail("searched again"))
    app.slider(key="beams_length_penalty").set_value(0.0).run()
    assert [row[4] for row in rows(app, "text")] == ["−7.2237", "−7.2577", "−7.2733"]
    assert app.query_params["length_penalty"] in ("0.0", ["0.0"])


def test_the_tree_has_every_branch_and_the_way_of_the_best_text(smollm):
    app = open_view()
    meta = tree(app)
    assert [len(column) for column in meta["columns"]] == [9] * 8
    kept = [sum(each["state"] == "kept" for each in column) for column in meta["columns"]]
    assert kept == [3] * 7 + [0]
    best = [[n for n, b in enumerate(column) if b["best"]] for column in meta["columns"]]
    way = [meta["columns"][n][place]["text"] for n, (place,) in enumerate(best)]
    assert "".join(way).replace("␣", " ") == " Paris. The capital of France is not"
    for n in range(1, 8):
        assert meta["columns"][n][best[n][0]]["parent"] == best[n - 1][0]
    assert meta["chosen"] == [7, 0]


def test_a_branch_says_its_text_and_its_sums_and_one_pass_agrees(smollm):
    app = open_view(cell=3_001)
    shown = reader.text(app)
    assert lessons.text("en", "loop.beams.is_kept") in shown
    path = rows(app, "branch")
    assert [row[1] for row in path] == ["␣Paris", ".", "␣The"]
    logprobs, sums = ([number(row[n]) for row in path] for n in (2, 3))
    assert sums == pytest.approx(np.cumsum(logprobs), abs=2e-4)
    ids = smollm.tokenizer.encode(" Paris. The")
    assert sums[-1] == pytest.approx(sum_of(PROMPT, ids), abs=1e-3)
    assert reader.verdict(app) is None
    app.button(key="beams_check").click().run()
    assert reader.verdict(app) == "equal" and tree(app)["chosen"] == [2, 1]


@EACH_LANGUAGE
def test_a_search_that_is_stopped_shows_what_it_has_and_goes_on(smollm, lang, monkeypatch):
    beams_run.DONE.clear()
    taken, step = [], beams_run.step

    def interrupted(name, *how):
        if taken.count("search") == 2:
            st.stop()  # as when a reader presses a button meanwhile
        taken.append(name)
        return step(name, *how)

    monkeypatch.setattr(beams_run, "step", interrupted)
    app = open_view(lang=lang, prompt="The colour of the sky is", at=4)
    app.button(key="beams_stop").click().run()
    assert reader.notices(app) == [lessons.text(lang, "loop.beams.stopped")]
    assert [len(column) for column in tree(app)["columns"]] == [9, 9]
    assert app.run() and len(taken) == 7  # five of the greedy choice, two levels, nothing since
    monkeypatch.setattr(beams_run, "step", step)
    monkeypatch.setattr(beams, "beam_search", lambda *_: pytest.fail("began again"))
    app.button(key="beams_go_on").click().run()
    assert len(tree(app)["columns"]) == 4 and not reader.notices(app)


@pytest.mark.parametrize(
    "link",
    [
        {"n_beams": 99, "at": 0},
        {"n_beams": "x", "length_penalty": "nan", "at": 21},
        {"length_penalty": "inf", "cell": 999_999_999},
        {"cell": 1_099, "at": 2},
        {"cell": 5},
        {"prompt": "a", "n_beams": 1, "at": 1},
        {"prompt": "<b>x</b>\n🙂 🙂", "n_beams": 6, "at": 2},
        {"mode": "chat", "at": 3, "temperature": 0, "top_k": 1},
    ],
)
def test_what_a_link_asks_for_is_shown_or_put_right(link):
    app = open_view(**({"model": "nano", "prompt": "The cat", "at": 2} | link))
    assert not any("<b>x" in part for part in reader.html(app))
    columns = tree(app)["columns"]
    assert 1 <= len(columns) <= 8 and app.session_state["cell"] is None
    assert len(rows(app, "text")) <= 6


def test_one_beam_is_the_greedy_text(smollm):
    app = open_view(n_beams=1, at=4)
    assert lessons.text("en", "loop.beams.same").replace("**", "") in reader.text(app)
    (row,) = rows(app, "text")
    assert row[5] == "1.00"


def test_the_answer_is_there_after_a_search_with_open_cover(smollm):
    app = open_view(at=2, prompt="One two three")
    app.session_state["reveal"] = True
    app.session_state["n_beams"], app.session_state["moved"] = "2", True
    shown = reader.text(app.run())
    assert not app.exception and not re.search(r"sum of –", shown)


def test_a_search_that_fails_is_not_taken_for_a_whole_one(smollm, monkeypatch):
    beams_run.DONE.clear()
    search = beams.beam_search

    def failing(*how):
        yield next(search(*how))
        raise PromptError("prompt_too_long", n_tokens=9, limit=8)

    monkeypatch.setattr(beams, "beam_search", failing)
    app = reader.open_page("loop", op="beams", prompt="The colour of", at=3)
    said = reader.notices(app, "error")
    assert len(said) == 1 and "9" in said[0] and not app.exception
    assert "beams_stop" not in [button.key for button in app.button]  # nothing is under way
    assert reader.notices(app.run(), "error") == said
    monkeypatch.setattr(beams, "beam_search", search)
    assert len(tree(app.run())["columns"]) == 3 and not reader.notices(app, "error")


def test_a_search_without_levels_has_no_answer(smollm, monkeypatch):
    beams_run.DONE.clear()
    monkeypatch.setattr(beams, "beam_search", lambda *_: iter(()))
    app = open_view(prompt="The colour of", at=2)
    app.session_state["reveal"] = True
    assert not app.run().exception
    beams_run.DONE.clear()


def test_a_search_whose_iterator_had_to_go_ends_with_the_same_tree(smollm, monkeypatch):
    whole = tree(open_view(prompt="One two", at=3))
    beams_run.DONE.clear()
    step = beams_run.step

    def forgetful(*how):
        beams_run.WAITING.clear()
        return step(*how)

    monkeypatch.setattr(beams_run, "step", forgetful)
    assert tree(open_view(prompt="One two", at=3)) == whole
    assert not beams_run.WAITING.nbytes


def test_where_a_longer_text_turns_the_keys_no_pass_is_laid_beside(smollm, monkeypatch):
    monkeypatch.setattr(beams_node, "may_differ", lambda config: True)
    app = open_view(at=2)
    assert "beams_check" not in [button.key for button in app.button]
    assert reader.verdict(app) is None
