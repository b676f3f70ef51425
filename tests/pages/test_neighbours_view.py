"""The neighbours: what the page shows equals what NumPy finds alone; words of the reader's own."""

import base64
import json

import numpy as np
import pytest

import lessons
from core import open_model
from core.analyse import near
from tests import tiny
from tests.conftest import SMOLLM
from tests.pages import reader

EACH_LANGUAGE = pytest.mark.parametrize("lang", lessons.LANGUAGES)
EACH_MODEL = pytest.mark.parametrize("model", [SMOLLM, "nano"])


def open_view(**link):
    app = reader.open_page("embedding", **({"op": "neighbours", "pos": 3} | link))
    assert not app.exception and not reader.notices(app, "error")
    return app


def figures(app):
    """The data of each Plotly figure on the page."""
    return [json.loads(each.proto.spec)["data"][0] for each in app.get("plotly_chart")]


def strip(app):
    return next(meta for meta in reader.canvases(app) if "tokens" in meta)


@EACH_MODEL
@EACH_LANGUAGE
def test_bars_are_the_nearest_rows_of_the_whole_table(smollm, model, lang):
    app, opened = open_view(model=model, lang=lang), open_model(model)
    table = opened.weights.embed.astype(np.float64)
    table /= np.linalg.norm(table, axis=1)[:, None]
    id = strip(app)["ids"][3]
    cosines = table @ table[id]
    order = [n for n in np.argsort(-cosines) if n != id][:15]
    bars, every = figures(app)
    assert bars["customdata"] == [opened.tokenizer.display(n) for n in order]
    np.testing.assert_allclose(number_list(bars["x"]), cosines[order], atol=1e-6)
    assert sum(number_list(every["y"])) == len(table) - 1
    assert reader.verdict(app) == "equal"
    assert f"{cosines[order[0]]:.4f}" in reader.text(app)


def number_list(values):
    """Numbers of a Plotly figure, which may be packed."""
    if isinstance(values, dict):
        return np.frombuffer(base64.b64decode(values["bdata"]), values["dtype"]).tolist()
    return values


def test_a_click_explains_another_neighbour(smollm):
    app = open_view()
    spain = near.word(smollm.tokenizer, "Spain").id
    app.session_state["cell"], app.session_state["moved"] = spain, True
    app.run()
    rows = [smollm.weights.embed[id].astype(np.float64) for id in (strip(app)["ids"][3], spain)]
    shown = reader.text(app)
    for value in (rows[0] @ rows[1], *(np.linalg.norm(row) for row in rows)):
        assert f"{value:.4f}" in shown
    assert reader.verdict(app) == "equal" and app.session_state["cell"] == spain


@EACH_LANGUAGE
def test_a_word_of_several_tokens_offers_its_pieces(smollm, lang):
    app = open_view(ask="xylophone", lang=lang)
    assert strip(app)["tokens"] == ["x", "yl", "ophone"]
    sentence = lessons.text(lang, "embedding.neighbours.many", word="xylophone", n=3)
    assert sentence in reader.text(app)
    app.session_state["at"] = 2
    assert "ophone" in reader.text(app.run()).split(sentence)[1]


def test_a_word_is_offered_with_and_without_its_space(smollm):
    app = open_view(ask="strawberry")
    assert strip(app)["tokens"] == ["␣strawberry", "st", "raw", "berry"]
    assert figures(app)[0]["customdata"][0] == "␣strawberries"


@EACH_LANGUAGE
def test_the_answer_says_whether_nearness_is_mutual(smollm, lang):
    app = open_view(lang=lang)
    app.session_state["reveal"] = True
    shown = reader.text(app.run())
    france, nearest = (smollm.tokenizer.encode(text)[0] for text in (" France", "France"))
    back = near.cosines(smollm, smollm.weights.embed[nearest])
    place = f"{near.rank(back, france, [nearest])}"
    lesson = lessons.view(lang, "embedding.neighbours")
    assert not reader.missing(app, lesson.reveal)
    assert place == "1" and f" {place}" in shown.split("␣France")[-1]
    table = smollm.weights.embed.astype(np.float64)
    table /= np.linalg.norm(table, axis=1)[:, None]
    best = [n for n in np.argsort(-(table @ table[france])) if n != france][:15]
    seen = table[best] @ table.T
    seen[range(15), best] = -1
    n_mutual = int((seen.argmax(axis=1) == france).sum())
    begin = {"en": f"For {n_mutual} of 15.", "zh": f"有 {n_mutual} 行（共 15 行）。"}
    assert 0 < n_mutual < 15 and begin[lang] in shown


@EACH_LANGUAGE
@pytest.mark.parametrize(("word", "alike"), [("bar", True), ("cat", False)])
def test_rows_without_training_are_said_to_mean_nothing(word, alike, lang):
    """Of Nano, whose table holds 88 such rows: as NumPy counts them alone."""
    app, nano = open_view(model="nano", ask=word, lang=lang), open_model("nano")
    table = nano.weights.embed.astype(np.float64)
    table /= np.linalg.norm(table, axis=1)[:, None]
    n = int((table @ table[strip(app)["ids"][0]] > 0.99).sum()) - 1
    token = nano.tokenizer.display(strip(app)["ids"][0])
    said = lessons.text(lang, "embedding.neighbours.alike", token=token, n=n, least=0.99)
    assert n == (87 if alike else 0)
    assert reader.notices(app) == ([said] if alike else [])


def test_long_names_leave_the_bars_their_room(smollm):
    app = open_view(mode="chat", pos=0)
    names = [reader.unescape(name) for name in figures(app)[0]["customdata"]]
    assert max(map(len, names)) == 14 and "ManagementPla…" in names
    app.session_state["cell"] = near.word(smollm.tokenizer, "ManagementPlaneProtection").id
    app.session_state["moved"] = True
    assert "ManagementPlaneProtection" in reader.text(app.run())


def test_the_word_typed_takes_the_place_of_the_text(smollm):
    app = open_view()
    app.text_input(key="neighbours_ask").set_value("cat").run()
    assert app.session_state["ask"] == "cat" and strip(app)["tokens"] == ["␣cat", "cat"]
    app.text_input(key="neighbours_ask").set_value("").run()
    assert app.session_state["ask"] is None and "␣France" in strip(app)["tokens"]


@pytest.mark.parametrize("ask", ["<b>x</b>", "x" * 5000, "\u202e\x00", "🙂", "[[n]]", "   ", "\n"])
@pytest.mark.parametrize("link", [{"cell": 999_999_999}, {"at": 999_999_999}, {"cell": "x"}])
def test_what_a_link_asks_for_is_shown_as_text_or_put_right(ask, link):
    app = open_view(model="nano", prompt="The cat", ask=ask, **link)
    assert not any("<b>x" in part for part in reader.html(app))
    assert len(app.session_state["ask"] or "") <= 60
    assert app.session_state["at"] in (None, 0)
    assert reader.verdict(app) == "equal"


def test_a_row_of_zeros_has_no_neighbours(tmp_path, monkeypatch):
    """A padded vocabulary may have such rows: the page says so instead of dividing by zero."""
    arrays = tiny.arrays()
    arrays["token_embd.weight"][tiny.vocabulary().index("the")] = 0
    path = tiny.build(tmp_path / "zeros.gguf", tensors=arrays)
    monkeypatch.setenv("TOKENWALK_MODELS", path)
    app = open_view(model="zeros", prompt="the", pos=0)
    (notice,) = reader.notices(app)
    assert "the" in notice and not figures(app)
