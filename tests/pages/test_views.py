"""Every view of a page in every language: its lesson whole, its answer on demand, what was typed
in it kept while the reader looks elsewhere.

Knows what any view must show; what its figures say is tested view by view.
"""

import re

import pytest

import lessons
from pages.parts import journey, session
from tests.lessons.models import VIEWS
from tests.pages import reader

pytestmark = pytest.mark.usefixtures("smollm")
SMOLLM = "smollm2-135m-instruct"
WITH_VIEWS = ("tokens", "embedding", "positions", "sampling", "loop", "cache", "atlas", "lens")
EACH_VIEW = pytest.mark.parametrize("page, view", [view.split(".") for view in VIEWS])
FORMS = [("en", SMOLLM), ("zh", "nano")]
EACH_FORM = pytest.mark.parametrize("language, model", FORMS)
SECTIONS = ("gist", "idea", "maths", "look", "predict")


def opened(page, view, **link):
    """The view of a page; on the block page all layers are one of the ways through it."""
    name = "walk" if page == "block" else "op"
    return reader.open_page(page, **{name: view}, **link)


def assert_whole(app, language, page):
    assert not app.exception
    assert not reader.title_missing(app, language, page)
    assert not reader.notices(app, "error")
    assert not lessons.loader.PLACEHOLDER.search(reader.text(app) + str(reader.canvases(app)))


@EACH_FORM
@EACH_VIEW
def test_a_view_shows_its_lesson_and_its_answer_on_demand(page, view, language, model):
    app = opened(page, view, lang=language, model=model)
    assert_whole(app, language, page)
    lesson = lessons.view(language, f"{page}.{view}")
    for section in SECTIONS:
        assert not reader.missing(app, getattr(lesson, section)), section
    assert_nothing_of_the_other_language(app, language, f"{page}.{view}")
    switch = "ways" if page == "block" else f"view_{page}"
    assert app.button_group(key=switch).value == view
    if lesson.reveal:
        assert reader.missing(app, lesson.reveal)
        app.session_state["reveal"] = True
        assert_whole(app.run(), language, page)
        assert not reader.missing(app, lesson.reveal)


def assert_nothing_of_the_other_language(app, language, name):
    (other,) = set(lessons.LANGUAGES) - {language}
    lesson, text = lessons.view(other, name), reader.text(app)
    long = [part for part in reader.pieces(lesson.idea + lesson.look) if len(part) > 20]
    assert long and not [part for part in long if part in text]


@pytest.mark.parametrize("page", WITH_VIEWS)
def test_a_switch_leads_to_each_view_and_covers_the_answer(page):
    app = reader.open_page(page)
    app.session_state["reveal"] = True
    for view in (view.split(".")[1] for view in VIEWS if view.startswith(page)):
        app.button_group(key=f"view_{page}").set_value(view).run()
        assert_whole(app, "en", page)
        assert app.query_params["op"] in (view, [view])
        lesson = lessons.view("en", f"{page}.{view}")
        assert not lesson.reveal or reader.missing(app, lesson.reveal)


def chosen_in(page):
    """The values of the session that the code of a page's views sets or reads."""
    files = (reader.ROOT / "pages/views" / page).glob("*.py")
    code = "".join(path.read_text("utf-8") for path in files)
    names = re.findall(r'session\.(?:get|below|typed|chosen)\("(\w+)"', code)
    calls = re.findall(r"(?:session\.put|session\.settle|box|choice)\(([^)]*)\)", code)
    return {*names, *re.findall(r"(\w+)=", "".join(calls))} & {
        *session.NUMBERS,
        *session.TEXTS,
        *session.NAMES,
    }


@pytest.mark.parametrize("page", WITH_VIEWS)
def test_a_link_holds_whatever_is_chosen_in_a_view(page):
    assert chosen_in(page) and chosen_in(page) <= {*journey.PLACES[page]}


def test_each_view_keeps_what_was_typed_in_it():
    app = reader.open_page("embedding", op="neighbours", ask="cat")
    for view, typed in (("arithmetic", "king - man + woman"), ("neighbours", "cat")):
        app.button_group(key="view_embedding").set_value(view).run()
        assert app.session_state["ask"] in (None, typed)
        app.session_state["ask"], app.session_state["moved"] = typed, True
        assert_whole(app.run(), "en", "embedding")
    app.button_group(key="view_embedding").set_value("arithmetic").run()
    assert app.session_state["ask"] == "king - man + woman"
    app.switch_page("tokens.py").run()
    assert app.session_state["ask"] is None
    app.switch_page("embedding.py").run()
    assert app.session_state["ask"] == "king - man + woman"
