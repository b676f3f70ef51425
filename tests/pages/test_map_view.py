"""The map: groups, the text's tokens, a list of the reader's own; what it leaves out is said."""

import json

import numpy as np
import pytest

import lessons
from core.analyse.near import word
from tests.pages import reader
from tests.pages.test_neighbours_view import number_list

EACH_LANGUAGE = pytest.mark.parametrize("lang", lessons.LANGUAGES)
EACH_MODEL = pytest.mark.parametrize("model", ["smollm2-135m-instruct", "nano"])
ME = "embedding.map"


def open_view(**link):
    app = reader.open_page("embedding", op="map", **link)
    assert not app.exception and not reader.notices(app, "error")
    return app


def points(app):
    """The scatter's data; None where there is none."""
    charts = app.get("plotly_chart")
    return json.loads(charts[0].proto.spec) if charts else None


def names(app):
    return points(app)["data"][0]["customdata"]


def test_the_map_is_that_of_the_covariance(smollm):
    app = open_view(at=1)
    tokens = lessons.text("en", f"{ME}.smollm2.example_2").split()
    rows = smollm.weights.embed[[word(smollm.tokenizer, w).id for w in tokens]].astype(np.float64)
    centred = rows - rows.mean(axis=0)
    values, vectors = np.linalg.eigh(centred.T @ centred)
    drawn = points(app)["data"][0]
    for axis, number in (("x", -1), ("y", -2)):
        along = centred @ vectors[:, number]
        shown = np.array(number_list(drawn[axis]))
        assert min(abs(shown - along).max(), abs(shown + along).max()) < 1e-9
        share = f"{values[number] / values.sum():.1%}"
        assert share in points(app)["layout"][f"{axis}axis"]["title"]["text"]
    left = 1 - values[-2:].sum() / values.sum()
    assert f"{left:.1%}" in reader.text(app)
    assert reader.verdict(app) == "equal" and 'data-verdict="unequal"' not in str(reader.html(app))


@EACH_MODEL
@EACH_LANGUAGE
def test_every_group_has_a_row_for_each_of_its_words(smollm, model, lang):
    for group in range(5):
        app = open_view(model=model, lang=lang, at=group)
        of = "nano" if model == "nano" else "smollm2"
        listed = lessons.text(lang, f"{ME}.{of}.example_{group + 1}").split()
        assert [name.strip("␣") for name in names(app)] == listed
        assert lessons.text(lang, f"{ME}.lacking") not in reader.text(app)


@EACH_LANGUAGE
def test_the_two_nearest_pairs_are_named_where_they_differ(smollm, lang):
    app = open_view(lang=lang)  # countries and capitals
    table = next(part for part in reader.html(app) if "China" in part and "<table" in part)
    assert all(name in table for name in ("China", "Russia", "Tokyo", "Moscow"))
    rows = [smollm.weights.embed[word(smollm.tokenizer, w).id] for w in ("China", "Russia")]
    assert f"{np.linalg.norm(rows[0] - rows[1]):.4f}" in table
    assert lessons.text(lang, f"{ME}.differ") in reader.text(app)


def test_the_tokens_of_the_text_are_drawn_once_each():
    app = open_view(model="nano", at=5, prompt="The cat and the cat and the dog")
    assert names(app) == ["&lt;s&gt;", "␣The", "␣cat", "␣and", "␣the", "␣dog"]


@EACH_LANGUAGE
def test_fewer_than_three_tokens_make_no_map(lang):
    app = open_view(model="nano", at=5, prompt="cat cat", lang=lang)
    assert points(app) is None  # <s> and cat
    (notice,) = reader.notices(app)
    assert "2" in notice and "3" in notice
    app.session_state["reveal"] = True
    assert not app.run().exception


@EACH_LANGUAGE
def test_a_list_of_the_readers_own(lang):
    app = open_view(model="nano", ask="cat, dog、hen，xyzzy pig <b>", lang=lang)
    assert names(app) == ["␣cat", "␣dog", "␣hen", "␣pig"]
    shown = reader.text(app)
    assert lessons.text(lang, f"{ME}.lacking") in shown and "xyzzy" in shown and "<b>" in shown
    assert not any("<b> " in part or "<b></" in part for part in reader.html(app))


def test_at_most_sixty_are_drawn_and_it_is_said(smollm):
    letters = [a + b for a in "abcdefghijkl" for b in "abcdefghijkl"]
    known = [text for text in letters if word(smollm.tokenizer, text).id is not None]
    assert len(known) > 60
    app = open_view(ask=" ".join(known))
    assert len(names(app)) == 60
    assert f"{len(known)}" in reader.text(app)


@pytest.mark.parametrize("group", [0, 4])
def test_a_group_is_chosen_and_takes_the_place_of_a_list(group):
    app = open_view(model="nano", ask="cat dog hen")
    app.button_group(key="map_group").set_value(group).run()
    assert app.session_state["ask"] is None and app.session_state["at"] == group
    first = lessons.text("en", f"{ME}.nano.example_{group + 1}").split()[0]
    assert names(app)[0].strip("␣") == first


@pytest.mark.parametrize(
    "link", [{"at": 6}, {"at": 999_999_999}, {"cell": 999_999_999}, {"ask": "cat " * 4000}]
)
def test_what_a_link_asks_for_is_put_right(link):
    app = open_view(model="nano", **link)
    assert app.session_state["at"] is None and app.session_state["cell"] is None
    assert len(app.session_state["ask"] or "") <= 600


@EACH_LANGUAGE
def test_the_answer_counts_the_neighbours_that_the_map_keeps(smollm, lang):
    app = open_view(lang=lang)
    app.session_state["reveal"] = True
    shown = reader.text(app.run())
    drawn = points(app)["data"][0]
    flat = np.stack([number_list(drawn["x"]), number_list(drawn["y"])], axis=1)
    tokens = [name.strip("␣") for name in drawn["customdata"]]
    rows = smollm.weights.embed[[word(smollm.tokenizer, w).id for w in tokens]].astype(np.float64)

    def nearest(where):
        apart = np.linalg.norm(where[:, None] - where[None], axis=2)
        np.fill_diagonal(apart, np.inf)
        return apart.argmin(axis=1)

    kept = int((nearest(flat) == nearest(rows)).sum())
    begin = {"en": f"For {kept} of {len(rows)}", "zh": f"有 {kept} 个（共 {len(rows)} 个）"}
    assert 0 < kept < len(rows) and begin[lang] in shown
