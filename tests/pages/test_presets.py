"""The prompts on offer follow the model: what becomes of a prompt when the model changes, and what
links leave out. What the prompts of Nano show is measured in tests/nano.
"""

import pytest

import lessons
from core import RunSpec, open_model, run
from pages.parts import models
from tests.pages import reader

SMOLLM2 = lessons.presets("smollm2")
NANO = lessons.presets("nano")
OWN = "The cat naps. The dog"


def by_id(presets, id):
    return next(preset for preset in presets if preset.id == id)


def seen(app):
    """The prompt, and the place that the block page opens."""
    assert not app.exception
    at = app.session_state["at_layer"], app.session_state["at_head"]
    return app.text_area(key="prompt").value, *at


def note(preset, language="en"):
    """What is said of a prompt."""
    return lessons.text(language, f"{preset.texts}.note", layer=preset.layer, head=preset.head)


def switch(app, name):
    return app.button_group(key="switch").set_value(name).run()


def place(preset):
    return preset.prompt, preset.layer, preset.head


def test_what_a_link_leaves_out_is_chosen_for_good():
    """Another first prompt, or another place of it, would change the meaning of old links."""
    assert place(SMOLLM2[0]) == ("The capital of France is", 23, 4)
    assert NANO[0].id == "fact" and NANO[0].prompt == "The capital of France is"


def test_each_prompt_has_its_texts_and_a_place_in_its_model():
    config = open_model(models.NANO).config
    for preset in (*SMOLLM2, *NANO):
        for language in lessons.LANGUAGES:
            assert lessons.text(language, f"{preset.texts}.label")
            assert note(preset, language)
    assert all(p.layer < config.n_layers and p.head < config.n_heads for p in NANO)


def test_what_shows_the_same_is_found_by_its_name_or_else_the_first():
    for before, after in ((SMOLLM2, "nano"), (NANO, "smollm2")):
        for preset in before:
            found = lessons.matching(preset, after)
            assert found.of == after
            ids = [other.id for other in lessons.presets(after)]
            assert found.id == (preset.id if preset.id in ids else ids[0])


def test_the_same_word_is_three_tokens_or_one(smollm):
    preset = by_id(SMOLLM2, "spelling")
    trace = run(RunSpec("smollm2-135m-instruct", prompt=preset.prompt))
    assert trace.tokens == ("st", "raw", "berry", "␣and", "␣strawberry")
    assert trace.read("attn.weights", preset.layer)[preset.head, 4, 3] > 0.8


@pytest.mark.usefixtures("smollm")
@pytest.mark.parametrize("id", ["fact", "names", "repeat", "digits", "emoji"])
def test_a_prompt_on_offer_becomes_the_one_that_shows_the_same(id):
    app = reader.open_page("block")
    app.button(key=f"preset_side_{id}").click().run()
    shown = by_id(SMOLLM2, id)
    assert seen(app) == place(shown)
    assert seen(switch(app, models.NANO)) == place(lessons.matching(shown, "nano"))
    assert app.query_params["model"] in (models.NANO, [models.NANO])
    back = by_id(SMOLLM2, "fact" if id == "emoji" else id)
    assert seen(switch(app, models.DEFAULT)) == place(back)
    assert "model" not in app.query_params


@pytest.mark.usefixtures("smollm")
def test_an_own_prompt_stays_and_is_shown_in_a_place_that_the_model_has():
    app = reader.open_page("block", prompt=OWN, pos=1, cell=2)
    assert seen(switch(app, models.NANO)) == (OWN, NANO[0].layer, NANO[0].head)
    assert not {"pos", "cell"} & {*app.query_params}  # its tokens are others
    assert seen(switch(app, models.DEFAULT)) == (OWN, 23, 4)


@pytest.mark.usefixtures("smollm")
def test_a_second_click_on_the_chosen_model_changes_nothing():
    app = switch(reader.open_page("tokens", prompt=OWN), models.NANO)
    assert seen(switch(app, None))[0] == OWN
    assert app.session_state["model"] == app.button_group(key="switch").value == models.NANO


@pytest.mark.usefixtures("smollm")
def test_a_chat_becomes_plain_text_where_there_is_no_template():
    app = reader.open_page("tokens", prompt=OWN, mode="chat")
    switch(app, models.NANO)
    assert not reader.missing(app, lessons.text("en", "sidebar.no_chat"))
    assert not reader.notices(app, "error") and "mode" not in app.query_params
    switch(app, models.DEFAULT)
    assert app.button_group(key="mode").value == "plain" and not reader.notices(app, "error")


def test_a_link_to_nano_is_short_and_comes_back():
    app = reader.open_page("block", model="nano")
    assert seen(app) == place(NANO[0]) and {*app.query_params} == {"model"}
    preset = by_id(NANO, "names")
    app.button(key="preset_side_names").click().run()
    link = {n: v if isinstance(v, str) else v[0] for n, v in app.query_params.items()}
    again = reader.open_page("block", **link)
    assert seen(again) == seen(app) == place(preset)


def test_the_steps_of_its_training_are_offered_its_prompts(monkeypatch, tmp_path):
    step = next(open_model(models.NANO).source.path.glob("step-*.safetensors"))
    monkeypatch.setenv("TOKENWALK_MODELS", str(step))
    app = reader.open_page("start", model=step.stem)
    assert not app.exception and not reader.notices(app, "error")
    app.button(key="preset_main_copy").click().run()
    assert app.text_area(key="prompt").value == by_id(NANO, "copy").prompt
    # what is said of a prompt was measured on Nano, not on a step before it
    assert reader.missing(app, note(by_id(NANO, "copy")))


@pytest.mark.usefixtures("smollm")
def test_another_model_is_offered_the_general_ones_without_what_was_measured(
    monkeypatch, tiny_name
):
    monkeypatch.setenv("TOKENWALK_MODELS", tiny_name)
    app = reader.open_page("start", model="tiny")
    keys = [button.key for button in app.button if (button.key or "").startswith("preset_main_")]
    assert keys == [f"preset_main_{preset.id}" for preset in SMOLLM2]
    assert reader.missing(app, note(SMOLLM2[0]))
