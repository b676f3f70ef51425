"""What heads do: the picture holds what the maps of the run say; it is sorted and explained."""

import re

import numpy as np
import pytest

import lessons
from core import RunSpec, open_model, run
from core.analyse import repeating
from tests.conftest import SMOLLM
from tests.pages import reader

EACH_LANGUAGE = pytest.mark.parametrize("lang", lessons.LANGUAGES)
PROMPT = "When Mary and John went to the store, John gave a drink to"


def open_view(**link):
    app = reader.open_page("atlas", **({"op": "roles", "prompt": PROMPT} | link))
    assert not app.exception and not reader.notices(app, "error")
    return app


def figures(app):
    """The values of each matrix on the page by its name, and what else is said of it."""
    named = [each for each in reader.figures(app) if "name" in each[0]]
    return {meta["name"]: (arrays["values"], meta) for meta, arrays in named}


def listed(app):
    """The heads of the table in its order, as numbers."""
    return [int(n) for n in re.findall(r'data-role="(\d+)"', "".join(reader.html(app)))]


@pytest.fixture(scope="module")
def maps(smollm):
    trace = run(RunSpec(SMOLLM, prompt=PROMPT))
    return np.stack([*trace.each_layer("attn.weights")]).astype(np.float64)


def test_the_picture_is_the_mean_below_the_diagonal(maps):
    app = open_view(lang="zh", layer=16, head=0)
    wanted = np.diagonal(maps, -1, 2, 3).mean(axis=2)
    shown, meta = figures(app)["heads_previous"]
    np.testing.assert_allclose(shown, wanted.T, atol=1e-6)  # [head, layer]
    assert meta["limit"] == 1 and meta["selected"] == [0, 16]
    assert reader.verdict(app) == "equal" and f"{wanted[16, 0]:.1%}" in reader.text(app)
    rows, meta = figures(app)["rows_previous"]
    np.testing.assert_allclose(rows[0, 1:], np.diagonal(maps[16, 0], -1), atol=1e-7)
    assert np.isnan(rows[0, 0]) and meta["limit"] == 1
    order = np.argsort(-wanted.ravel(), kind="stable").tolist()
    assert listed(app) == order
    best = [name for name in figures(app) if name.startswith("map_")]
    assert best == ["map_{}_{}".format(*divmod(n, 9)) for n in order[:3]]


def test_sizes_have_a_scale_of_their_own(maps):
    app = open_view(by="entropy", layer=0, head=0)
    with np.errstate(all="ignore"):
        wanted = np.nansum(-maps * np.log(maps), axis=3).mean(axis=2)
    shown, meta = figures(app)["heads_entropy"]
    np.testing.assert_allclose(shown, wanted.T, atol=1e-5)
    assert meta["limit"] == pytest.approx(wanted.max()) and meta["limit"] > 1
    assert reader.verdict(app) == "equal"


@EACH_LANGUAGE
def test_the_induction_score_is_of_a_text_of_its_own(smollm, lang):
    app = open_view(by="induction", lang=lang, layer=18, head=6)
    found = repeating.repeated(open_model(SMOLLM), SMOLLM)
    shown, _ = figures(app)["heads_induction"]
    np.testing.assert_array_equal(shown, found.scores.T)
    (strip,) = [meta for meta in reader.canvases(app) if "roles" in meta]
    assert tuple(strip["ids"]) == found.trace.ids and reader.verdict(app) == "equal"
    said = lessons.text(lang, "atlas.roles.with_bos", token=found.trace.tokens[0])
    assert said in reader.text(app)
    _, stripe = figures(app)["said_twice_18_6"]
    assert stripe["marks"][0] == [51, 0, 101, 101]
    assert stripe["marks"][1] == [51, 2, 52, 3]  # the first word of the second copy, at the second


def test_the_name_of_a_column_sorts_and_turns_the_order(maps):
    """As the link says it: the listener's own click is tested in a browser."""
    first = maps[:, :, 1:, 0].mean(axis=2).ravel()
    app = open_view(by="first", kind="smallest")
    assert listed(app) == np.argsort(first, kind="stable").tolist()
    app = open_view(by="first", kind="place")
    assert listed(app) == list(range(270))


def test_a_door_leads_to_the_view_of_the_head(maps):
    app = open_view()
    best = int(np.diagonal(maps, -1, 2, 3).mean(axis=2).argmax())
    app.button(key="roles_door_0").click().run()
    assert app.query_params["op"] in ("head", ["head"])
    assert (app.session_state["at_layer"], app.session_state["at_head"]) == divmod(best, 9)


@EACH_LANGUAGE
def test_the_answer_counts_heads(maps, lang):
    app = open_view(lang=lang)
    app.session_state["reveal"] = True
    shown = reader.text(app.run())
    three = [np.diagonal(maps, -1, 2, 3), np.diagonal(maps, 0, 2, 3), maps[:, :, 1:, 0]]
    means = np.stack([each.mean(axis=2) for each in three])
    counts = np.bincount(means.argmax(axis=0).ravel(), minlength=3).tolist()
    values = dict(zip(("n_previous", "n_current", "n_first"), counts, strict=True))
    said = lessons.view(lang, "atlas.roles").reveal.split("\n")[0]
    values["n_none"] = int((means.max(axis=0) <= 0.5).sum())
    assert sum(counts) == 270 and lessons.fill(said, **values) in shown


@pytest.mark.parametrize(
    "prompt, by",
    [("a", "duplicate"), ("🙂\n\n", "distance_rest"), ("the the the", "duplicate")],
)
def test_a_short_text_is_said_to_say_little(prompt, by):
    app = open_view(model="nano", prompt=prompt, by=by, layer=0, head=0)
    n = len(figures(app)[f"heads_{by}"][0])
    assert n == open_model("nano").config.n_heads
    short = lessons.text("en", "atlas.roles.short", n="N").split("N")[1]
    assert any(short in notice for notice in reader.notices(app))
    assert reader.verdict(app) in ("equal", None)
    nowhere = lessons.text("en", "atlas.roles.nowhere_duplicate")
    undefined = not np.isfinite(figures(app)[f"heads_{by}"][0]).any()
    assert (nowhere in reader.notices(app)) == (by == "duplicate" and undefined)


def test_what_a_link_asks_for_is_put_right():
    app = open_view(model="nano", by="nothing", kind="<b>", cell=99999, layer=99, head=99)
    assert app.session_state["by"] is None and app.session_state["kind"] is None
    assert "heads_previous" in figures(app)
