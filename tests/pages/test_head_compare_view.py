"""Comparing maps: what the page shows equals the difference of what the run recorded."""

import json

import numpy as np
import pytest

import lessons
from core import RunSpec, run
from core.analyse.exchanged import exchanged
from tests.conftest import SMOLLM
from tests.pages import reader

HERE = "atlas.compare"
PROMPT = "The capital of France is"
NAMES = ("beside_first", "beside_second", "beside_difference")


def open_view(**link):
    app = reader.open_page("atlas", **({"op": "compare", "layer": 23, "head": 4} | link))
    assert not app.exception
    return app


def maps(app):
    """The figures by name: (meta, values)."""
    sent = reader.figures(app)
    found = {meta.get("name"): (meta, arrays.get("values")) for meta, arrays in sent}
    return {name: found[name] for name in NAMES if name in found}


def weights(layer, prompt=PROMPT):
    return run(RunSpec(SMOLLM, prompt=prompt)).read("attn.weights", layer)


def put(app, **values):
    for name, value in (values | {"moved": True}).items():
        app.session_state[name] = value
    return app.run()


def assert_maps(app, first, second):
    """The three maps hold these two and their difference, hidden cells aside."""
    seen = np.tril(np.ones_like(first, bool))
    for name, wanted in zip(NAMES, (first, second, first - second), strict=True):
        _, values = maps(app)[name]
        np.testing.assert_allclose(values[seen], wanted[seen], atol=1e-7)
        assert np.isnan(values[~seen]).all()
    assert reader.verdict(app) == "equal"


def test_two_heads_begin_with_one_that_shares_the_keys(smollm):
    app = open_view()
    layer = weights(23)
    assert_maps(app, layer[4], layer[5])
    row = int(np.argmax(np.abs(layer[4] - layer[5])[4]))
    assert {tuple(meta["selected"]) for meta, _ in maps(app).values()} == {(4, row)}
    assert {meta["limit"] for meta, _ in maps(app).values()} == {1.0}
    shown = reader.text(app)
    gap = 0.5 * np.abs(layer[4].astype(float) - layer[5])[4].sum()
    for value in (layer[4][4, row], layer[5][4, row], gap):
        assert f"{value:.4f}" in shown
    assert lessons.text("en", f"{HERE}.shared", kv_head=1) in shown
    put(app, layer_b=24, head_b=4, key_at=0, scale="largest")
    assert_maps(app, layer[4], weights(24)[4])
    metas = [meta for meta, _ in maps(app).values()]
    assert {tuple(meta["selected"]) for meta in metas} == {(4, 0)}
    limit = np.abs(layer[4] - weights(24)[4]).max()
    assert metas[2]["limit"] == pytest.approx(limit) and metas[0]["limit"] == 1.0
    link = {name: app.query_params[name] for name in ("layer_b", "head_b", "key_at", "scale")}
    assert {name: "".join(value) for name, value in link.items()} == {
        "layer_b": "24",
        "head_b": "4",
        "key_at": "0",
        "scale": "largest",
    }


def test_two_layers_are_the_means_of_their_heads(smollm):
    app = open_view(kind="layers", layer_b=3)
    assert_maps(app, weights(23).mean(0), weights(3).mean(0))
    assert lessons.text("en", f"{HERE}.mean", n_heads=9) in reader.text(app)


@pytest.mark.parametrize("lang", lessons.LANGUAGES)
def test_one_head_on_two_texts_of_equal_length(smollm, lang):
    app = open_view(kind="prompts", lang=lang)
    other = exchanged(smollm, PROMPT)
    assert app.text_area(key="beside_other").value == other
    assert_maps(app, weights(23)[4], weights(23, other)[4])
    meta, _ = maps(app)["beside_difference"]
    assert meta["rows"][3] == "␣France | ␣Spain"
    assert lessons.text(lang, f"{HERE}.equal", n=5, other=1) in reader.text(app)
    app.text_area(key="beside_other").set_value("The capital of the United Kingdom is").run()
    meta, values = maps(app)["beside_difference"]
    first, second = weights(23)[4], weights(23, "The capital of the United Kingdom is")[4]
    pair = first[np.ix_([0, 1, 2, 4], [0, 1, 2, 4])] - second[np.ix_([0, 1, 2, 6], [0, 1, 2, 6])]
    seen = np.tril(np.ones((4, 4), bool))
    np.testing.assert_allclose(values[seen], pair[seen], atol=1e-7)
    assert meta["rows"] == ["The", "␣capital", "␣of", "␣is (4 | 6)"]
    assert reader.verdict(app) == "equal"
    app.session_state["pos"] = 3
    only = lessons.text(lang, f"{HERE}.only_first", token="␣France")
    assert only in reader.notices(app.run())


