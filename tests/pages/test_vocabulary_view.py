"""The vocabulary: what a search and each list show, in numbers that are counted here again."""

import re

import pytest

import lessons
from core import open_model
from tests.pages import reader
from tests.pages.test_hostile_prompts import SHOWN

pytestmark = pytest.mark.usefixtures("smollm")
EACH_LANGUAGE = pytest.mark.parametrize("language", lessons.LANGUAGES)
LISTS = ("search", "longest", "half", "control", "scripts")


def open_view(**link):
    app = reader.open_page("tokens", op="vocabulary", **link)
    assert not app.exception
    return app


def rows(app, kind="tw-entries"):
    """The rows of the table: what stands in each column."""
    tables = [part for part in reader.html(app) if f'{kind}"' in part]
    found = re.findall("<tr>(.*?)</tr>", "".join(tables))
    return [[*map(reader.plain, re.findall("<td>(.*?)</td>", row))] for row in found[1:]]


def text(language, key, **values):
    return lessons.text(language, f"tokens.vocabulary.{key}", **values).replace("**", "")


def test_a_search_begins_with_the_chosen_token():
    app = open_view(prompt="The capital of France is", pos=3)
    assert app.text_input(key="vocabulary_ask").value == "␣France"
    assert rows(app)[0] == ["4649", "␣France", "20 46 72 61 6E 63 65 (7)", "ordinary"]
    assert "#4649" in reader.text(app) and app.session_state["ask"] is None


@pytest.mark.parametrize(
    "ask, first",
    [
        ("#314", ["314", "␣is", "20 69 73 (3)", "ordinary"]),
        ("0xF09F 9982", ["47526", "␣🙂", "20 F0 9F 99 82 (5)", "ordinary"]),
        ("<|im_end|>", ["2", "<|im_end|>", "3C 7C 69 6D 5F 65 6E 64 7C 3E (10)", "control token"]),
        ("0xE5A4", ["166", "", "", ""]),
    ],
)
def test_ids_bytes_and_text_are_found(ask, first, smollm):
    app = open_view(ask=ask)
    if ask == "0xE5A4":
        id = smollm.tokenizer.tokens.index("å¤")
        first = [str(id), "⟨E5 A4⟩", "E5 A4 (2)", "not whole characters"]
    assert rows(app)[0] == first


@EACH_LANGUAGE
def test_how_many_are_found_and_how_many_shown(language, smollm):
    words = smollm.tokenizer
    n = sum(b"is" in words.token_bytes(id) for id in range(len(words.tokens)))
    app = open_view(ask="is", lang=language)
    assert n > 100 and len(rows(app)) == 100
    assert text(language, "found_text", n=f"{n:,}", vocab="49,152") in reader.text(app)
    assert text(language, "first", n=100) in reader.text(app)


def test_a_text_without_an_entry_is_shown_as_its_tokens():
    app = open_view(ask="天")
    assert not rows(app) and text("en", "becomes", n=2) in reader.text(app)
    assert "⟨E5 A4⟩ ⟨A9⟩" in reader.text(app)


def test_an_id_past_the_end_is_not_found():
    app = open_view(ask="#49152")
    assert not rows(app) and text("en", "found_id", n=0, vocab="49,152") in reader.text(app)


def test_a_new_search_is_kept_in_the_link():
    app = open_view()
    app.text_input(key="vocabulary_ask").set_value(" the").run()
    assert app.session_state["ask"] == " the" and app.query_params["ask"] == " the"
    assert rows(app)[0][1] == "␣the"


def test_an_emptied_search_is_that_of_the_chosen_token_again():
    app = open_view(ask="is", prompt="The capital of France is", pos=3)
    app.text_input(key="vocabulary_ask").set_value("").run()
    assert app.text_input(key="vocabulary_ask").value == "␣France" and rows(app)[0][0] == "4649"


@pytest.mark.parametrize("ask", [*SHOWN.values(), "x" * 5000, "0x" + "F" * 4000], ids=str)
def test_any_search_is_shown_as_text(ask):
    app = open_view(ask=ask)
    assert not reader.notices(app, "error")
    assert app.text_input(key="vocabulary_ask").value == ask[:200]
    sent = "".join(reader.html(app))
    for part in ("<script", "<img", "<b>bold", "<a "):
        assert part not in sent
    assert reader.streamlit_texts(app) == reader.streamlit_texts(open_view(ask="a"))


@EACH_LANGUAGE
@pytest.mark.parametrize("number", range(len(LISTS)))
def test_each_list_is_there_in_each_language(number, language):
    app = open_view(cell=number, lang=language)
    assert app.button_group(key="vocabulary_list").value == LISTS[number]
    assert "[[" not in reader.text(app) and rows(app, "tw-scripts" if number == 4 else "tw-entries")
    assert text(language, "kind_half") + " 313" in reader.text(app)


@pytest.mark.parametrize("cell", [5, 99, 123456789])
def test_a_list_that_there_is_not_is_the_search(cell):
    app = open_view(cell=cell)
    assert app.button_group(key="vocabulary_list").value == "search"
    assert app.session_state["cell"] is None


def test_a_list_is_chosen_by_the_switch():
    app = open_view()
    app.button_group(key="vocabulary_list").set_value("control").run()
    assert app.session_state["cell"] == 3
    assert [row[1] for row in rows(app)][:3] == ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    assert len(rows(app)) == 17


def test_the_longest_entries_come_first(smollm):
    words = smollm.tokenizer
    lengths = [len(words.token_bytes(id)) for id in range(len(words.tokens))]
    shown = [int(re.search(r"\((\d+)\)", row[2])[1]) for row in rows(open_view(cell=1))]
    assert shown == sorted(lengths, reverse=True)[:100]


def test_half_characters_and_their_common_mark():
    app = open_view(cell=2)
    assert text("en", "found_half", n=313, vocab="49,152", n_same=265) in reader.text(app)
    assert all(row[1].count("⟨") for row in rows(app))


def test_scripts_are_counted():
    found = {row[0]: row[1] for row in rows(open_view(cell=4), "tw-scripts")}
    assert found[text("en", "script_han")] == "80" and found[text("en", "script_digits")] == "10"


@EACH_LANGUAGE
@pytest.mark.parametrize("model", ["smollm2-135m-instruct", "nano"])
def test_the_answer_counts_entries_that_begin_with_a_space(language, model):
    words = open_model(model).tokenizer
    data = [words.token_bytes(id) for id in range(len(words.tokens))]
    spaced = [each for each in data if each.startswith(b" ") and each != b" "]
    both = sum(each[1:] in set(data) for each in spaced) if model == "nano" else 8_353
    app = open_view(lang=language, model=model)
    app.session_state["reveal"] = True
    values = {"n_spaced": f"{len(spaced):,}", "n_both": f"{both:,}", "vocab": f"{len(data):,}"}
    values |= {"share": f"{len(spaced) / len(data):.1%}"}
    reveal = lessons.fill(lessons.view(language, "tokens.vocabulary").reveal, **values)
    assert reveal in reader.text(app.run())


def test_nano_has_one_unknown_token_among_its_control_tokens():
    app = open_view(model="nano", cell=3)
    assert [row[3] for row in rows(app)] == ["unknown", "control token", "control token"]
