"""The page of the training: on Nano every moment, head and view; on another model the way to Nano.

Knows what the page must show; what is measured is tested in tests/core and tests/nano.
"""

from dataclasses import replace

import numpy as np
import pytest

import lessons
from core import RunSpec, open_model, run
from core.analyse import learning
from pages.parts import models
from tests.pages import reader
from viz.payload import unpack

EACH_LANGUAGE = pytest.mark.parametrize("language", lessons.LANGUAGES)
PROMPT = "The capital of Peru is"
SECTIONS = ("title", "gist", "idea", "maths", "look", "predict")


@pytest.fixture(scope="module")
def training():
    return learning.training(open_model(models.NANO))


@pytest.fixture(scope="module")
def names(training):
    """The moments as links call them."""
    return [f"step-{checkpoint.step}" for checkpoint in training.checkpoints]


def open_page(**link):
    return reader.open_page("learning", **({"model": models.NANO, "prompt": PROMPT} | link))


def assert_whole(app, language="en"):
    assert not app.exception
    assert not reader.title_missing(app, language, "learning")
    assert not reader.notices(app, "error")
    assert "[[" not in reader.text(app)


def pictures(app) -> list[tuple[dict, np.ndarray]]:
    """Meta and values of the matrices on the page: the large one, then one of each moment."""
    sent = [element.proto for element in app.get("bidi_component")]
    found = [unpack(proto.bytes) for proto in sent if proto.WhichOneof("data") == "bytes"]
    return [(meta, arrays["values"]) for meta, arrays in found if "values" in arrays]


def cards(app) -> list[str]:
    """The card of each moment, as HTML."""
    (shown,) = (part for part in reader.html(app) if 'class="tw-moments"' in part)
    return shown.split("<section")[1:]


def bar(app) -> dict:
    return next(meta for meta in reader.canvases(app) if "steps" in meta)


@EACH_LANGUAGE
def test_it_shows_its_lesson_in_its_language(language):
    app = open_page(lang=language)
    assert_whole(app, language)
    lesson = lessons.page(language, "learning")
    for section in SECTIONS:
        assert not reader.missing(app, getattr(lesson, section)), section
    (other,) = set(lessons.LANGUAGES) - {language}
    foreign = reader.pieces(lessons.page(other, "learning").idea)
    assert not [part for part in foreign if len(part) > 12 and part in reader.text(app)]


@EACH_LANGUAGE
def test_the_answer_stands_there_only_when_it_is_asked_for(language):
    app = open_page(lang=language)
    answer = lessons.page(language, "learning").reveal
    assert reader.missing(app, answer)
    app.session_state["reveal"] = True
    assert_whole(app.run(), language)
    assert not reader.missing(app, answer)


def test_each_moment_can_be_linked_to_and_is_marked(names):
    for n, name in enumerate(names):
        app = open_page(op=name)
        assert_whole(app)
        assert [" aria-current" in card for card in cards(app)] == [n == m for m in range(6)]
        assert (bar(app)["step"], len(bar(app)["steps"])) == (n, 6)
        assert app.query_params["op"] in (name, [name])


def test_the_first_moment_comes_first_and_arrows_go_on(names):
    app = open_page()
    assert bar(app)["step"] == 0 and "op" not in app.query_params
    app.session_state["op"], app.session_state["moved"] = names[3], True
    assert bar(app.run())["step"] == 3


def test_each_moment_says_what_its_own_weights_expect(training):
    spec = RunSpec("any", prompt=PROMPT)
    for checkpoint, card in zip(training.checkpoints, cards(open_page()), strict=True):
        trace = run(replace(spec, model=checkpoint.path))
        best = trace.model.tokenizer.display(int(trace.logits().argmax()))
        first = reader.plain(card[card.index("<tr>") :]).split("%")[0]
        assert first == f"{best}{100 * trace.probs().max():.1f}"
        assert f"{checkpoint.step:,}" in card


