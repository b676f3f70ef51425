"""All heads: which maps the field holds, in which order, and what is said of the first token."""

import numpy as np
import pytest

import lessons
from core import RunSpec
from core.analyse import attribution, heads, repeating
from tests.conftest import SMOLLM
from tests.pages import reader

FRANCE = "The capital of France is"
TWICE = "When Mary and John went to the store, John gave a drink to"
EACH_LANGUAGE = pytest.mark.parametrize("lang", lessons.LANGUAGES)


def open_view(**link):
    app = reader.open_page("atlas", **link)
    assert not app.exception and not reader.notices(app, "error")
    return app


def field(app):
    return next(meta for meta in reader.canvases(app) if "grid" in meta)


def summary(prompt, model=SMOLLM):
    return heads.attention(heads.run_summing(RunSpec(model, prompt=prompt)))


@EACH_LANGUAGE
def test_the_page_says_how_many_heads_park_on_the_first_token(smollm, lang):
    app = open_view(lang=lang)
    meta, seen, shown = field(app), summary(FRANCE), reader.text(app)
    assert meta["grid"] and not meta["first"] and meta["root"] and meta["limit"] == 1
    assert meta["shape"] == [30, 9] and meta["framed"] == [23, 4] and meta["opens"]
    assert int((seen.last[:, :, 0] > 0.5).sum()) == 198
    values = {"n": 198, "n_heads": 270, "last": "␣is", "first": "The", "share": "67.3%"}
    said = lessons.text(lang, "atlas.every.sink.count", **values)
    assert said.replace("**", "") in shown
    app.session_state["reveal"] = True
    shown = reader.text(app.run())
    beyond = int((seen.last[:, :, 1:].max(axis=2) > 0.5).sum())
    answers = {"en": f"In {beyond} of 270. In 198 heads", "zh": f"270 个头里有 {beyond} 个。"}
    assert answers[lang] in shown and str(270 - 198 - beyond) in shown
    layer, head, _ = heads.hardest(seen.last)
    assert lessons.text(lang, "atlas.every.to_one", layer=layer, head=head) in shown


def test_sorted_maps_are_the_highest_first_and_the_switch_shows_others(smollm):
    app, seen = open_view(by="previous", prompt=TWICE), summary(TWICE)
    meta, scores = field(app), seen.scores["previous"]
    layer, head = np.unravel_index(np.argmax(scores), scores.shape)
    assert not meta["grid"] and len(meta["names"]) == 24
    assert meta["names"][0] == f"{layer}·{head}  {scores.max():.2f}"
    assert [float(name.split()[1]) for name in meta["names"]] == sorted(
        (round(float(each), 2) for each in np.sort(scores.ravel())[-24:]), reverse=True
    )
    app.button_group(key="atlas_kind").set_value("low").run()
    layer, head = np.unravel_index(np.argmin(scores), scores.shape)
    assert field(app)["names"][0].startswith(f"{layer}·{head} ")
    app.button_group(key="atlas_kind").set_value("limit").run()
    app.number_input(key="atlas_limit").set_value(0.7).run()
    assert len(field(app)["names"]) == (scores >= 0.7).sum() > 0
    assert app.query_params["ask"] in ("0.7", ["0.7"])
    app.number_input(key="atlas_limit").set_value(1.5).run()
    none = lessons.text("en", "atlas.every.none")
    assert none in reader.notices(app) and not [m for m in reader.canvases(app) if "grid" in m]
    app.selectbox(key="atlas_by").set_value("model").run()
    assert field(app)["grid"] and "by" not in app.query_params


def test_heads_sorted_by_what_is_about_the_chosen_token(smollm):
    """The head that carries the fact is found by how hard it looks, and what it writes is told."""
    app, seen = open_view(by="hardest"), summary(FRANCE)
    assert field(app)["names"][2] == f"23·4  {seen.peaks[23, 4, 4]:.2f}"
    assert "that ␣is (4) gives to a single token" in reader.text(app)
    app.selectbox(key="atlas_by").set_value("written").run()
    trace = heads.run_summing(RunSpec(SMOLLM, prompt=FRANCE))
    paris = int(np.argmax(trace.logits(4)))
    found = attribution.attribution(trace, paris, None, 4).heads
    values = [float(name.split()[1].replace("−", "-")) for name in field(app)["names"]]
    assert values == np.round(np.sort(found.ravel())[::-1][:24], 2).tolist()
    assert app.selectbox(key="target_list").value == paris
    app.selectbox(key="atlas_by").set_value("induction").run()
    own = repeating.repeated(trace.model, SMOLLM).scores
    assert field(app)["names"][0].endswith(f"{own.max():.2f}")
    assert lessons.text("en", "atlas.every.about_induction") in reader.text(app)
    app.session_state["by"], app.session_state["pos"] = "hardest", 0
    app.session_state["moved"] = True
    app.run()
    assert lessons.text("en", "atlas.every.undefined_first") in reader.notices(app)
    app.button(key="every_to_effect").click().run()  # muted there
    assert app.session_state["op"] == "effect" and app.session_state["by"] == "muted"


def test_a_number_that_no_head_has_is_no_order(smollm):
    """No token of this text occurs twice."""
    app = open_view(by="duplicate", ask="nonsense", scale="whole")
    assert lessons.text("en", "atlas.every.undefined") in reader.notices(app)
    app.button(key="atlas_open").click().run()
    assert app.query_params["op"] in ("head", ["head"])


@pytest.mark.parametrize(("model", "lang"), [(SMOLLM, "en"), ("nano", "zh")])
def test_a_single_token_has_nothing_beside_the_first(smollm, model, lang):
    app = open_view(prompt="Hi", model=model, lang=lang)
    n_heads = {SMOLLM: 270}.get(model)
    app.session_state["reveal"] = True
    shown = reader.text(app.run())
    if len(summary("Hi", model).last[0, 0]) == 1:
        token = field(app)["tokens"][0]
        assert lessons.text(lang, "atlas.every.sink.alone", first=token) in reader.notices(app)
        assert not n_heads or f"{n_heads}" in shown
        app.selectbox(key="atlas_by").set_value("previous").run()  # nothing stands before it
        assert lessons.text(lang, "atlas.every.undefined") in reader.notices(app)
    assert not app.exception


def test_a_longer_text_says_how_it_is_reduced(smollm):
    app = open_view(prompt="red cat " * 50, model="nano", scale="even")
    meta = field(app)
    n = len(meta["tokens"])
    assert n > 64 and meta["block"] == -(-n // 48) and meta["first"]  # a block holds other tokens
    assert f"{meta['block']} × {meta['block']}" in reader.text(app)
    assert meta["cells"] == -(-n // meta["block"])
