"""Links with values that cannot be, and one that leads to a cell.

Knows the link; knows no figure.
"""

import pytest

import lessons
from pages.parts import models
from tests.pages import reader

EACH_PAGE = pytest.mark.parametrize("name", reader.PAGES)
BAD = [
    {"op": "zzz"},
    {"op": "../../x"},
    {"pos": 999},
    {"pos": -1},
    {"pos": "१"},
    {"cell": 99999999},
    {"cell": "1e3"},
    {"layer": -4},
    {"layer": 30},
    {"head": 77},
    {"head": "x"},
    {"lang": "xx"},
    {"mode": "zzz"},
    {"control": "zzz"},
    {"control": 1},
    {"at": 99999999},
    {"key_at": "-3"},
    {"factor": 0},
    {"factor": 999},
    {"ask": "x" * 5000},
    {"ask": "<b>x</b> [[token]]", "system": "$x$", "reply": "\x00", "follow": "*y*"},
    {"op": "attn.weights", "pos": 2, "cell": 4000},
    {"op": "logits", "cell": 49152},
    {"op": "final_norm", "cell": 576, "pos": 99},
    {"layer": 3, "head": 99, "op": "attn.k", "cell": 77, "pos": 4},
    {"walk": "zzz"},
    {"walk": "Short", "together": "true"},
    {"walk": "short", "op": "mlp.up"},
]
TOGETHER = [  # of the other pages: the same code reads them, so several at once
    {"op": "zzz", "pos": 999, "layer": 30, "head": 77, "lang": "xx", "mode": "zzz", "walk": "zzz"},
    {"op": "../../x", "pos": "१", "layer": -4, "head": "x", "key_at": "-3", "cell": "1e3"},
    {"pos": -1, "at": 99999999, "cell": 99999999, "control": 1, "factor": 999, "ask": "x" * 5000},
    {"ask": "<b>x</b> [[token]]", "other": "$x$", "kind": "\x00", "scale": "*y*", "by": "zzz"},
    {"target": 99999999, "against": "-1", "layer_b": 30, "head_b": "x"},
    {"temperature": -1, "top_k": "x", "top_p": 2, "min_p": "nan", "seed": 10**20, "order": "zzz"},
    {"typical_p": 0, "repetition_penalty": 0, "max_new_tokens": "1e9", "presence_penalty": "inf"},
    {"head": 77, "control": "zzz", "factor": 0, "walk": "Short", "together": "true", "layer": 3},
    {"system": "$x$", "reply": "\x00", "follow": "*y*", "op": "attn.weights", "cell": 4000},
]
ONE_BY_ONE = ("block", "output")  # whose ops and places are all kinds there are
# and what their first views compare: maps and a text that is not written yet nothing
INSIDE = {"sampling": "equal", "loop": None, "cache": "equal", "atlas": None, "lens": "equal"}
CASES = [
    (name, link) for name in reader.PAGES[1:] for link in (BAD if name in ONE_BY_ONE else TOGETHER)
]


@pytest.mark.usefixtures("smollm")
@pytest.mark.parametrize("name, link", CASES, ids=str)
def test_a_bad_value_in_the_link_is_replaced_by_a_good_one(name, link):
    app = reader.open_page(name, **link)
    assert not app.exception
    assert not reader.title_missing(app, "en", name)
    assert not reader.notices(app, "error")
    assert reader.verdict(app) == INSIDE.get(name, "equal")


@pytest.mark.usefixtures("smollm")
@pytest.mark.parametrize("name, language", reader.IN_TURN)
def test_another_model_in_the_link_opens_nothing_and_says_so(name, language):
    assert_refused(reader.open_page(name, lang=language, model="../../x"), language, "../../x")


@pytest.mark.usefixtures("smollm")
@pytest.mark.parametrize("model", ["/etc/passwd", "<b>x</b>", "[[shown]]", "**x**", "x" * 999])
def test_no_text_in_the_link_is_a_model(model):
    assert_refused(reader.open_page("tokens", model=model), "en", model)


def assert_refused(app, language, model):
    """The page is shown, with the default model and a sentence about the other one."""
    assert not app.exception
    assert app.session_state["model"] == app.button_group(key="switch").value == models.DEFAULT
    shown = models.title(models.DEFAULT)
    said = lessons.text(language, "sidebar.bad_model", asked=model[:60], shown=shown)
    assert reader.notices(app, "error") == [said]
    assert [meta for meta in reader.canvases(app) if {"tokens", "columns"} & {*meta}]


@pytest.mark.usefixtures("smollm")
def test_a_cell_in_the_link_is_the_cell_explained():
    app = reader.open_page("block", op="attn.weights", layer=23, head=4, pos=4, cell=3)
    title = lessons.text("en", "explain.title")
    panel = reader.plain("".join(reader.html(app)).partition(title)[2])
    assert "(4)" in panel and "␣France (3)" in panel
    assert "0.903" in panel  # as another implementation has it