def test_the_texts_can_be_exchanged(smollm):
    app = open_view(kind="prompts", other="The capital of Italy is")
    app.button(key="beside_exchange").click().run()
    assert app.session_state["text"] == "The capital of Italy is"
    assert app.session_state["other"] == PROMPT
    assert_maps(app, weights(23, "The capital of Italy is")[4], weights(23)[4])


@pytest.mark.parametrize(
    ("other", "code"), [("\x04", "nothing_to_run"), ("1" * 1500, "prompt_too_long")]
)
def test_a_text_that_cannot_be_run_is_said_and_the_page_stays(smollm, other, code):
    app = open_view(kind="prompts", other=other)
    (said,) = reader.notices(app, "error")
    assert said == lessons.error("en", code, n_tokens=1500, limit=1024)
    assert [*maps(app)] == ["beside_first"]
    app.text_area(key="beside_other").set_value("The capital of Italy is").run()
    assert not reader.notices(app, "error") and len(maps(app)) == 3


def test_texts_without_a_common_token_have_no_difference(smollm):
    app = open_view(kind="prompts", other="In Peru, it rains today")
    assert [*maps(app)] == [*NAMES[:2]]
    (said,) = reader.notices(app)
    assert said == lessons.text("en", f"{HERE}.nothing")


@pytest.mark.parametrize("lang", lessons.LANGUAGES)
def test_the_answer_says_what_the_first_token_hid(smollm, lang):
    app = open_view(lang=lang)
    app.session_state["reveal"] = True
    layer = weights(23).astype(float)
    whole, rest = (
        (a * b).sum() / np.sqrt((a * a).sum() * (b * b).sum())
        for a, b in ((layer[4], layer[5]), (layer[4][:, 1:], layer[5][:, 1:]))
    )
    said = lessons.text(lang, f"{HERE}.answer_falls", whole=f"{whole:.4f}", rest=f"{rest:.4f}")
    shown = reader.text(app.run())
    assert said in shown and f"{layer[4][1:, 0].mean():.1%}" in shown


def test_a_single_token_has_nothing_beside_it():
    app = open_view(model="nano", prompt="cat", layer=1, head=0)
    app.session_state["reveal"] = True
    assert not app.run().exception and reader.verdict(app) == "equal"


def test_a_long_text_is_reduced_and_says_so(smollm):
    prompt = "cat dog" + " cat dog" * 99
    app, whole = open_view(prompt=prompt, pos=101, head_b=5), weights(23, prompt)
    meta, values = maps(app)["beside_difference"]
    assert len(whole[4]) == 200 and values.shape == (100, 100)
    part = (whole[4] - whole[5])[100:102, 6:8]
    assert values[50, 3] == part.flat[np.argmax(np.abs(part))]
    assert meta["rows"][50] == "100–101" and meta["exact"] is False
    key = int(np.argmax(np.abs((whole[4] - whole[5])[101])))
    assert meta["selected"] == [50, key // 2]
    assert f"{whole[4][101, key]:.4f}" in reader.text(app)
    assert lessons.text("en", f"{HERE}.reduced", block=2) in reader.text(app)


@pytest.mark.parametrize("other", ["<b>x</b> [[n]] 🙂", "x" * 5000, "\u202e\x00", "\n"])
def test_what_a_link_asks_for_is_shown_as_text_or_put_right(other):
    app = open_view(
        model="nano",
        prompt="The cat",
        kind="prompts",
        other=other,
        scale="?",
        key_at=99,
        layer_b=77,
    )
    assert not any("<b>x" in part for part in reader.html(app))
    assert [app.session_state[name] for name in ("scale", "key_at", "layer_b")] == [None] * 3
    assert json.dumps(reader.canvases(app))
