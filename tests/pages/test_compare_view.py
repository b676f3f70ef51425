"""Texts side by side: the numbers on the page are those of the model, whatever the texts are."""

import re

import pytest

import lessons
from core import open_model
from pages.parts.session import LONGEST_LINKED
from tests.pages import reader
from tests.pages.test_hostile_prompts import SHOWN

pytestmark = pytest.mark.usefixtures("smollm")
EACH_LANGUAGE = pytest.mark.parametrize("language", lessons.LANGUAGES)


def open_view(**link):
    app = reader.open_page("tokens", op="compare", **link)
    assert not app.exception
    return app


def rows(app):
    """The rows of both tables: {name: [what stands in each column]}."""
    tables = [part for part in reader.html(app) if 'tw-table tw-beside"' in part]
    assert len(tables) == 2
    found = {}
    for row in re.findall("<tr>(.*?)</tr>", "".join(tables)):
        name, *cells = map(reader.plain, re.findall("<t[dh]>(.*?)</t[dh]>", row))
        found[name] = cells
    return found


def boxes(app):
    """The tokens of each text."""
    drawn = [part for part in reader.html(app) if 'class="tw-scroll tw-boxes"' in part]
    found = [re.findall('<bdi class="tw-box[^>]*>(.*?)</bdi>', part) for part in drawn]
    return [[reader.plain(box) for box in each] for each in found]


@EACH_LANGUAGE
def test_the_examples_stand_side_by_side_with_what_they_cost(language):
    app = open_view(lang=language)
    found, text = rows(app), lambda key: lessons.text(language, f"tokens.compare.{key}")
    assert found[""] == [text(name) for name in ("english", "chinese", "code")]
    assert found[text("characters")][:2] == ["25", "6"]
    assert found[lessons.text(language, "tokens.compare.bytes", coding="UTF-8")][:2] == ["25", "18"]
    assert found[text("tokens")][:2] == ["5", "13"]
    assert found[text("tokens_per_character")][:2] == ["0.20", "2.17"]
    assert found[text("bytes_per_token")][:2] == ["5.00", "1.38"]
    assert found[text("context")][:2] == ["0.06%", "0.16%"]
    assert found[text("cache")][:2] == [f"{5 * 46_080:,}", f"{13 * 46_080:,}"]
    assert found[text("cells")][:2] == ["15", "91"]
    products = 13 * 106_168_320 + 30 * 9 * 91 * 2 * 64 + 49_152 * 576
    assert found[text("products")][1] == f"{products:,}"


def test_the_boxes_are_the_tokens():
    english, chinese, _ = boxes(open_view())
    assert english == ["The", "␣weather", "␣is", "␣nice", "␣today"]
    assert len(chinese) == 13 and chinese[:2] == ["⟨E4 BB⟩", "⟨8A⟩"]


@EACH_LANGUAGE
def test_a_sentence_says_what_chinese_costs_and_why(language):
    said = reader.text(open_view(lang=language))
    for key, values in (("ratio", {"ratio": "2.60"}), ("n_han", {"n": 80, "vocab": "49,152"})):
        sentence = lessons.text(language, f"tokens.compare.{key}", **values)
        assert sentence.replace("**", "") in said


@EACH_LANGUAGE
def test_the_answer_says_how_often_each_text_fits_into_the_context(language):
    app = open_view(lang=language)
    app.session_state["reveal"] = True
    said = reader.text(app.run())
    for name, n in (("english", "1,638"), ("chinese", "630")):  # of 8,192, with 5 and 13 tokens
        assert f"{lessons.text(language, f'tokens.compare.{name}')}: {n}" in said
    assert not reader.missing(app, lessons.view(language, "tokens.compare").reveal)


def test_the_formula_of_the_cache_is_held_to_the_run():
    app = open_view(prompt="The capital of France is")
    assert reader.verdict(app) == "equal"
    (check,) = [part for part in reader.html(app) if "data-verdict" in part]
    assert check.count("230,400") == 2


