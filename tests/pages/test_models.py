"""Models that can be opened and not be run, or not be opened: each page says why in one sentence.

Knows the sentences and what of a page must be left; the models are tiny.
"""

import os
from contextlib import contextmanager

import numpy as np
import pytest
import streamlit as st

import lessons
from core.files import memory, registry
from pages.parts import models, run
from tests import tiny
from tests.families import build_folder
from tests.pages import reader

EACH_LANGUAGE = pytest.mark.parametrize("language", lessons.LANGUAGES)
EACH_PAGE = pytest.mark.parametrize("name", reader.PAGES)
NUMBERS = pytest.mark.parametrize("name", ["start", "embedding", "block", "positions", "output"])


@pytest.fixture
def serve(monkeypatch):
    """Starts the server's list of models with these paths."""
    return lambda *paths: monkeypatch.setenv("TOKENWALK_MODELS", os.pathsep.join(map(str, paths)))


def build(path, tensor, at):
    """The tiny model, with an output matrix of its own, and one number that is none."""
    arrays = tiny.arrays()
    arrays["output.weight"] = arrays["token_embd.weight"].copy()
    arrays[tensor][at] = np.nan
    return tiny.build(path, tensors=arrays)


def assert_only(app, sentence, language, name):
    """The sentence stands alone, below the page's own title."""
    assert not app.exception
    assert reader.notices(app, "error") == [sentence]
    assert not reader.title_missing(app, language, name)
    assert reader.verdict(app) is None


@NUMBERS
@EACH_LANGUAGE
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_numbers_that_are_not_finite_are_told_with_their_place(
    serve, tmp_path, monkeypatch, name, language
):
    serve(build(tmp_path / "odd.gguf", "blk.1.attn_k.weight", (3, 3)))
    app = reader.open_page(name, model="odd", lang=language)
    said = lessons.error(language, "nonfinite", op="attn.k", layer=1)
    if name == "block":  # whose title names a token
        assert not app.exception and reader.notices(app, "error") == [said]
    else:
        assert_only(app, said, language, name)


@EACH_LANGUAGE
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_scores_that_are_not_finite_leave_the_block_to_be_shown(serve, tmp_path, language):
    serve(build(tmp_path / "odd.gguf", "output.weight", (3, 3)))
    said = lessons.error(language, "nonfinite_outside", op="logits")
    for name in ("start", "output"):
        assert_only(reader.open_page(name, model="odd", lang=language), said, language, name)
    app = reader.open_page("block", model="odd", lang=language)
    assert not reader.notices(app, "error") and reader.verdict(app) == "equal"


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_tokens_are_shown_whatever_the_numbers_are(serve, tmp_path):
    serve(build(tmp_path / "odd.gguf", "token_embd.weight", slice(None)))
    app = reader.open_page("tokens", model="odd")
    assert not app.exception and not reader.notices(app, "error")
    assert [meta for meta in reader.canvases(app) if "tokens" in meta]


@EACH_PAGE
@EACH_LANGUAGE
def test_a_folder_without_a_tokenizer_reads_no_text_and_says_so(serve, tmp_path, name, language):
    serve(build_folder(tmp_path / "ids only", "olmo2"))
    app = reader.open_page(name, model="ids only", lang=language)
    reason = "the model came without a tokenizer"
    said = lessons.error(language, "unreadable", reason=reason)
    assert not app.exception and reader.notices(app, "error") == [said]
    assert app.selectbox(key="list").value == app.session_state["model"] == "ids only"
    assert app.button_group(key="switch").value is None


@EACH_PAGE
@EACH_LANGUAGE
def test_a_model_larger_than_the_memory_is_refused_with_both_numbers(
    serve, tmp_path, monkeypatch, name, language
):
    serve(tiny.build(tmp_path / "large.gguf", changed={"general.name": f"{name} {language}"}))
    monkeypatch.setattr(memory, "available", lambda: 30_000)
    app = reader.open_page(name, model="large", lang=language)
    values = {"file": "large.gguf", "needed_mb": 1, "available_mb": 0}
    said = lessons.error(language, "too_large", **values)
    assert not app.exception and reader.notices(app, "error") == [said]


