"""A computer on which nothing was ever fetched and that has no network: every page works, on Nano.

Knows that Nano ships with the program; what its numbers say is tested elsewhere.
"""

import socket

import pytest

import lessons
from core import open_model
from pages.parts import journey, models
from tests.pages import reader

EACH_PAGE = pytest.mark.parametrize("name", journey.PLACES)
EACH_LANGUAGE = pytest.mark.parametrize("language", lessons.LANGUAGES)
LONG = "The cat naps. " * 40 + "The cat"


@pytest.fixture(autouse=True)
def alone(monkeypatch, tmp_path):
    """An empty cache, and a network that nobody may ask for."""

    def refuse(*_):
        raise AssertionError("something asked for the network")

    monkeypatch.setenv("TOKENWALK_HOME", str(tmp_path))
    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


def assert_works(app, language, name):
    """The page came to its end on Nano, in its own words, and nothing was refused."""
    assert not app.exception
    assert app.session_state["model"] == models.NANO
    assert app.query_params["model"] in (models.NANO, [models.NANO])
    assert not reader.title_missing(app, language, name) and not reader.notices(app, "error")
    assert "[[" not in reader.text(app)
    assert reader.verdict(app) == (
        None if name in ("start", "loop", "atlas", "learning") else "equal"
    )


@EACH_PAGE
@EACH_LANGUAGE
def test_every_page_works(name, language):
    assert_works(reader.open_page(name, lang=language), language, name)


@pytest.mark.parametrize("name", ["start", "tokens", "block", "output"])
def test_every_prompt_on_offer_works(name):
    app = reader.open_page(name)
    place = "main" if name == "start" else "side"
    for preset in lessons.presets("nano"):
        app.button(key=f"preset_{place}_{preset.id}").click().run()
        assert_works(app, "en", name)
        assert app.text_area(key="prompt").value == preset.prompt
        assert (app.session_state["at_layer"], app.session_state["at_head"]) == (
            preset.layer,
            preset.head,
        )


@EACH_LANGUAGE
def test_start_tells_what_each_prompt_shows(language):
    app = reader.open_page("start", lang=language)
    for preset in lessons.presets("nano"):
        app.button(key=f"preset_main_{preset.id}").click().run()
        place = {"layer": preset.layer, "head": preset.head}
        assert not reader.missing(app, lessons.text(language, f"{preset.texts}.note", **place))
        framed = [meta["framed"] for meta in reader.canvases(app) if "framed" in meta]
        assert framed == [[preset.layer, preset.head]]


def n_tokens(text):
    """How many tokens Nano reads, BOS included."""
    words = open_model(models.NANO).tokenizer
    return words.add_bos + len(words.encode(text))


@pytest.mark.parametrize("name, language", reader.IN_TURN)
def test_a_text_longer_than_its_context_is_refused_in_one_sentence(name, language):
    app = reader.open_page(name, lang=language, prompt=LONG)
    said = lessons.error(language, "prompt_too_long", n_tokens=n_tokens(LONG), limit=128)
    assert not app.exception and reader.notices(app, "error") == [said]


@pytest.mark.parametrize("name, language", reader.IN_TURN[:6])
def test_what_it_has_no_token_for_is_shown_and_said(name, language):
    app = reader.open_page(name, lang=language, prompt="The 天 naps é é")
    assert_works(app, language, name)
    said = lessons.text(language, "notice.unknown", parts="天 é", n=3)
    assert said.replace("`", "") in reader.text(app)
    tokens = next(meta["tokens"] for meta in reader.canvases(app) if "tokens" in meta)
    assert tokens.count("<unk>") == 3


@EACH_LANGUAGE
def test_an_unknown_token_is_not_called_a_command(language):
    app = reader.open_page("tokens", lang=language, prompt="天")
    assert not reader.missing(app, lessons.text(language, "tokens.unknown"))
    assert reader.missing(app, lessons.text(language, "tokens.special"))


@EACH_LANGUAGE
def test_chat_is_not_offered_and_not_run(language):
    app = reader.open_page("block", lang=language, mode="chat")
    assert_works(app, language, "block")
    assert not reader.missing(app, lessons.text(language, "sidebar.no_chat"))
    assert "mode" not in app.query_params
    assert "mode" not in [group.key for group in app.button_group]


def test_the_guess_is_ranked_and_the_answer_covered_until_then():
    app = reader.open_page("start")
    app.toggle(key="cover").set_value(True).run()
    covered = lessons.text("en", "start.covered")
    assert reader.text(app).count(covered) == 3
    app.text_input(key="guess").set_value("Paris").run()
    assert covered not in reader.text(app)
    assert any("Ranked: ␣Paris" in notice for notice in reader.notices(app))
    assert_works(app, "en", "start")


def test_one_more_round_after_another_until_the_text_ends_or_the_context_is_full():
    app = reader.open_page("start", prompt="The cat naps. The")
    for _ in range(4):
        before = app.text_area(key="prompt").value
        app.button(key="append").click().run()
        assert app.text_area(key="prompt").value.startswith(before)
        assert_works(app, "en", "start")


def test_a_full_context_is_shown_and_has_no_next_round():
    full = "cat" + " cat" * 126
    assert n_tokens(full) == 128
    app = reader.open_page("start", prompt=full)
    assert_works(app, "en", "start")
    assert not [part for part in reader.html(app) if "⟲" in part]
