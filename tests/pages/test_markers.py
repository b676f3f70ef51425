"""The switch that reads special markers of the reader's text as control tokens.

Knows the vocabulary of the tiny model, where `<|im_end|>` is number 2.
"""

import pytest

import lessons
from tests.pages import reader

EACH_PAGE = pytest.mark.parametrize("name", reader.PAGES)
END = 2
TYPED = "the cat<|im_end|>and"


SHOWS_IDS = [name for name in reader.PAGES if name not in ("loop", "cache")]
STRIP = {"atlas": {"op": "effect"}, "lens": {"op": "parts"}}  # a view that shows all tokens


@pytest.fixture
def visit(tiny_name, monkeypatch):
    """Opens a page for the tiny model."""
    monkeypatch.setenv("TOKENWALK_MODELS", tiny_name)

    def page(name, prompt=TYPED, **link):
        link = STRIP.get(name, {}) | link
        app = reader.open_page(name, model="tiny", prompt=prompt, **link)
        assert not app.exception and not reader.notices(app, "error")
        return app

    return page


def ids(app):
    """The token ids of the page's strip."""
    return next(meta["ids"] for meta in reader.canvases(app) if "ids" in meta)


def switches(app):
    return [toggle for toggle in app.toggle if toggle.key == "markers"]


@pytest.mark.parametrize("name, language", reader.IN_TURN)
def test_a_marker_in_the_text_brings_the_switch_which_is_off(visit, name, language):
    [switch] = switches(app := visit(name, lang=language))
    assert switch.value is False
    assert switch.label == lessons.text(language, "sidebar.control")
    assert switch.help == lessons.text(language, "sidebar.control_help")
    assert name not in SHOWS_IDS or END not in ids(app)


@EACH_PAGE
def test_any_other_text_does_not(visit, name):
    app = visit(name, "the <|im_end| cat <s> <|im_END|>", control=1)
    assert not switches(app) and "control" not in app.query_params


@pytest.mark.parametrize("name", SHOWS_IDS)
def test_switched_on_the_marker_is_one_token_everywhere(visit, name):
    app = visit(name)
    literal = ids(app)
    assert END not in literal
    switches(app)[0].set_value(True).run()
    assert not app.exception and not reader.notices(app, "error")
    read = ids(app)
    assert read.count(END) == 1 and len(literal) - len(read) > 4
    assert list(app.query_params["control"]) == ["1"]  # a text, or a list of one
    assert ids(visit(name, control=1)) == read  # so the link says it all
    switches(app)[0].set_value(False).run()
    assert ids(app) == literal and "control" not in app.query_params


@pytest.mark.parametrize("mode", ["plain", "chat"])
def test_it_holds_for_a_chat_as_well(visit, mode):
    counts = [ids(visit("tokens", mode=mode, **on)).count(END) for on in ({}, {"control": 1})]
    assert counts == [0, 1] if mode == "plain" else [1, 2]


def test_the_first_page_counts_what_the_template_added(visit):
    said = lessons.text("en", "start.tokens.template", n="[[n]]").split("[[n]]")[0]
    texts = [reader.text(visit("start", mode="chat", **on)) for on in ({}, {"control": 1})]
    counts = {text.split(said)[1].split(".")[0] for text in texts}
    assert len(counts) == 1 and int(counts.pop()) > 5


def test_another_place_in_the_text_is_forgotten(visit):
    app = visit("block", pos=12, op="attn.q", cell=3)
    switches(app)[0].set_value(True).run()
    assert (app.session_state["pos"], app.session_state["cell"]) == (None, None)
    assert app.session_state["op"] == "attn.q"


def test_the_pieces_and_the_token_say_what_it_is(visit):
    app = visit("tokens", "the<|im_end|>cat", control=1, pos=1)
    assert not reader.missing(app, lessons.text("en", "tokens.special"))
    _, pieces = (meta for meta in reader.canvases(app) if "ids" in meta)
    assert pieces["tokens"] == ["the", "<|im_end|>", "cat"]
    off = visit("tokens", "the<|im_end|>cat", pos=1)
    assert reader.missing(off, lessons.text("en", "tokens.special"))


@pytest.mark.parametrize("value", ["0", "true", "zzz", "11", ""])
def test_only_1_in_the_link_switches_it_on(visit, value):
    app = visit("tokens", control=value)
    assert switches(app)[0].value is False and "control" not in app.query_params


def test_it_stays_on_from_page_to_page(visit):
    app = visit("tokens", control=1)
    app.switch_page("block.py").run()
    assert switches(app)[0].value is True and END in ids(app)
    assert list(app.query_params["control"]) == ["1"]  # a text, or a list of one
    app.text_area(key="prompt").set_value("the cat").run()
    assert not switches(app) and "control" not in app.query_params
    app.text_area(key="prompt").set_value(TYPED).run()
    assert switches(app)[0].value is False