def test_a_file_that_is_no_model_is_refused_and_the_next_one_opens(serve, tmp_path, tiny_name):
    (tmp_path / "page.gguf").write_text("<!DOCTYPE html><html></html>")
    (tmp_path / "empty").mkdir()
    serve(tmp_path / "page.gguf", tmp_path / "empty", tiny_name)
    for name in ("page", "empty"):
        app = reader.open_page("start", model=name)
        assert not app.exception and len(reader.notices(app, "error")) == 1
        assert str(tmp_path) not in reader.text(app)
    app.selectbox(key="list").set_value("tiny").run()
    assert not app.exception and not reader.notices(app, "error")
    assert app.query_params["model"] in ("tiny", ["tiny"])


def test_a_spinner_turns_while_the_model_is_opened(serve, tiny_name, monkeypatch):
    turning, seen = [], []

    @contextmanager
    def spinner(label, **options):
        turning.append(label)
        yield
        turning.pop()

    opened = run.open_model
    monkeypatch.setattr(st, "spinner", spinner)
    monkeypatch.setattr(run, "open_model", lambda name: seen.append([*turning]) or opened(name))
    serve(tiny_name)
    assert not reader.open_page("block", model="tiny").exception
    assert seen and all(labels == [lessons.text("en", "run.opening")] for labels in seen)


def test_names_on_offer(serve, tmp_path, monkeypatch):
    monkeypatch.setenv("TOKENWALK_HOME", str(tmp_path / "home"))
    folder = tmp_path / "Own-0.5B"
    folder.mkdir()
    serve("", folder, f"{folder}/", tmp_path / "tiny.v2.gguf")
    assert models.available() == {
        models.DEFAULT: models.DEFAULT,
        models.NANO: models.NANO,
        "Own-0.5B": f"{folder}/",
        "tiny.v2": str(tmp_path / "tiny.v2.gguf"),
    }


@EACH_PAGE
def test_without_the_default_the_first_model_that_is_there_opens(
    serve, tmp_path, monkeypatch, tiny_name, name
):
    monkeypatch.setenv("TOKENWALK_HOME", str(tmp_path / "home"))
    serve(tmp_path / "gone.gguf", tiny_name)
    app = reader.open_page(name)
    assert not app.exception and not reader.notices(app)
    assert app.query_params["model"] in ("tiny", ["tiny"])
    chosen = app.selectbox(key="list")
    assert chosen.value == "tiny" and models.title(models.DEFAULT) in chosen.options
    chosen.set_value(models.DEFAULT).run()
    assert not app.exception and len(reader.notices(app)) == 1  # where to get it
    assert "model" not in app.query_params


def test_the_default_opens_where_it_is_there(serve, tiny_name, smollm):
    serve(tiny_name)
    assert next(iter(models.available())) == models.DEFAULT


def test_without_the_default_and_what_was_given_nano_opens(serve, tmp_path, monkeypatch):
    monkeypatch.setenv("TOKENWALK_HOME", str(tmp_path / "home"))
    serve(tmp_path / "gone.gguf")
    assert [*models.available()] == [models.NANO, models.DEFAULT, "gone"]


@EACH_LANGUAGE
@EACH_PAGE
def test_where_somebody_took_nano_away_one_sentence_says_how_to_bring_it_back(
    tmp_path, monkeypatch, name, language
):
    monkeypatch.setattr(registry, "PROJECT", tmp_path)
    app = reader.open_page(name, model=models.NANO, lang=language)
    said = lessons.error(language, "not_shipped", name="nano", source="models/nano", file="nano")
    assert not app.exception and reader.notices(app, "error") == [said]
    assert str(tmp_path) not in reader.text(app)
