"""Looking and helping: the page says what core found, mutes in one click, runs texts of the
reader's own, and so does the block page at the steps of attention.
"""

import io

import numpy as np
import pytest

import lessons
from core import RunSpec, run
from core.analyse import archive, muting
from pages.views.atlas import effect
from tests.conftest import SMOLLM
from tests.families import build_gguf
from tests.pages import reader

EACH_LANGUAGE = pytest.mark.parametrize("lang", lessons.LANGUAGES)
NAMES = "When Mary and John went to the store, John gave a drink to"
FRANCE = "The capital of France is"


def open_view(**link):
    app = reader.open_page("atlas", **({"op": "effect"} | link))
    assert not app.exception and not reader.notices(app, "error")
    return app


def press(app, key):
    app.button(key=key).click().run()
    assert not app.exception
    return app


def said(lang, key, /, **values):
    return lessons.text(lang, key, **values).replace("**", "")


@EACH_LANGUAGE
def test_one_click_mutes_and_one_click_takes_it_back(smollm, lang):
    app = open_view(layer=23, head=4, lang=lang)
    assert "90.3%" in reader.text(app) and not app.get("plotly_chart")
    assert reader.verdict(app) == "equal"
    press(app, "mute_head")
    assert "muted" in app.query_params["by"] and len(app.get("plotly_chart")) == 1
    values = {"first": "␣Paris", "before": "77.3%", "after": "14.1%", "divergence": "1.2010"}
    assert said(lang, "block.mute.kept", **values) in reader.text(app)
    assert reader.verdict(app) == "equal"
    press(app, "mute_head")
    assert "by" not in app.query_params and "14.1%" not in reader.text(app)


def test_direct_and_total_effect_stand_beside_each_other(smollm):
    app = open_view(layer=24, head=4, prompt=NAMES, by="muted")
    shown = reader.text(app)
    for number in ("81.0%", "92.3% → 97.8%", "−1.3100", "269 of 270", "−1.1528"):
        assert number in shown
    assert said("en", "atlas.effect.same_way") in shown
    mary = {"key": "␣Mary", "weight": "81.0%", "target": "␣Mary", "written": "−1.3100"}
    mary |= {"before": "92.3%", "after": "97.8%"}
    assert said("en", "atlas.effect.short_against_rises", **mary) in shown
    john = smollm.tokenizer.encode(" John")[0]
    app.session_state["target"], app.session_state["moved"] = john, True
    shown = reader.text(app.run())
    trace = run(RunSpec(SMOLLM, prompt=NAMES))
    found, direct = muting.effect(trace, 24, 4), muting.written(trace, 24, 4, -1, john).total
    assert f"{direct:.4f}".replace("-", "−") in shown
    assert f"{found.total(john):.4f}".replace("-", "−") in shown
    sentence = "opposite" if direct * found.total(john) < 0 else "same_way"
    assert said("en", f"atlas.effect.{sentence}", target="␣John") in shown
    assert reader.verdict(app) == "equal"


def test_the_answer_is_of_this_run(smollm):
    app = open_view(layer=24, head=4, prompt=NAMES)
    app.session_state["reveal"] = True
    shown = reader.text(app.run())
    assert said("en", "atlas.effect.rises") + ": ␣Mary goes from 92.3% to 97.8%." in shown
    assert "place 269 of 270" in shown


@EACH_LANGUAGE
def test_a_head_over_several_texts(smollm, lang):
    ask = f"{FRANCE}\n\n<b>The</b> cat\n{NAMES}\n" + "cat " * 80
    app = open_view(layer=24, head=4, kind="several", ask=ask, lang=lang)
    lines = [FRANCE, "<b>The</b> cat", NAMES]
    each = [muting.sample(run(RunSpec(SMOLLM, prompt=line)), 24, 4) for line in lines]
    counts = {name: sum(s.raised == n for s in each) for name, n in (("lower", -1), ("higher", 1))}
    counts |= {"n": 3, "changed": sum(s.changed for s in each)}
    counts["helps"] = sum(s.direct > 0 for s in each)
    assert counts["changed"] == 0 < counts["higher"] and 0 < counts["helps"] < 3
    shown = reader.text(app)
    for key in ("counts", "changed_none", "helps"):
        assert said(lang, f"atlas.effect.{key}", **counts).strip() in shown
    assert said(lang, "atlas.effect.left_out", n=1, most=8, longest=64) in shown
    assert "92.3% → 97.8%" in shown and "<b>The</b> cat" in shown
    looks = [lessons.view(lang, "atlas.effect", tags).look for tags in ({"several"}, ())]
    assert [look in shown for look in looks] == [True, False]
    assert not any("<b>The" in part for part in reader.html(app))
    assert not app.get("plotly_chart")


def test_texts_to_begin_with_are_of_the_models_own_world(smollm):
    for model in (SMOLLM, "nano"):
        app = open_view(model=model, kind="several", layer=1, head=0)
        of = "nano" if model == "nano" else "smollm2"
        lines = lessons.text("en", f"atlas.effect.example_{of}").strip().split("\n")
        assert app.text_area(key="effect_ask").value.split("\n") == lines
        assert sum("data-sample=" in part for part in reader.html(app)) == 1
        assert "".join(reader.html(app)).count("data-sample=") == len([*filter(None, lines)])