def test_the_best_induction_head_is_shown_first(training):
    _, layer, head = learning.best(learning.skill(training.checkpoints[-1].path).induction)
    n = layer * open_model(models.NANO).config.n_heads + head
    app = open_page()
    assert app.selectbox(key="inner_head").value == n
    paths = [checkpoint.path for checkpoint in training.checkpoints]
    maps = learning.attention_maps(paths, learning.repeated(paths[0]), layer, head)
    large, *small = (values for _, values in pictures(app))
    for values, found in zip(small, maps, strict=True):
        seen = np.tril(np.ones_like(found, bool))  # a later key is masked, not zero
        np.testing.assert_array_equal(values[seen], found[seen])
        assert np.isnan(values[~seen]).all()
    np.testing.assert_array_equal(large, small[0])


@pytest.mark.parametrize("view", ["attn_q", "attn_k"])
def test_the_weights_of_a_head_are_shown_whole_and_on_one_scale(training, view):
    app = open_page(op="step-0", cell=5)  # layer 1, head 1
    app.button_group(key="inner_view").set_value(view).run()
    assert_whole(app)
    large, *small = pictures(app)
    paths = [checkpoint.path for checkpoint in training.checkpoints]
    weights = learning.head_weights(paths, view, 1, 1)
    for (meta, values), rows in zip(small, weights, strict=True):
        np.testing.assert_array_equal(values, rows)
        assert meta["limit"] == pytest.approx(float(np.abs(weights).max()))
    first = learning.head_rows(open_model(models.NANO).config, view, 1)[0]
    assert large[0]["rows"][0] == str(first)


def test_the_map_of_the_readers_own_text():
    app = open_page(cell=0)
    app.button_group(key="inner_view").set_value("own").run()
    assert_whole(app)
    trace = run(RunSpec(models.NANO, prompt=PROMPT))
    assert pictures(app)[0][0]["rows"] == list(trace.tokens)


@pytest.mark.parametrize(
    "link",
    [{"op": "zzz"}, {"op": "step-1e9"}, {"op": "attn.q"}, {"cell": 99}, {"cell": -1}, {"pos": 3}],
    ids=str,
)
def test_a_bad_value_in_the_link_is_replaced(link):
    app = open_page(**link)
    assert_whole(app)
    assert bar(app)["step"] == 0
    assert not set(link) & set(app.query_params)


@pytest.mark.parametrize("prompt", ["<b>x</b> $y$ **z**", "[[step]]", "今天", "Ben"])
def test_any_text_is_read_at_every_moment(prompt):
    app = open_page(prompt=prompt)
    assert not app.exception and len(cards(app)) == 6
    assert not any("<b>" in card for card in cards(app))


@pytest.mark.usefixtures("smollm")
@EACH_LANGUAGE
def test_another_model_has_no_checkpoints_and_nano_is_one_click_away(language):
    app = reader.open_page("learning", lang=language)
    title = models.title(models.DEFAULT)
    assert lessons.text(language, "learning.none", model=title) in reader.notices(app)
    assert not reader.title_missing(app, language, "learning")
    app.button(key="open_nano").click().run()
    assert_whole(app, language)
    assert len(cards(app)) == 6


def test_damaged_checkpoints_are_told(tmp_path, monkeypatch):
    source = open_model(models.NANO).source.path
    for file in source.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "checkpoints.json").write_text('{"steps": 3}')
    monkeypatch.setenv("TOKENWALK_MODELS", str(tmp_path))
    app = reader.open_page("learning", model=tmp_path.name, prompt=PROMPT)
    assert not app.exception and len(reader.notices(app, "error")) == 1
    assert str(tmp_path) not in reader.text(app)


@EACH_LANGUAGE
def test_an_empty_text_is_answered_by_a_sentence(language):
    app = reader.open_page("learning", model="nano", prompt="", lang=language)
    said = [reader.plain(source) for source in reader.html(app)]
    assert not app.exception
    assert any(lessons.error(language, "nothing_to_run") in text for text in said)