def test_two_texts_of_the_readers_own():
    app = open_view(prompt="no no", ask="天")
    assert boxes(app) == [["no", "␣no"], ["⟨E5 A4⟩", "⟨A9⟩"]]
    assert rows(app)["tokens per character"] == ["0.40", "2.00"]
    said = lessons.text("en", "tokens.compare.own_ratio", ratio="5.00").replace("**", "")
    assert said in reader.text(app)
    app.text_area(key="compare_ask").set_value("a").run()
    assert boxes(app)[1] == ["a"] and app.session_state["ask"] == "a"


def test_what_was_typed_is_kept_while_the_examples_are_shown():
    app = open_view()
    app.button_group(key="compare_which").set_value("own").run()
    assert app.text_area(key="compare_ask").value == lessons.text(
        "en", "tokens.compare.example_second"
    )
    app.text_area(key="compare_ask").set_value("mine").run()
    app.button_group(key="compare_which").set_value("examples").run()
    assert len(boxes(app)) == 3 and app.session_state["ask"] is None
    app.button_group(key="compare_which").set_value("own").run()
    assert app.text_area(key="compare_ask").value == "mine"


def test_where_the_second_text_is_emptied_the_examples_come_back():
    app = open_view(ask="a")
    app.text_area(key="compare_ask").set_value("").run()
    assert not app.exception and len(boxes(app)) == 3 and app.session_state["ask"] is None
    assert app.button_group(key="compare_which").value == "examples"


def test_a_long_second_text_of_a_link_is_cut_and_shown_in_part():
    app = open_view(ask="é " * LONGEST_LINKED)
    assert rows(app)["characters"][1] == f"{LONGEST_LINKED:,}"
    assert len(boxes(app)[1]) == 200
    n_tokens = int(rows(app)["tokens"][1].replace(",", ""))
    more = lessons.text("en", "tokens.compare.more", n=f"{n_tokens - 200:,}")
    assert n_tokens > 200 and more in reader.text(app)


def test_a_text_without_any_token_has_no_bytes_per_token():
    app = open_view(ask="\x04")
    assert rows(app)["bytes per token"][1] == "–" and rows(app)["tokens"][1] == "0"
    said = lessons.text("en", "tokens.compare.own_ratio", ratio="0.00").replace("**", "")
    assert said in reader.text(app)


@pytest.mark.parametrize("ask", SHOWN.values(), ids=SHOWN)
def test_any_second_text_is_shown_as_text(ask):
    app = open_view(ask=ask, prompt="<i>first</i>")
    assert len(boxes(app)) == 2 and not reader.notices(app, "error")
    sent = "".join(reader.html(app))
    for part in ("<script", "<img", "<b>bold", "<a ", "<i>first"):
        assert part not in sent


def test_nothing_of_a_second_text_reaches_markdown_or_a_label():
    hostile = "".join(SHOWN[kind] for kind in ("formula", "script", "placeholders"))
    texts = [reader.streamlit_texts(open_view(ask=ask)) for ask in (hostile, "a")]
    assert texts[0] == texts[1]


def test_bytes_that_are_lost_are_named():
    notices = reader.notices(open_view(ask="a\x04b"))
    name = lessons.text("en", "tokens.compare.second")
    said = lessons.text("en", "tokens.compare.not_back", name=name, back="ab")
    assert notices == [said]


@EACH_LANGUAGE
def test_nano_says_that_it_does_not_know_chinese(language):
    app = open_view(lang=language, model="nano", prompt="Tom gave Sam a ball")
    values = {"name": lessons.text(language, "tokens.compare.chinese"), "unknown": "<unk>"}
    said = lessons.text(language, "tokens.compare.unknown", n=6, n_tokens=7, **values)
    assert said in reader.notices(app)
    ratio = lessons.text(language, "tokens.compare.ratio", ratio="0.50").replace("**", "")
    assert ratio not in reader.text(app)
    bos = lessons.text(language, "tokens.compare.bos", bos="<s>")
    assert bos in reader.text(app)
    assert open_model("nano").tokenizer.add_bos