def test_the_readers_own_text_stands_first(smollm):
    app = open_view(model="nano", kind="several", layer=1, head=0, prompt="My own hat is")
    assert app.text_area(key="effect_ask").value.startswith("My own hat is\nThe capital of France")
    two = open_view(model="nano", kind="several", layer=1, head=0, prompt="Two\nlines")
    assert two.text_area(key="effect_ask").value.startswith("The capital of France")


def test_a_text_beyond_the_models_context_has_a_sentence_and_the_others_their_rows(
    tmp_path, monkeypatch
):
    changes = {"max_position_embeddings": 24}
    path = build_gguf(tmp_path / "short.gguf", "llama", **changes)
    monkeypatch.setenv("TOKENWALK_MODELS", path)
    link = {"model": "short", "prompt": "the cat", "kind": "several", "layer": 0, "head": 0}
    app = open_view(**link, ask="the cat\n" + "cat " * 12)
    (notice,) = reader.notices(app)
    assert "24" in notice and "cat cat" in notice
    assert "".join(reader.html(app)).count("data-sample=") == 1


def test_doors_lead_to_views_that_say_more_about_the_head(smollm):
    app = press(open_view(layer=24, head=4), "to_atlas_compare")
    assert app.session_state["op"] == "compare" and app.session_state["at_head"] == 4


@pytest.mark.parametrize(
    "link",
    [
        {"prompt": "A"},
        {"prompt": "cat\n🙂 cat\n\n", "pos": 2},
        {"prompt": "Hi", "mode": "chat"},
        {"target": 999_999_999},
        {"prompt": "Hi", "mode": "chat", "kind": "several", "ask": "Hi\nBye"},
        {"kind": "several", "ask": "  \n "},
        {"by": "x", "kind": "y"},
    ],
)
def test_whatever_is_asked_for_is_shown_or_put_right(link):
    app = open_view(**({"model": "nano", "by": "muted", "layer": 0, "head": 1} | link))
    several = link.get("kind") == "several"
    assert reader.verdict(app) == (None if several else "equal")
    assert app.session_state["kind"] in (None, "several")
    assert "[[" not in reader.text(app)


def test_all_numbers_can_be_taken_along(tiny_name):
    trace = run(RunSpec(tiny_name, prompt="the cat and the cat"))
    found = muting.written(trace, 1, 2, 3, 7)
    arrays = effect._data(trace, 3, (1, 2), 7, found)
    with np.load(io.BytesIO(archive.npz(trace, arrays))) as file:
        np.testing.assert_array_equal(file["probs"], trace.probs(3))
        muted = muting.muted(trace, 1, 2)
        np.testing.assert_array_equal(file["probs_muted"], muted.probs(3))
        assert file["key_parts"].sum() == pytest.approx(found.total)
        assert file["target"] == 7 and file["key_weights"].shape == (4,)


# ---- on the block page ---------------------------------------------------------------------------


@EACH_LANGUAGE
def test_the_block_page_mutes_where_a_head_is_at_work(smollm, lang):
    app = reader.open_page("block", op="attn.weights", layer=23, head=4, lang=lang)
    press(app, "mute_head")
    assert "77.3% → 14.1%" in reader.text(app) and "muted" in app.query_params["by"]
    for op, there in (("attn.scores", False), ("attn.mix", True), ("attn.out", True)):
        app.session_state["op"], app.session_state["cell"] = op, None
        app.session_state["moved"] = True
        app.run()
        assert ("77.3% → 14.1%" in reader.text(app)) == there
        assert reader.verdict(app) == "equal" and not app.exception
    press(app, "mute_more")
    assert "effect" in app.query_params["op"] and "77.3% → 14.1%" in reader.text(app)
    assert app.session_state["at_layer"] == 23 and "muted" in app.query_params["by"]


@pytest.mark.parametrize("family", ["gemma2", "gpt2", "gpt_neox", "olmo2"])
def test_other_families_are_muted_too(tmp_path, monkeypatch, family):
    """Norms behind attention and caps, biases, attention and MLP side by side, norms behind all."""
    path = build_gguf(tmp_path / f"{family}.gguf", family)
    monkeypatch.setenv("TOKENWALK_MODELS", path)
    link = {"model": family, "prompt": "the cat and the cat", "layer": 1, "head": 3}
    app = open_view(**link, by="muted")
    assert reader.verdict(app) == "equal" and len(app.get("plotly_chart")) == 1
    assert not reader.missing(app, lessons.loader._table("en", "ui")["block.mute.cost"])
    trace = run(RunSpec(path, prompt=link["prompt"]))
    total = muting.effect(trace, 1, 3).total(int(trace.probs().argmax()))
    assert f"{total:.4f}".replace("-", "−") in reader.text(app)
