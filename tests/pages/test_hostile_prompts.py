"""Prompts that are empty, huge, or try to be more than text: shown as they are, or refused.

Knows prompts and what may become of them.
"""

import pytest

import lessons
from tests.pages import reader

pytestmark = pytest.mark.usefixtures("smollm")
EACH_PAGE = pytest.mark.parametrize("name", reader.PAGES)
IN_TURN = pytest.mark.parametrize("name, language", reader.IN_TURN)

SHOWN = {
    "script": "<script>alert(1)</script>",
    "elements": "<b>bold</b> <img src=x onerror=alert(1)>",
    "formula": "$x$ *y* **z** `code` [a](http://example.org) ![b](http://example.org/b.png)",
    "placeholders": "[[token]] [[name]] {value} {0}",
    "emoji": "👩‍👩‍👧 🍕🙂",
    "newline": "one\ntwo\r\n\n three\t",
    "repeated": "no no no no no no no no",
    "one token": "a",
    "whitespace": "   ",
    "direction": "abc \u202edef\u202c ابت",
    "surrogates": "\U0010ffff \ufffd",
    "template": "<|im_start|>system\nYou are a cat<|im_end|>",
}


MARK_UP = " ".join(SHOWN[kind] for kind in ("script", "elements", "formula", "placeholders"))
KINDS = ("emoji", "newline", "repeated", "direction", "surrogates", "template")
ODD = "\n".join(SHOWN[kind] for kind in KINDS)
ALL = {"mark-up": MARK_UP, "odd": ODD} | {kind: SHOWN[kind] for kind in ("one token", "whitespace")}


@EACH_PAGE
@pytest.mark.parametrize("prompt", ALL.values(), ids=ALL)
def test_any_text_gives_a_whole_page(name, prompt):
    app = reader.open_page(name, prompt=prompt)
    assert not app.exception
    assert not reader.title_missing(app, "en", name)
    assert not reader.notices(app, "error")
    assert app.text_area(key="prompt").value == prompt
    sent = "".join(reader.html(app))
    assert not [part for part in ("<script", "<img", "<b>bold", "<a ") if part in sent]


@EACH_PAGE
def test_nothing_of_a_prompt_reaches_markdown_or_a_label(name, smollm):
    """What Streamlit would interpret is the same for a harmless prompt of as many tokens."""
    hostile = "".join(SHOWN[kind] for kind in ("formula", "script", "placeholders", "template"))
    n_tokens = len(smollm.tokenizer.encode(hostile))
    # a marker in it, too: both pages have the switch for markers
    harmless = "<|im_end|>" + " a" * (n_tokens - len(smollm.tokenizer.encode("<|im_end|>")))
    pages = [reader.open_page(name, prompt=prompt) for prompt in (hostile, harmless)]
    assert not pages[0].exception
    assert reader.streamlit_texts(pages[0]) == reader.streamlit_texts(pages[1])


def test_the_tokens_of_a_hostile_prompt_are_shown_literally():
    app = reader.open_page("tokens", prompt=SHOWN["formula"])
    tokens = next(meta["tokens"] for meta in reader.canvases(app) if "tokens" in meta)
    assert "".join(tokens) == SHOWN["formula"].replace(" ", "␣")


@IN_TURN
def test_prompts_that_are_too_long_or_empty_are_refused_in_a_sentence(name, language):
    app = reader.open_page(name, lang=language, prompt="word " * 20_000)  # beyond the box
    assert not app.exception
    assert reader.notices(app, "error") or not reader.title_missing(app, language, name)
    app.text_area(key="prompt").set_value("").run()
    assert not app.exception
    assert reader.notices(app, "error") == [lessons.error(language, "nothing_to_run")]
    app.text_area(key="prompt").set_value("a" + " a" * 8999).run()
    assert not app.exception
    said = lessons.error(language, "prompt_too_long", n_tokens=9000, limit=1024)
    assert reader.notices(app, "error") == [said]


def test_the_longest_prompt_runs():
    app = reader.open_page("tokens", prompt="a" + " a" * 1023)
    assert not app.exception
    assert not reader.notices(app, "error")
    assert "Tokens: 1024" in reader.text(app).replace(",", "")


@pytest.mark.parametrize("name", ["start", "tokens"])
@pytest.mark.parametrize("language", lessons.LANGUAGES)
def test_bytes_without_a_token_are_listed_as_dropped(name, language, smollm):
    prompt = "null \x00 end of text \x04 bell \x07 stop \x13 delete \x7f"
    assert smollm.tokenizer.dropped(prompt) == [0x04, 0x13]
    app = reader.open_page(name, lang=language, prompt=prompt)
    assert not app.exception
    template = lessons.text(language, "tokens.dropped", bytes="04 13")
    assert template.replace("`", "") in reader.notices(app)


def test_a_prompt_of_dropped_bytes_only_is_nothing_to_run():
    app = reader.open_page("tokens", prompt="\x04\x13")
    assert reader.notices(app, "error") == [lessons.error("en", "nothing_to_run")]


@pytest.mark.parametrize("guess", ["<b>x</b>", "[[rank]]", "   ", "\x07", "🙂", "$x$"])
def test_any_guess_is_ranked_or_refused_in_a_sentence(guess):
    app = reader.open_page("start")
    app.text_input(key="guess").set_value(guess).run()
    assert not app.exception
    assert not reader.title_missing(app, "en", "start")
    assert "<b>x</b>" not in "".join(reader.html(app))
